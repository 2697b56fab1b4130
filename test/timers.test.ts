import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Deadlines } from '../runtime/actor/deadlines.ts';
import { SimulatedClock } from '../simulator/world/clock.ts';

const START = 1_000_000;

function openDeadlines(onDue?: (address: string) => void) {
  const clock = new SimulatedClock({ startAt: START });
  const due: Array<readonly [address: string, after: number]> = [];
  const deadlines = new Deadlines(clock, (address) => {
    due.push([address, clock.now() - START]);
    onDue?.(address);
  });
  const set = (address: string, after: number) =>
    deadlines.set(deadlines.open(address), START + after);
  return { clock, deadlines, due, set };
}

describe('deadlines', () => {
  test('are reported once, at their moment, in order', () => {
    const { clock, deadlines, due, set } = openDeadlines();
    set('late', 30);
    set('early', 10);
    set('middle', 20);
    expect([deadlines.size, deadlines.nextDueAt()]).toEqual([3, START + 10]);
    clock.advanceBy(9);
    expect(due).toEqual([]);
    clock.advanceBy(100);
    expect(due).toEqual([
      ['early', 10],
      ['middle', 20],
      ['late', 30],
    ]);
    expect([deadlines.size, deadlines.nextDueAt()]).toEqual([0, undefined]);
  });

  test('of one moment are reported in the order they were set, moves included', () => {
    const { clock, due, set } = openDeadlines();
    set('moved', 5);
    set('first', 20);
    set('moved', 20);
    set('last', 20);
    clock.advanceBy(20);
    expect(due.map(([address]) => address)).toEqual(['first', 'moved', 'last']);
  });

  test('that move later are not reported at the old moment, nor twice', () => {
    const { clock, due, set } = openDeadlines();
    for (let after = 0; after < 500; after += 10) {
      set('job', after + 60);
      clock.advanceBy(10);
    }
    expect(due).toEqual([]);
    clock.advanceBy(100);
    expect(due).toEqual([['job', 550]]);
  });

  test('that move earlier are reported at the new moment', () => {
    const { clock, due, set } = openDeadlines();
    set('job', 1_000);
    set('job', 2_000);
    set('job', 1_500);
    set('job', 50);
    clock.advanceBy(3_000);
    expect(due).toEqual([['job', 50]]);
  });

  test('in the past are reported soon, not inside the call', () => {
    const { clock, due, set } = openDeadlines();
    set('job', -50);
    expect(due).toEqual([]);
    clock.runDue();
    expect(due).toEqual([['job', 0]]);
  });

  test('may be set again while they are reported', () => {
    const { clock, due, deadlines, set } = openDeadlines((address) => {
      if (due.length < 3) deadlines.set(deadlines.open(address), clock.now() + 10);
    });
    set('job', 10);
    clock.advanceBy(100);
    expect(due).toEqual([
      ['job', 10],
      ['job', 20],
      ['job', 30],
    ]);
  });

  test('are not reported once cleared, and may be set again', () => {
    const { clock, deadlines, due, set } = openDeadlines();
    set('job', 10);
    const entry = deadlines.find('job');
    if (entry === undefined) throw new Error('The entry is gone.');
    deadlines.clear(entry);
    deadlines.clear(entry);
    expect([deadlines.dueAt(entry), deadlines.size]).toEqual([undefined, 0]);
    expect(clock.nextDueAt()).toBeUndefined();
    deadlines.set(entry, START + 30);
    clock.advanceBy(100);
    expect(due).toEqual([['job', 30]]);
  });

  test('are forgotten when closed, and their entry refuses to be set', () => {
    const { clock, deadlines, due, set } = openDeadlines();
    set('job', 10);
    const entry = deadlines.open('job');
    deadlines.close(entry);
    deadlines.close(entry);
    expect(deadlines.find('job')).toBeUndefined();
    expect(() => deadlines.set(entry, START + 10)).toThrow('entry that is closed');
    set('other', 20);
    expect(() => deadlines.set(entry, START + 30)).toThrow('entry that is closed');
    deadlines.clear(entry);
    deadlines.close(entry);
    expect(deadlines.dueAt(entry)).toBeUndefined();
    clock.advanceBy(100);
    expect(due).toEqual([['other', 20]]);
  });

  test('refuse a moment that is no moment', () => {
    const { deadlines, set } = openDeadlines();
    set('job', 10);
    for (const after of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => set('job', after)).toThrow(RangeError);
      expect(() => set('new', after)).toThrow(RangeError);
    }
    expect(deadlines.size).toBe(1);
  });

  test('stop being reported after stop', () => {
    const { clock, deadlines, due, set } = openDeadlines();
    set('job', 10);
    deadlines.stop();
    clock.advanceBy(100);
    expect([due, deadlines.size]).toEqual([[], 0]);
    set('job', 200);
    clock.advanceBy(200);
    expect(due).toEqual([['job', 200]]);
  });

  test('leave the loop to others in between when very many are due at once', () => {
    const { clock, due, set } = openDeadlines();
    for (let index = 0; index < 10_000; index++) set(`job/${index}`, 10);
    clock.step();
    expect(due.length).toBeLessThan(5_000);
    let wasInBetween = false;
    clock.defer(() => {
      wasInBetween = due.length < 10_000;
    });
    set('past', -5);
    clock.advanceBy(0);
    expect([due.length, wasInBetween]).toEqual([10_001, true]);
    expect(due.every(([, after]) => after === 10)).toBe(true);
  });

  test('survive a report that throws', () => {
    const { clock, due, set } = openDeadlines((address) => {
      if (address === 'bad') throw new Error('bad');
    });
    set('bad', 10);
    set('good', 10);
    expect(() => clock.advanceBy(10)).toThrow('bad');
    clock.advanceBy(0);
    expect(due.map(([address]) => address)).toEqual(['bad', 'good']);
  });

  test('keep only one task at the clock', () => {
    const { clock, deadlines, set } = openDeadlines();
    for (let index = 0; index < 100; index++) set(`job/${index}`, 1_000 - index);
    expect(clock.nextDueAt()).toBe(START + 901);
    for (let index = 0; index < 100; index++) deadlines.clear(deadlines.open(`job/${index}`));
    expect(clock.nextDueAt()).toBeUndefined();
  });
});

