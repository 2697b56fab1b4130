/**
 * The jobs of jobs-held.ts: a system with as many workers as they need, brought to work, held, and
 * ended by their deadlines.
 *
 * Guarantees: when `bear` resolves all of them run and none has ended; when `end` resolves those that
 * were due have timed out, and all others still run. What it remembers of them itself is allocated
 * before memory is measured first.
 */

import { lmdbStore, systemClock } from '../index.ts';
import { jobAddress } from '../machines/jobs/addresses.ts';
import type { HandlerContext } from '../programs/jobs/worker.ts';
import { closedLoop } from './closed-loop.ts';
import {
  DATACENTER,
  type JobEnd,
  type JobsSystem,
  nowPrecise,
  startSystem,
  until,
} from './jobs-system.ts';
import type { MeasureOptions } from './suite.ts';

const PER_WORKER = 1_000;
/** Room for those of the warm-up. */
const CORES = 1_020;
/** Jobs that run before memory is measured first, so that code and buffers are there. */
const WARM_UP_SHARE = 0.02;
const IN_FLIGHT = 256;
/** The last twentieth is due while the others are held: ends themselves take work, which is not measured here. */
const DUE_SHARE = 20;
/** The deadlines of those are spread evenly over a minute. */
const SPREAD_MS = 60_000;
/** The first deadline comes that much later than bringing those that are due to work would take as fast as the others. */
const RAMP_RESERVE = 4;
/** Collecting garbage and measuring takes its time as well, the more jobs the longer. */
const RESERVE_PER_JOB_MS = 2.4;
const RESERVE_MIN_MS = 30_000;
const DAY_MS = 86_400_000;
const LIMIT_MS = 1_800_000;
const TELL_EVERY = 0.1;

export interface Ramp {
  /** From the first submission to the last handler at work. */
  readonly rampMs: number;
  readonly rampJobsPerSecond: number;
  /** Time of the first and of the last tenth: what a population costs those who join it. */
  readonly firstTenthMs: number;
  readonly lastTenthMs: number;
}

/** Milliseconds after the deadline, by job in the order of their deadlines. */
export interface Lateness {
  /** Lateness of the committed decision, by its own moment. */
  readonly decided: Float64Array;
  /** Lateness of the log event that it was committed. */
  readonly heard: Float64Array;
}

