/**
 * The work that an engine, BullMQ and the jobs system are given alike: jobs with a deadline each,
 * of which nine in ten are completed in time and every tenth is left to its deadline.
 *
 * The deadlines that come are spread evenly over some seconds, and begin when the others have been
 * completed; those of the others are an hour away. A deadline is a moment, fixed by the side that starts
 * the job, so what it takes to start one does not move it.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { nowPrecise } from './jobs-system.ts';
import { quantile, rounded } from './rounds.ts';

export interface Batch {
  /** Number of the first job; no two batches share one. */
  readonly first: number;
  readonly count: number;
  /** The first of the deadlines that come, by the wall clock. */
  readonly firstDueAt: number;
  readonly spreadMs: number;
  /** `bulk`: as many at a time as helps. `single`: the next one when the one before is acknowledged. */
  readonly how: 'bulk' | 'single';
}

export interface Lateness {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const EVERY = 10;
const FAR_MS = 3_600_000;
const LOOK_EVERY_MS = 10;
/** Deadlines are set by a clock of whole milliseconds. */
const CLOCK_STEP_MS = 1;
const PATIENCE_MS = 120_000;

export const nameOf = (index: number): string => `j${index}`;

export const isLeft = (index: number): boolean => index % EVERY === EVERY - 1;

export const leftOf = ({ count }: Pick<Batch, 'count'>): number => Math.floor(count / EVERY);

export function dueAtOf(index: number, batch: Batch): number {
  if (!isLeft(index)) return batch.firstDueAt + FAR_MS;
  const place = Math.floor((index - batch.first) / EVERY);
  return batch.firstDueAt + Math.floor((place * batch.spreadMs) / leftOf(batch));
}

export function indexes({ first, count }: Batch): number[] {
  return Array.from({ length: count }, (_, offset) => first + offset);
}

/** How late deadlines were noticed, batch by batch. */
export class LateDeadlines {
  #lateMs: number[] = [];

  note(dueAt: number): void {
    this.#lateMs.push(nowPrecise() - dueAt);
  }

  /** Resolves when this many have come since the last question. @throws {Error} when others do, or one too early. */
  async take(count: number): Promise<Lateness> {
    const endsAt = performance.now() + PATIENCE_MS;
    while (this.#lateMs.length < count) {
      if (performance.now() > endsAt)
        throw new Error(`${this.#lateMs.length} deadlines of ${count} were noticed.`);
      await sleep(LOOK_EVERY_MS);
    }
    const lateMs = this.#lateMs;
    this.#lateMs = [];
    if (lateMs.length > count) throw new Error(`${lateMs.length} deadlines came, not ${count}.`);
    const earliest = Math.min(...lateMs);
    if (earliest < -CLOCK_STEP_MS) throw new Error(`A deadline came ${-earliest} ms early.`);
    return {
      p50Ms: rounded(quantile(lateMs, 0.5)),
      p99Ms: rounded(quantile(lateMs, 0.99)),
      maxMs: rounded(Math.max(...lateMs)),
    };
  }
}

/** Milliseconds that something takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
