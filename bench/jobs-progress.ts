/**
 * Progress per second: from a report of a worker to the durable `lastProgressAt` of its job.
 *
 * 1,000 jobs run on ten workers, one report of each job is under way at a time. A handler may
 * report once a second, so the reports are sent as a worker's process sends those of many handlers:
 * as hints of its runtime to the workflow, which passes what has risen on to the job. A report
 * counts when the job's turn is on disk. Afterwards every workflow has the last count of items
 * that was sent, every job a `lastProgressAt` that is not before the moment it was sent.
 */

import { rmSync } from 'node:fs';
import { lmdbStore } from '../index.ts';
import { attemptIdOf, jobAddress, workflowAddress } from '../machines/jobs/addresses.ts';
import type { JobWorker } from '../programs/jobs/worker.ts';
import { closedLoop } from './closed-loop.ts';
import { DATACENTER, type JobsSystem, startSystem, until, within } from './jobs-system.ts';
import { newDirectory } from './node-program.ts';
import { type Case, interleave, median, rangeOf, ratios, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const JOBS = 1_000;
const WORKERS = 10;
const REPORTS = 40_000;
const QUICK_SHARE = 0.25;
/** Submissions under way while the jobs are brought to work. */
const SUBMISSIONS = 128;
const TIMEOUT_MS = 3_600_000;
const RUNNING_LIMIT_MS = 120_000;
const REPORT_LIMIT_MS = 30_000;
/** The runtime's clock and the system's differ by rounding, and by how the latter is slewed. */
const CLOCK_STEP_MS = 5;

export const jobsProgress: Field = {
  name: 'progressPerSec',
  about: "progress reports of workers per second, each on disk in its job's record",
  better: 'higher',
  goal: 5_000,
  stretch: 10_000,
  measure,
};

interface Contender extends Case {
  end(): Promise<void>;
}

async function measure(options: MeasureOptions): Promise<Measured> {
  const directory = newDirectory('progress');
  try {
    return await measureIn(directory, options);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measureIn(directory: string, options: MeasureOptions): Promise<Measured> {
  const reports = REPORTS * (options.isQuick ? QUICK_SHARE : 1);
  const contenders = [
    await contender('durable', reports, lmdbStore(directory)),
    await contender('inMemory', reports),
  ];
  const raw = await interleave(contenders, options);
  for (const { end } of contenders) await end();
  const durable = raw.durable ?? [];
  return {
    value: rounded(median(durable)),
    range: rangeOf(durable),
    rounds: durable.length,
    details: {
      jobs: JOBS,
      workers: WORKERS,
      reportsPerSample: reports,
      reportsPerSecond: Object.fromEntries(
        Object.entries(raw).map(([name, samples]) => [name, summary(samples)]),
      ),
      durableVsInMemory: summary(ratios(raw, 'durable', 'inMemory')),
    },
    raw,
  };
}

async function contender(
  name: string,
  reports: number,
  store?: ReturnType<typeof lmdbStore>,
): Promise<Contender> {
  const releases: Array<(value: string) => void> = [];
  const system = await startSystem({
    workers: WORKERS,
    // A tenth to spare, so that every job gets its place at once.
    cores: Math.ceil((JOBS / WORKERS) * 1.1),
    handlers: { held: () => new Promise((resolve) => releases.push(resolve)) },
    ...(store !== undefined && { store }),
  });
  const ends: Array<Promise<unknown>> = [];
  await closedLoop(JOBS, SUBMISSIONS, (index) => {
    const jobId = jobIdOf(index);
    ends.push(system.end(jobId));
    const workflows = [{ id: 'w', handler: 'held' }];
    return system.submit({ jobId, timeoutMs: TIMEOUT_MS, workflows });
  });
  await until('all jobs run', RUNNING_LIMIT_MS, () => releases.length === JOBS);
  await until('the datacenter is at rest', RUNNING_LIMIT_MS, () => system.isAtRest);
  const reporters = Array.from({ length: JOBS }, (_, index) => new Reporter(system, index));
  return {
    name,
    async run() {
      const startedAt = performance.now();
      const all = Promise.all(reporters.map((reporter) => reporter.send(reports / JOBS)));
      await within('all reports are taken', REPORT_LIMIT_MS, all);
      const perSecond = (reports * 1_000) / (performance.now() - startedAt);
      for (const reporter of reporters) reporter.check();
      return perSecond;
    },
    async end() {
      for (const release of releases) release('done');
      await Promise.all(ends);
      await system.check({ completed: JOBS });
      await system.stop();
    },
  };
}

const jobIdOf = (index: number): string => `j${index}`;

/** Reports for one job, each when the one before is on disk. */
class Reporter {
  readonly #runtime: JobsSystem['manager']['runtime'];
  readonly #worker: JobWorker;
  readonly #jobId: string;
  readonly #workflow: `workflow/${string}`;
  #completedItems = 0;
  #sentAt = 0;
  #taken: () => void = () => {};

  constructor({ manager, workers }: JobsSystem, index: number) {
    this.#runtime = manager.runtime;
    this.#jobId = jobIdOf(index);
    this.#workflow = workflowAddress(this.#jobId, 'w', DATACENTER);
    const { slot } = this.#runtime.actor(this.#workflow).getSnapshot().context;
    const worker = workers.find(({ id }) => id === slot?.workerId);
    if (worker === undefined) throw new Error(`${this.#workflow} has no worker.`);
    this.#worker = worker;
    // A job that only runs has no turns but those of its reports.
    this.#job.subscribe(() => this.#taken());
  }

  async send(reports: number): Promise<void> {
    for (let report = 0; report < reports; report += 1) {
      const taken = new Promise<void>((resolve) => {
        this.#taken = resolve;
      });
      this.#completedItems += 1;
      this.#sentAt = Date.now();
      this.#worker.runtime.actor(this.#workflow as never).hint({
        type: 'progress.received',
        workerId: this.#worker.id,
        jobId: this.#jobId,
        attemptId: attemptIdOf('w', 1),
        progress: 0.5,
        completedItems: this.#completedItems,
        sinceProgressMs: 0,
      } as never);
      await taken;
    }
  }

  /** What was sent last is what the committed records say. */
  check(): void {
    const { completedItems } = this.#runtime.actor(this.#workflow).getSnapshot().context;
    const { lastProgressAt } = this.#job.getSnapshot().context;
    if (completedItems !== this.#completedItems || lastProgressAt < this.#sentAt - CLOCK_STEP_MS)
      throw new Error(
        `Job ${this.#jobId}: ${completedItems} items of ${this.#completedItems}, progress at ${lastProgressAt}, sent at ${this.#sentAt}.`,
      );
  }

  get #job() {
    return this.#runtime.actor(jobAddress(this.#jobId, DATACENTER));
  }
}
