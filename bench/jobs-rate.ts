/**
 * Jobs per second through the whole system: submitted, acknowledged, dispatched, run, completed.
 *
 * Each job has one workflow, whose handler returns at once. 256 jobs are in flight in a closed
 * loop: the next is submitted when one before is acknowledged and its end is committed. Manager,
 * worker and client are in this process, on the in-process network. On LMDB in a new directory on
 * the disk that the project is on, every turn is on disk before anybody hears of it. The end is
 * heard from the manager's notes, which leave when the turn of the end is committed; what it costs
 * to wait through the client instead is a detail.
 */

import { rmSync } from 'node:fs';
import { lmdbStore, type memoryStore } from '../index.ts';
import { closedLoop } from './closed-loop.ts';
import { type JobsSystem, startSystem } from './jobs-system.ts';
import { newDirectory } from './node-program.ts';
import { type Case, interleave, median, rangeOf, ratios, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const JOBS = 4_000;
const QUICK_SHARE = 0.25;
const IN_FLIGHT = 256;
const CORES = 1_024;
const TIMEOUT_MS = 3_600_000;
/** As many workers as one detail has, each with its share of the cores. */
const MANY_WORKERS = 16;

export const jobsRate: Field = {
  name: 'jobsPerSec',
  about: 'jobs of one workflow from submission to committed end, on disk, 256 in flight',
  better: 'higher',
  goal: 2_500,
  stretch: 4_000,
  measure,
};

/** How the end of a job is waited for. */
type Waiting = 'notes' | 'clientWait';

interface Contender extends Case {
  check(): Promise<void>;
}

async function measure(options: MeasureOptions): Promise<Measured> {
  const directories = ['jobs', 'wait', 'workers'].map(newDirectory);
  try {
    return await measureIn(directories, options);
  } finally {
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  }
}

async function measureIn(
  directories: readonly string[],
  options: MeasureOptions,
): Promise<Measured> {
  const jobs = JOBS * (options.isQuick ? QUICK_SHARE : 1);
  const [one, two, three] = directories.map((directory) => lmdbStore(directory));
  const contenders = [
    await contender('durable', { jobs, store: one, waiting: 'notes', workers: 1 }),
    await contender('inMemory', { jobs, waiting: 'notes', workers: 1 }),
    await contender('durableClientWait', { jobs, store: two, waiting: 'clientWait', workers: 1 }),
    await contender('durableManyWorkers', {
      jobs,
      store: three,
      waiting: 'notes',
      workers: MANY_WORKERS,
    }),
  ];
  const raw = await interleave(contenders, options);
  for (const { check } of contenders) await check();
  const durable = raw.durable ?? [];
  return {
    value: rounded(median(durable)),
    range: rangeOf(durable),
    rounds: durable.length,
    details: {
      jobsPerSample: jobs,
      inFlight: IN_FLIGHT,
      waitedBy:
        'the log event of the committed end, at the manager; durableClientWait by client.wait',
      workers: `1 of ${CORES} cores; durableManyWorkers ${MANY_WORKERS}`,
      jobsPerSecond: Object.fromEntries(
        Object.entries(raw).map(([name, samples]) => [name, summary(samples)]),
      ),
      durableVsInMemory: summary(ratios(raw, 'durable', 'inMemory')),
    },
    raw,
  };
}

interface Parts {
  readonly jobs: number;
  readonly store?: ReturnType<typeof lmdbStore> | ReturnType<typeof memoryStore> | undefined;
  readonly waiting: Waiting;
  readonly workers: number;
}

async function contender(
  name: string,
  { jobs, store, waiting, workers }: Parts,
): Promise<Contender> {
  const system = await startSystem({
    workers,
    cores: CORES / workers,
    handlers: { atOnce: async () => 'done' },
    ...(store !== undefined && { store }),
  });
  let submitted = 0;
  return {
    name,
    async run() {
      const first = submitted;
      submitted += jobs;
      const startedAt = performance.now();
      await closedLoop(jobs, IN_FLIGHT, (index) => complete(system, `j${first + index}`, waiting));
      return (jobs * 1_000) / (performance.now() - startedAt);
    },
    async check() {
      await system.check({ completed: submitted });
      await system.stop();
    },
  };
}

async function complete(system: JobsSystem, jobId: string, waiting: Waiting): Promise<void> {
  const workflows = [{ id: 'w', handler: 'atOnce' }];
  const ended = waiting === 'notes' ? system.end(jobId) : undefined;
  await system.submit({ jobId, timeoutMs: TIMEOUT_MS, workflows });
  const { status } = await (ended ?? system.client.wait(jobId));
  if (status !== 'completed') throw new Error(`Job ${jobId} is ${status}.`);
}
