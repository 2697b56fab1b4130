/**
 * Cost of tracking deadlines: CPU time per completed workflow at 1,000 concurrent jobs, against a run whose
 * job machine tracks nothing.
 *
 * Handlers hold their jobs, so that 1,000 run at all times: for each that is let go another one is
 * submitted, and the CPU time of this process over many such exchanges is what counts. Both runs
 * are made of the same parts (jobs-manager.ts), on the memory store, and take turns in the order
 * ABBA, at least 20 pairs. The interval is that of the median of the pairs, by order statistics; the goal is met when
 * its upper end is below, and nothing is said where it is wider than the goal.
 */

import { closedLoop } from './closed-loop.ts';
import { startTracking, startUntracking } from './jobs-manager.ts';
import { type JobsSystem, startSystem, until } from './jobs-system.ts';
import {
  collectGarbage,
  median,
  medianInterval,
  quantile,
  rangeOf,
  rounded,
  summary,
} from './rounds.ts';
import type { Field, Measured, MeasureOptions, Range } from './suite.ts';

const CONCURRENT = 1_000;
const WORKERS = 16;
const CORES = 128;
const EXCHANGES = 1_500;
/** Jobs on their way in or out at a time, beside those that are held. */
const IN_FLIGHT = 64;
/** In each block the two sides are started again, and take turns ABBA. */
const BLOCKS = 12;
const BLOCK_PAIRS = 4;
const QUICK_SHARE = 0.2;
const QUICK_BLOCKS = 2;
const TIMEOUT_MS = 3_600_000;
const RUNNING_LIMIT_MS = 120_000;
const GOAL_PERCENT = 5;

export const jobsOverhead: Field = {
  name: 'overheadPercent',
  about: 'CPU time per workflow at 1,000 concurrent jobs, above that of jobs that track nothing',
  better: 'lower',
  goal: GOAL_PERCENT,
  stretch: 1,
  measure,
};

async function measure(options: MeasureOptions): Promise<Measured> {
  const exchanges = EXCHANGES * (options.isQuick ? QUICK_SHARE : 1);
  const blocks = options.isQuick ? QUICK_BLOCKS : BLOCKS;
  const tracked: number[] = [];
  const untracked: number[] = [];
  for (let block = 0; block < blocks; block += 1) {
    // New systems now and then, the other one first: it is not always the same one that is older.
    const isTrackedFirst = block % 2 === 0;
    const first = await HeldJobs.start(isTrackedFirst);
    const second = await HeldJobs.start(!isTrackedFirst);
    const sample = async (jobs: HeldJobs): Promise<void> => {
      const micros = await jobs.exchange(exchanges);
      (jobs.isTracked ? tracked : untracked).push(micros);
      options.progress(`  ${jobs.isTracked ? 'tracked' : 'untracked'}: ${rounded(micros)} µs`);
    };
    // The first time the code itself has to become warm.
    for (let round = 0; round < (block === 0 ? 2 : 1); round += 1)
      for (const jobs of [first, second]) await jobs.exchange(exchanges);
    for (let pair = 0; pair < BLOCK_PAIRS; pair += 1) {
      await sample(pair % 2 === 0 ? first : second);
      await sample(pair % 2 === 0 ? second : first);
    }
    await first.end();
    await second.end();
  }
  return measured(tracked, untracked, exchanges);
}

function measured(
  tracked: readonly number[],
  untracked: readonly number[],
  exchanges: number,
): Measured {
  const overheads = tracked.map((micros, pair) => (micros / (untracked[pair] as number) - 1) * 100);
  const interval = medianInterval(overheads);
  const [lower, upper] = interval;
  return {
    value: rounded(median(overheads)),
    range: rangeOf(overheads),
    rounds: overheads.length,
    details: {
      verdict: verdictOf(interval),
      interval95: interval.map(rounded),
      intervalWidth: rounded(upper - lower),
      goal: `upper end below ${GOAL_PERCENT}`,
      concurrentJobs: CONCURRENT,
      workers: `${WORKERS} of ${CORES} cores`,
      workflowsPerSample: exchanges,
      order: `ABBA, ${BLOCK_PAIRS} pairs, then both sides again`,
      cpuMicrosPerWorkflow: { tracked: summary(tracked), untracked: summary(untracked) },
      quartiles: [0.25, 0.75].map((share) => rounded(quantile(overheads, share))),
    },
    raw: { tracked, untracked, overheadPercent: overheads.map(rounded) },
  };
}