export class HeldPopulation {
  readonly #jobs: number;
  readonly #warmUp: number;
  /** The last N. */
  readonly #due: number;
  readonly #options: MeasureOptions;
  readonly #clock = systemClock({
    sources: {
      wall: nowPrecise,
      monotonic: () => performance.now(),
      uptime: () => Number.NaN,
    },
  });
  readonly #heardAt: Float64Array;
  readonly #releases: Array<() => void> = [];
  #running = 0;
  #ended = 0;
  #firstDueAt = Number.POSITIVE_INFINITY;
  #system: JobsSystem | undefined;

  private constructor(jobs: number, options: MeasureOptions) {
    this.#jobs = jobs;
    this.#warmUp = Math.ceil(jobs * WARM_UP_SHARE);
    this.#options = options;
    this.#due = jobs / DUE_SHARE;
    this.#heardAt = new Float64Array(this.#due);
  }

  /** Resolves when the jobs of the warm-up run. */
  static async start(
    jobs: number,
    directory: string,
    options: MeasureOptions,
  ): Promise<HeldPopulation> {
    const population = new HeldPopulation(jobs, options);
    await population.#start(directory);
    return population;
  }

  async #start(directory: string): Promise<void> {
    this.#system = await startSystem({
      workers: Math.ceil(this.#jobs / PER_WORKER),
      cores: CORES,
      handlers: {
        held: (context) => this.#hold(context),
        released: () => new Promise((resolve) => this.#releases.push(() => resolve('done'))),
      },
      store: lmdbStore(directory),
      clock: this.#clock,
      onEnd: (end) => this.#hear(end),
    });
    await closedLoop(this.#warmUp, IN_FLIGHT, (index) =>
      this.#submit(`warm-${index}`, 'released', DAY_MS),
    );
    await until('those of the warm-up run', LIMIT_MS, () => this.#releases.length === this.#warmUp);
  }

  /** Brings all to work. @throws {Error} when that takes until the first deadline. */
  async bear(): Promise<Ramp> {
    const jobs = this.#jobs;
    const startedAt = this.#clock.now();
    const tenthsAt: number[] = [];
    await closedLoop(jobs, IN_FLIGHT, async (index) => {
      if (this.#ended > 0) throw this.#tooSlow(startedAt);
      await this.#submit(`j${index}`, 'held', this.#timeoutOf(index, startedAt));
      if (index % (jobs * TELL_EVERY) !== 0) return;
      tenthsAt.push(this.#clock.now());
      this.#options.progress(`  ${index} jobs after ${this.#clock.now() - startedAt} ms`);
    });
    await until('all run', LIMIT_MS, () => this.#doAllRun() || this.#ended > 0);
    const rampMs = this.#clock.now() - startedAt;
    if (this.#clock.now() >= this.#firstDueAt) throw this.#tooSlow(startedAt);
    this.#options.progress(`  all run after ${rampMs} ms`);
    return {
      rampMs,
      rampJobsPerSecond: Math.round((jobs * 1_000) / rampMs),
      firstTenthMs: (tenthsAt[1] ?? Number.NaN) - startedAt,
      lastTenthMs: startedAt + rampMs - (tenthsAt.at(-1) ?? Number.NaN),
    };
  }

  /** Waits for those that are due and looks at what is committed. */
  async end(): Promise<Lateness> {
    const system = this.#system as JobsSystem;
    if (this.#clock.now() >= this.#firstDueAt)
      throw new Error('Deadlines came while memory was measured.');
    const due = this.#due;
    await until('those that are due have timed out', LIMIT_MS, () => this.#ended === due);
    this.#options.progress('  those that were due have ended');
    const decided = new Float64Array(due);
    const heard = new Float64Array(due);
    for (let index = 0; index < due; index += 1) {
      const jobId = `j${this.#jobs - due + index}`;
      const job = system.manager.runtime.actor(jobAddress(jobId, DATACENTER));
      const { startedAt, timeoutMs, endedAt, reason } = job.getSnapshot().context;
      const dueAt = startedAt + timeoutMs;
      decided[index] = (endedAt ?? Number.NaN) - dueAt;
      heard[index] = (this.#heardAt[index] as number) - dueAt;
      if (reason !== 'overall' || !((decided[index] as number) > 0))
        throw new Error(`Job ${jobId} ended ${decided[index]} ms after its deadline: ${reason}.`);
    }
    const left = this.#jobs + this.#warmUp - due;
    await until('the others run on', LIMIT_MS, () => this.#atWork() === left);
    return { decided, heard };
  }

  /** Most are held for a day. */
  #timeoutOf(index: number, startedAt: number): number {
    const place = index - (this.#jobs - this.#due);
    if (place < 0) return DAY_MS;
    const now = this.#clock.now();
    if (place === 0) {
      // The last ones before it took longest of all.
      const expectedMs = ((now - startedAt) * this.#due) / Math.max(1, index);
      this.#firstDueAt =
        now +
        Math.ceil(
          RAMP_RESERVE * expectedMs + Math.max(RESERVE_MIN_MS, RESERVE_PER_JOB_MS * this.#jobs),
        );
    }
    return this.#firstDueAt + Math.floor((place * SPREAD_MS) / this.#due) - now;
  }

  /** Judged by their records: a handler may have begun twice, where a worker was slow to answer. */
  #doAllRun(): boolean {
    if (this.#running < this.#jobs) return false;
    return this.#atWork() === this.#jobs + this.#warmUp;
  }

  #atWork(): number | undefined {
    return this.#system?.count({ kind: 'workflow', state: 'RUNNING' });
  }

  #tooSlow(startedAt: number): Error {
    const tookMs = this.#clock.now() - startedAt;
    return new Error(
      `${this.#running} of ${this.#jobs} jobs ran when the first ended (${tookMs} ms).`,
    );
  }

  async #submit(jobId: string, handler: string, timeoutMs: number): Promise<void> {
    // None makes progress: being stuck is watched, and comes long after the timeout.
    const terms = { timeoutMs, stuckThresholdMs: DAY_MS };
    await this.#system?.submit({ jobId, ...terms, workflows: [{ id: 'w', handler }] });
  }

  /** Until it is told to stop. */
  #hold({ signal }: HandlerContext): Promise<never> {
    this.#running += 1;
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }

  #hear({ jobId, heardAt }: JobEnd): void {
    if (jobId.startsWith('warm-')) return;
    this.#heardAt[Number(jobId.slice(1)) - (this.#jobs - this.#due)] = heardAt;
    this.#ended += 1;
  }
}
