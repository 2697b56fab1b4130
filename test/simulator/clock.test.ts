import { describe, expect, test } from 'vitest';
import { SimulatedClock } from '../../simulator/world/clock.ts';
import { ClockLine } from '../../simulator/world/clock-line.ts';
import { SeededRandom } from '../../simulator/world/random.ts';

const numbers = Array.from({ length: 40 }, (_, index) => index);

function drawn(seed: number): SimulatedClock {
  return new SimulatedClock({ tiebreak: new SeededRandom(seed, 'tiebreak') });
}

describe('a simulated clock that draws', () => {
  const orderOf = (seed: number) => {
    const clock = drawn(seed);
    const ran: number[] = [];
    // The same millisecond: some are a fraction of it early, some are given late.
    for (const number of numbers)
      clock.schedule(clock.now() + 4 + (number % 2) / 2, () => ran.push(number));
    clock.advanceBy(10);
    return ran;
  };

  test('runs tasks of a moment in an order of its seed', () => {
    expect(orderOf(1)).toEqual(orderOf(1));
    expect(orderOf(1)).not.toEqual(orderOf(2));
    expect(orderOf(1)).not.toEqual(numbers);
    const odd = orderOf(1).map((number) => (number % 2 === 0 ? '' : 'odd'));
    // At 4.5 is the next millisecond.
    expect(odd.slice(0, 20)).not.toContain('odd');
  });

  test('runs each task once, at its moment, whatever the order', () => {
    const clock = drawn(3);
    const startedAt = clock.now();
    const ran: Array<readonly [number, number]> = [];
    for (const number of numbers)
      clock.schedule(startedAt + (number % 7), () => ran.push([number, clock.now() - startedAt]));
    const cancel = clock.schedule(startedAt + 3, () => ran.push([-1, 0]));
    cancel();
    clock.advanceBy(10);
    expect(ran.map(([number]) => number).sort((a, b) => a - b)).toEqual(numbers);
    for (const [number, at] of ran) expect(at).toBe(number % 7);
  });

  test('draws what is late among what is due now', () => {
    const firsts = new Set<string>();
    for (let seed = 0; seed < 20; seed++) {
      const clock = drawn(seed);
      const ran: string[] = [];
      clock.schedule(clock.now() - 100, () => ran.push('late'));
      clock.schedule(clock.now(), () => ran.push('now'));
      clock.advanceBy(1);
      firsts.add(ran.join());
    }
    expect([...firsts].sort()).toEqual(['late,now', 'now,late']);
  });

  test('runs deferred tasks after all others of the moment, in order', () => {
    const clock = drawn(1);
    const ran: string[] = [];
    clock.defer(() => ran.push('first'));
    clock.defer(() => ran.push('second'));
    for (const number of numbers) clock.schedule(clock.now(), () => ran.push(`${number}`));
    clock.advanceBy(1);
    expect(ran.slice(-2)).toEqual(['first', 'second']);
  });
});

describe('a line', () => {
  const begin = () => {
    const clock = drawn(2);
    const line = new ClockLine(clock);
    const startedAt = clock.now();
    const ran: string[] = [];
    const add = (name: string, inMs: number) =>
      line.add(startedAt + inMs, {
        run: () => ran.push(`${clock.now() - startedAt} ${name}`),
        held: () => ran.push(`held ${name}`),
      });
    return { clock, line, ran, add };
  };

  test('keeps its order where the clock draws one', () => {
    const { clock, ran, add } = begin();
    for (const number of numbers) add(`${number}`, 5);
    add('early', 1);
    clock.advanceBy(10);
    expect(ran).toEqual([...numbers.map((number) => `5 ${number}`), '5 early']);
  });

  test('holds what comes due, and lets it go at once, in order', () => {
    const { clock, line, ran, add } = begin();
    add('a', 5);
    add('b', 6);
    add('c', 60);
    line.hold();
    line.hold();
    clock.advanceBy(10);
    line.pass({ run: () => ran.push('passing') });
    line.release();
    clock.advanceBy(10);
    expect(ran).toEqual(['held a', 'held b']);
    line.release();
    line.pass({ run: () => ran.push('at once') });
    clock.advanceBy(100);
    expect(ran.slice(2)).toEqual(['at once', '20 a', '20 b', 'passing', '60 c']);
  });

  test('hurries what is due later, still in order, and nothing that comes after', () => {
    const { clock, line, ran, add } = begin();
    add('a', 30);
    add('b', 60);
    clock.advanceBy(10);
    line.hurry();
    add('c', 40);
    add('d', 60);
    clock.advanceBy(100);
    expect(ran).toEqual(['10 a', '10 b', '40 c', '60 d']);
  });
});