/** What the index must do, done slowly. */
class NaiveDeadlines {
  readonly #set = new Map<string, { dueAt: number; order: number }>();
  #order = 0;

  set(address: string, dueAt: number): void {
    this.#set.set(address, { dueAt, order: this.#order++ });
  }

  clear(address: string): void {
    this.#set.delete(address);
  }

  sorted(): ReadonlyArray<readonly [string, { dueAt: number; order: number }]> {
    return [...this.#set].sort(([, a], [, b]) => a.dueAt - b.dueAt || a.order - b.order);
  }

  takeDue(now: number): string[] {
    const due = this.sorted().filter(([, { dueAt }]) => dueAt <= now);
    for (const [address] of due) this.#set.delete(address);
    return due.map(([address]) => address);
  }
}

describe('deadlines agree with a sorted list', () => {
  const address = fc.nat({ max: 150 }).map((index) => `job/${index}`);
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.tuple(fc.constant('set'), address, fc.integer({ min: -5, max: 60 })),
    },
    { weight: 3, arbitrary: fc.tuple(fc.constant('clear'), address, fc.constant(0)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('close'), address, fc.constant(0)) },
    { weight: 2, arbitrary: fc.tuple(fc.constant('advance'), address, fc.nat({ max: 20 })) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('fill'), address, fc.nat({ max: 60 })) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('clear all'), address, fc.constant(0)) },
  );

  test('whatever is set, moved, cleared and waited for', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const clock = new SimulatedClock({ startAt: START });
        const model = new NaiveDeadlines();
        const due: string[] = [];
        const deadlines = new Deadlines(clock, (name) => due.push(name));
        const everybody = Array.from({ length: 150 }, (_, index) => `job/${index}`);
        const set = (name: string, dueAt: number) => {
          deadlines.set(deadlines.open(name), dueAt);
          model.set(name, dueAt);
        };
        const clear = (name: string) => {
          const entry = deadlines.find(name);
          if (entry !== undefined) deadlines.clear(entry);
          model.clear(name);
        };
        const advance = (byMs: number) => {
          const expected: string[] = [];
          // Overdue ones first: a wake reports them before time moves on.
          for (let passed = 0; passed <= byMs; passed++) {
            clock.advanceBy(passed === 0 ? 0 : 1);
            expected.push(...model.takeDue(clock.now()));
            expect(due).toEqual(expected);
          }
          due.length = 0;
        };
        for (const [what, name, number] of steps) {
          if (what === 'set') set(name, clock.now() + number);
          if (what === 'clear') clear(name);
          if (what === 'advance') advance(number);
          if (what === 'fill') for (const each of everybody) set(each, clock.now() + number);
          if (what === 'clear all') for (const each of everybody) clear(each);
          if (what === 'close') {
            deadlines.close(deadlines.open(name));
            model.clear(name);
          }
          const sorted = model.sorted();
          expect(deadlines.size).toBe(sorted.length);
          if (number % 2 === 0) expect(deadlines.nextDueAt()).toBe(sorted[0]?.[1].dueAt);
        }
        advance(100);
        expect([deadlines.size, clock.nextDueAt()]).toEqual([0, undefined]);
      }),
      { numRuns: 200 },
    );
  });
});

test('what is due waits while nothing may be reported, and goes on in order when it may', async () => {
  const clock = new SimulatedClock({ startAt: START });
  const reported: string[] = [];
  let room = 2;
  const deadlines = new Deadlines(
    clock,
    (address) => {
      reported.push(address);
      room -= 1;
    },
    () => room > 0,
  );
  for (const number of [5, 3, 1, 4, 2])
    deadlines.set(deadlines.open(`order/${number}@A`), clock.now() + number);
  clock.advanceBy(10);
  expect(reported).toEqual(['order/1@A', 'order/2@A']);
  clock.advanceBy(10);
  expect(reported).toHaveLength(2);
  room = 1;
  deadlines.resume();
  clock.runDue();
  expect(reported).toHaveLength(3);
  room = 9;
  deadlines.resume();
  clock.runDue();
  expect(reported).toEqual([1, 2, 3, 4, 5].map((number) => `order/${number}@A`));
  deadlines.resume();
  deadlines.set(deadlines.open('order/1@A'), clock.now() + 1);
  clock.advanceBy(1);
  expect(reported).toHaveLength(6);
});
