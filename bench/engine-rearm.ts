/**
 * Moving a deadline while a million are held: the node's index against Node's timers.
 *
 * Both move the same deadlines in the same random order, 10 minutes ahead of the time of
 * the turn, so nothing fires meanwhile. Equal delays are Node's best case (one list); its
 * case with many different delays is a detail. Ours moves lazily and pays the rest when
 * the old moment comes: the detail `withCatchUp` brings every deadline up to date on a
 * clock moved by hand, after five moves of each on average, and counts that in.
 */

import { type DeadlineEntry, Deadlines } from '../runtime/actor/deadlines.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import { systemClock } from '../runtime/system/clock.ts';
import { Sequence } from './closed-loop.ts';
import { type Case, interleave, median, rangeOf, ratios, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const HELD = 1_000_000;
/** Several times the deadlines held, so that a cache that went cold between samples counts little. */
const MOVES = 4_000_000;
const DELAY_MS = 600_000;
/** Moves between two looks at the clock; Node's timers read the time of the loop, not the clock. */
const MOVES_PER_LOOK = 1_024;

export const rearm: Field = {
  name: 'timerRearmVsNode',
  about: 'moving one of a million deadlines ÷ clearTimeout and setTimeout',
  better: 'lower',
  goal: 0.1,
  stretch: 0.03,
  measure,
};

async function measure(options: MeasureOptions): Promise<Measured> {
  const held = options.isQuick ? HELD / 10 : HELD;
  const order = orderOf(MOVES, held);
  const ours = engineCase(held, order);
  const node = nodeCase('node', held, order, () => DELAY_MS);
  const delays = Float64Array.from(order, (index) => DELAY_MS + (index % 60_000));
  const nodeDelays = nodeCase('nodeManyDelays', held, order, (move) => delays[move] as number);
  const catchUp = catchUpCase(held);
  const raw = await interleave([ours, node, nodeDelays, catchUp], options);
  for (const { end } of [ours, node, nodeDelays]) end();
  const perRound = ratios(raw, 'engine', 'node');
  return {
    value: rounded(median(perRound)),
    range: rangeOf(perRound),
    rounds: perRound.length,
    details: {
      held,
      movesPerSample: MOVES,
      nanosecondsPerMove: Object.fromEntries(
        Object.entries(raw).map(([name, samples]) => [name, summary(samples)]),
      ),
      vsNodeManyDelays: summary(ratios(raw, 'engine', 'nodeManyDelays')),
      withCatchUp: summary(ratios(raw, 'engineWithCatchUp', 'node')),
    },
    raw,
  };
}

function engineCase(held: number, order: Uint32Array): Case & { end(): void } {
  const clock = systemClock();
  const deadlines = new Deadlines(clock, () => {
    throw new Error('A deadline came that was moved ahead.');
  });
  const entries = openAll(deadlines, held, clock.now());
  return {
    name: 'engine',
    run() {
      const startedAt = performance.now();
      let dueAt = 0;
      for (let move = 0; move < order.length; move += 1) {
        if (move % MOVES_PER_LOOK === 0) dueAt = clock.now() + DELAY_MS;
        moveTo(deadlines, entries[order[move] as number] as DeadlineEntry, dueAt);
      }
      return nanosecondsEach(order.length, startedAt);
    },
    end() {
      if (deadlines.size !== held)
        throw new Error(`${deadlines.size} deadlines of ${held} are held.`);
      deadlines.stop();
      clock.stop();
    },
  };
}

function nodeCase(
  name: string,
  held: number,
  order: Uint32Array,
  delayOf: (move: number) => number,
): Case & { end(): void } {
  const fail = (): void => {
    throw new Error('A timer came that was moved ahead.');
  };
  const timers = Array.from({ length: held }, (_, index) =>
    setTimeout(fail, delayOf(index % order.length)),
  );
  return {
    name,
    run() {
      const startedAt = performance.now();
      for (let move = 0; move < order.length; move += 1) {
        const index = order[move] as number;
        clearTimeout(timers[index]);
        timers[index] = setTimeout(fail, delayOf(move));
      }
      return nanosecondsEach(order.length, startedAt);
    },
    end() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** Five moves of each deadline, then the moment of all the old ones comes. */
function catchUpCase(held: number): Case {
  const order = orderOf(5 * held, held);
  return {
    name: 'engineWithCatchUp',
    run() {
      const clock = new HandClock();
      // The few that the random order leaves out do come.
      const deadlines = new Deadlines(clock, () => {});
      const entries = openAll(deadlines, held, 0);
      // The first moments are spread over a second; all are moved far beyond before they come.
      for (let index = 0; index < held; index += 1) {
        deadlines.set(entries[index] as DeadlineEntry, (index % 1_000) + 1);
      }
      const startedAt = performance.now();
      for (let move = 0; move < order.length; move += 1) {
        moveTo(deadlines, entries[order[move] as number] as DeadlineEntry, DELAY_MS + (move >> 10));
      }
      clock.advance(2_000);
      const cost = nanosecondsEach(order.length, startedAt);
      deadlines.stop();
      return cost;
    },
  };
}

/** As the shard does it after a turn. */
function moveTo(deadlines: Deadlines, entry: DeadlineEntry, dueAt: number): void {
  if (deadlines.dueAt(entry) !== dueAt) deadlines.set(entry, dueAt);
}

function openAll(deadlines: Deadlines, held: number, now: number): DeadlineEntry[] {
  return Array.from({ length: held }, (_, index) => {
    const entry = deadlines.open(`job/${index}@bench`);
    deadlines.set(entry, now + DELAY_MS);
    return entry;
  });
}

function orderOf(moves: number, held: number): Uint32Array {
  const sequence = new Sequence(1);
  return Uint32Array.from({ length: moves }, () => sequence.next(held));
}

function nanosecondsEach(count: number, startedAt: number): number {
  return ((performance.now() - startedAt) * 1e6) / count;
}

/** A clock that stands still until it is moved; one task is enough for the index. */
class HandClock implements Clock {
  #now = 0;
  #task: { readonly at: number; readonly run: () => void } | undefined;
  readonly #deferred: Array<() => void> = [];

  now(): number {
    return this.#now;
  }

  schedule(at: number, run: () => void): () => void {
    const task = { at, run };
    this.#task = task;
    return () => {
      if (this.#task === task) this.#task = undefined;
    };
  }

  defer(run: () => void): void {
    this.#deferred.push(run);
  }

  advance(to: number): void {
    this.#now = to;
    for (;;) {
      const task = this.#task;
      const deferred = this.#deferred.shift();
      if (deferred !== undefined) deferred();
      else if (task !== undefined && task.at <= to) {
        this.#task = undefined;
        task.run();
      } else return;
    }
  }
}