function verdictOf([lower, upper]: Range): 'met' | 'missed' | 'inconclusive' {
  if (upper - lower > GOAL_PERCENT) return 'inconclusive';
  return upper < GOAL_PERCENT ? 'met' : 'missed';
}

/** A system that holds a thousand jobs while it is measured: for each that begins beyond them the first is let go. */
class HeldJobs {
  readonly isTracked: boolean;
  /** Handlers at work, in the order in which they began. */
  readonly #held: Array<() => void> = [];
  /** Those who wait for an end, or how many ends nobody has waited for. */
  readonly #waiting: Array<() => void> = [];
  #spareEnds = 0;
  #submitted = 0;
  #completed = 0;
  #system: JobsSystem | undefined;

  constructor(isTracked: boolean) {
    this.isTracked = isTracked;
  }

  static async start(isTracked: boolean): Promise<HeldJobs> {
    const jobs = new HeldJobs(isTracked);
    jobs.#system = await startSystem({
      workers: WORKERS,
      cores: CORES,
      handlers: { held: () => jobs.#hold() },
      start: isTracked ? startTracking : startUntracking,
    });
    return jobs;
  }

  /** Microseconds of CPU time for each of N jobs that come, and N that go. */
  async exchange(jobs: number): Promise<number> {
    await closedLoop(CONCURRENT, IN_FLIGHT, () => this.#submit());
    await until('all run', RUNNING_LIMIT_MS, () => this.#held.length === CONCURRENT);
    await this.#untilRest();
    this.#checkDeadlines();
    collectGarbage();
    const startedAt = process.cpuUsage();
    await closedLoop(jobs, IN_FLIGHT, async () => {
      await this.#submit();
      await this.#untilEnd();
    });
    await this.#untilRest();
    const { user, system } = process.cpuUsage(startedAt);
    for (const release of this.#held.splice(0)) release();
    await until('all have ended', RUNNING_LIMIT_MS, () => this.#completed === this.#submitted);
    await this.#untilRest();
    this.#spareEnds = 0;
    return (user + system) / jobs;
  }

  async end(): Promise<void> {
    await this.#system?.check({ completed: this.#submitted });
    await this.#system?.stop();
  }

  #hold(): Promise<void> {
    return new Promise((resolve) => {
      this.#held.push(resolve);
      if (this.#held.length > CONCURRENT) this.#held.shift()?.();
    });
  }

  async #submit(): Promise<void> {
    const jobId = `j${this.#submitted}`;
    this.#submitted += 1;
    void this.#system?.end(jobId).then(() => {
      this.#completed += 1;
      const wake = this.#waiting.shift();
      if (wake === undefined) this.#spareEnds += 1;
      else wake();
    });
    const workflows = [{ id: 'w', handler: 'held' }];
    await this.#system?.submit({ jobId, timeoutMs: TIMEOUT_MS, workflows });
  }

  /** As many ends come as there are calls, whichever jobs they are of. */
  async #untilEnd(): Promise<void> {
    if (this.#spareEnds > 0) this.#spareEnds -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #untilRest(): Promise<void> {
    return until('at rest', RUNNING_LIMIT_MS, () => this.#system?.isAtRest === true);
  }

  /** Every job that runs waits for a moment, or none does. */
  #checkDeadlines(): void {
    const query = { kind: 'job', status: 'active', limit: CONCURRENT } as const;
    const rows = this.#system?.manager.runtime.query(query).actors ?? [];
    const waiting = rows.filter(({ dueAt }) => dueAt !== null).length;
    if (rows.length !== CONCURRENT || waiting !== (this.isTracked ? CONCURRENT : 0))
      throw new Error(`${waiting} of ${rows.length} jobs wait for a deadline.`);
  }
}
