import { describe, expect, test } from 'vitest';
import { SimulatedClock } from '../../simulator/clock.ts';
import { NodeClock } from '../../simulator/node-clock.ts';
import { describeClock } from '../contracts/describe-clock.ts';

for (const skewMs of [0, 5_000]) {
  describeClock(`the clock of a simulated node that is ${skewMs} ms off`, () => {
    const below = new SimulatedClock();
    return {
      clock: new NodeClock(below, skewMs),
      pass: async (durationMs) => below.advanceBy(durationMs),
      until: async (isTrue) => {
        while (!isTrue()) {
          if (!below.step()) throw new Error('Nothing is left that could make it true.');
        }
      },
      close: () => {},
    };
  });
}

describe('the clock of a simulated node', () => {
  function begin(skewMs = 0) {
    const below = new SimulatedClock();
    const startedAt = below.now();
    const clock = new NodeClock(below, skewMs);
    const ran: Array<readonly [string, number]> = [];
    const schedule = (name: string, inMs: number) =>
      clock.schedule(clock.now() + inMs, () => ran.push([name, below.now() - startedAt]));
    return { below, clock, ran, schedule, startedAt };
  }

  test('is ahead or behind, and as fast', () => {
    for (const skewMs of [2_000, -2_000]) {
      const { below, clock, ran, schedule, startedAt } = begin(skewMs);
      expect(clock.now()).toBe(startedAt + skewMs);
      schedule('a', 100);
      below.advanceBy(150);
      expect(clock.now()).toBe(startedAt + skewMs + 150);
      expect(ran).toEqual([['a', 100]]);
    }
  });

  test('runs what came due in a pause after it, in order', () => {
    const { below, clock, ran, schedule } = begin();
    schedule('before', 5);
    schedule('third', 60);
    schedule('second', 40);
    schedule('later', 300);
    below.advanceBy(10);
    clock.pause(100);
    clock.defer(() => ran.push(['deferred', 0]));
    clock.pause(20);
    below.advanceBy(500);
    expect(ran).toEqual([
      ['before', 5],
      ['deferred', 0],
      ['second', 110],
      ['third', 110],
      ['later', 300],
    ]);
  });

  test('can take back what came due in a pause', () => {
    const { below, clock, ran, schedule } = begin();
    const cancel = schedule('cancelled', 10);
    clock.pause(50);
    below.advanceBy(20);
    cancel();
    below.advanceBy(100);
    expect(ran).toEqual([]);
  });

  test('runs nothing after its end', () => {
    const { below, clock, ran, schedule } = begin();
    schedule('never', 10);
    clock.end();
    schedule('never', 5);
    below.advanceBy(100);
    expect(ran).toEqual([]);
  });
});
