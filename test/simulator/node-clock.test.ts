import { describe, expect, test } from 'vitest';
import { SimulatedClock } from '../../simulator/world/clock.ts';
import { NodeClock } from '../../simulator/world/node-clock.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import { describeClock } from '../contracts/describe-clock.ts';

for (const { skewMs, driftPpm, isDrawn } of [
  { skewMs: 0, driftPpm: 0, isDrawn: false },
  { skewMs: 5_000, driftPpm: 0, isDrawn: true },
  { skewMs: -7, driftPpm: 10_000, isDrawn: true },
  { skewMs: 7, driftPpm: -10_000, isDrawn: false },
]) {
  const name = `a simulated node, ${skewMs} ms off and ${driftPpm} ppm too fast`;
  describeClock(`the clock of ${name}${isDrawn ? ', in a world without order,' : ''}`, () => {
    const tiebreak = new SeededRandom(3, 'tiebreak');
    const below = new SimulatedClock(isDrawn ? { tiebreak } : {});
    return {
      clock: new NodeClock(below, skewMs, driftPpm),
      pass: async (durationMs) => below.advanceBy(Math.ceil(durationMs * 1.02)),
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

  test('gains and loses time from any moment on, and never goes back', () => {
    const { below, clock, startedAt } = begin(1_000);
    const at = () => clock.now() - startedAt - 1_000;
    below.advanceBy(1_000_000);
    clock.drift(10_000);
    below.advanceBy(1_000_000);
    expect(at()).toBe(2_010_000);
    clock.drift(-10_000);
    below.advanceBy(1_000_000);
    expect(at()).toBe(3_000_000);
    for (const ppm of [333, -333, 0, 7]) {
      const before = clock.now();
      clock.drift(ppm);
      expect(clock.now()).toBe(before);
      below.advanceBy(1);
      expect(clock.now()).toBeGreaterThanOrEqual(before);
    }
    expect(() => clock.drift(Number.NaN)).toThrow(RangeError);
  });

  test('runs tasks at its own moments when its drift changes, never early, in order', () => {
    const { below, clock, startedAt } = begin();
    const ran: Array<readonly [number, number, number]> = [];
    const moments = [100, 90_000, 90_000, 100_000, 250_000];
    for (const [index, inMs] of moments.entries())
      clock.schedule(startedAt + inMs, () =>
        ran.push([index, clock.now() - startedAt - inMs, below.now() - startedAt]),
      );
    below.advanceBy(50_000);
    clock.drift(-10_000);
    below.advanceBy(40_100);
    clock.drift(10_000);
    below.advanceBy(300_000);
    expect(ran.map(([index]) => index)).toEqual([0, 1, 2, 3, 4]);
    for (const [, lateMs] of ran) expect([0, 1]).toContain(lateMs);
    // Too slow by a hundredth for the first 40 s, then too fast.
    expect(ran.map(([, , trueMs]) => trueMs)).toEqual([100, 90_399, 90_399, 100_300, 248_814]);
  });

  test('forgets no task, whatever its drift', () => {
    const random = new SeededRandom(1, 'drift');
    for (let round = 0; round < 300; round++) {
      const { below, clock } = begin(Math.round(random.next() * 1e9));
      const early: number[] = [];
      let ran = 0;
      clock.drift(Math.round((random.next() - 0.5) * 20_000));
      below.advanceBy(Math.round(random.next() * 1e9));
      for (let task = 0; task < 50; task++) {
        const at = clock.now() + Math.round(random.next() * 1e6);
        clock.schedule(at, () => {
          ran += 1;
          early.push(Math.min(0, clock.now() - at));
        });
      }
      below.advanceBy(1_100_000);
      expect(ran).toBe(50);
      expect(Math.min(...early)).toBe(0);
    }
  });

  test('takes its time for every task while it is slow, and is on time afterwards', () => {
    const { below, clock, ran, schedule } = begin();
    clock.slow(100, 1_000);
    for (const name of ['a', 'b', 'c']) schedule(name, 10);
    schedule('d', 2_000);
    schedule('e', 2_000);
    below.advanceBy(5_000);
    expect(ran).toEqual([
      ['a', 10],
      ['b', 20],
      ['c', 30],
      ['d', 2_000],
      ['e', 2_000],
    ]);
    expect(() => clock.slow(0.5, 10)).toThrow(RangeError);
  });

  test('keeps its own order where the world draws one, whatever is taken back', () => {
    const tiebreak = new SeededRandom(5, 'tiebreak');
    const below = new SimulatedClock({ tiebreak });
    const clocks = [0, 1, 2].map(() => new NodeClock(below));
    const ran: string[] = [];
    const cancels: Array<() => void> = [];
    const at = below.now() + 50;
    for (let index = 0; index < 60; index++) {
      const clock = clocks[index % 3] as NodeClock;
      const cancel = clock.schedule(at, () => {
        ran.push(`${index % 3}:${index}`);
        // One task in ten takes back the next of its node.
        if (index % 10 === 0) cancels[index + 3]?.();
      });
      cancels.push(cancel);
    }
    clocks[1]?.pause(80);
    below.advanceBy(1_000);
    const of = (node: number) =>
      ran.filter((one) => one.startsWith(`${node}:`)).map((one) => Number(one.slice(2)));
    const all = Array.from({ length: 60 }, (_, index) => index);
    const takenBack = [0, 10, 20, 30, 40, 50].map((index) => index + 3);
    const isLeft = (index: number) => !takenBack.includes(index) || takenBack.includes(index - 3);
    const expected = all.filter(isLeft);
    for (const node of [0, 1, 2])
      expect(of(node)).toEqual(expected.filter((index) => index % 3 === node));
    // Between nodes there is no order to rely on.
    expect(ran.slice(0, 30).filter((one) => one.startsWith('0:'))).not.toEqual(ran.slice(0, 20));
  });
});
