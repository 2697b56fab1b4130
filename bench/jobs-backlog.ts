/**
 * A backlog that is worked off: 100,000 workflows wait, then one worker of 64 cores comes.
 *
 * Jobs of 16 workflows are accepted while there is no worker; then the worker is started, and the time runs
 * from its registration to the last handler. Handlers return at once, so what is measured is the
 * datacenter: who is next is found in the store's index. All must run, each once, and in the order in
 * which their jobs were accepted: none begins before one that was accepted more than 64 places ahead
 * of it. The second figure is how flat the rate is: the slower of the first and the last tenth
 * divided by the faster; the third is that of CPU time per workflow. One pass, since it takes its time.
 *
 * `--workflows` sets the number of workflows, in whole multiples of 160.
 */

import { rmSync } from 'node:fs';
import { lmdbStore } from '../index.ts';
import { workflowAddress } from '../machines/jobs/addresses.ts';
import { orderOf } from '../machines/jobs/ranks.ts';
import { closedLoop } from './closed-loop.ts';
import { DATACENTER, type JobsSystem, startSystem, until } from './jobs-system.ts';
import { newDirectory } from './node-program.ts';
import { collectGarbage, rounded } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const WORKFLOWS = 100_000;
const QUICK_WORKFLOWS = 8_000;
const EACH = 16;
const CORES = 64;
const SUBMISSIONS = 64;
const TIMEOUT_MS = 24 * 3_600_000;
/** Long enough for a tenth of what is expected. */
const LIMIT_MS = 1_800_000;

export const jobsBacklog: Field = {
  name: 'backlogPerSec',
  about: 'workflows per second of a backlog of 100,000 that 64 cores work off, on disk',
  better: 'higher',
  others: [
    {
      name: 'backlogFlatness',
      about: 'rate of the slower of the first and the last tenth ÷ that of the faster',
      better: 'higher',
      goal: 0.8,
      stretch: 0.9,
    },
    {
      name: 'backlogCpuFlatness',
      about: 'the same of CPU time per workflow, in which other work on the machine hardly shows',
      better: 'higher',
      goal: 0.8,
      stretch: 0.9,
    },
  ],
  measure,
};

/** When each workflow began, in the order of beginning. */
class Begun {
  readonly names: string[] = [];
  readonly at: number[] = [];
  /** CPU time of the process then, in µs. */
  readonly cpuUs: number[] = [];

  add(name: string): void {
    this.names.push(name);
    this.at.push(performance.now());
    this.cpuUs.push(cpuNow());
  }
}

const cpuNow = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

async function measure(options: MeasureOptions): Promise<Measured> {
  const total = options.sizes.workflows ?? (options.isQuick ? QUICK_WORKFLOWS : WORKFLOWS);
  const directory = newDirectory('backlog');
  try {
    return await measureIn(directory, total, options);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measureIn(
  directory: string,
  total: number,
  { progress }: MeasureOptions,
): Promise<Measured> {
  const begun = new Begun();
  const handlers = {
    atOnce: async ({ payload }: { readonly payload: unknown }) => begun.add(String(payload)),
  };
  const system = await startSystem({ workers: 0, cores: 0, handlers, store: lmdbStore(directory) });
  const jobs = total / EACH;
  const submittedAt = performance.now();
  await closedLoop(jobs, SUBMISSIONS, (job) => submit(system, `j${job}`));
  const submitMs = performance.now() - submittedAt;
  progress(`  ${total} workflows wait after ${Math.round(submitMs)} ms`);
  await until('all of them wait', LIMIT_MS, () => system.isAtRest);
  collectGarbage();
  const startedAt = performance.now();
  const startedCpuUs = cpuNow();
  await system.addWorker(CORES);
  await until('all have begun', LIMIT_MS, () => begun.names.length >= total);
  await until('nothing is under way', LIMIT_MS, () => system.isAtRest);
  const displacement = displacementOf(system, begun, jobs);
  await system.check({ completed: jobs }, { limitMs: LIMIT_MS, each: EACH });
  await system.stop();
  return measuredOf(begun, { startedAt, startedCpuUs, submitMs, displacement });
}

async function submit(system: JobsSystem, jobId: string): Promise<void> {
  const workflows = Array.from({ length: EACH }, (_, index) => ({
    id: `w${index}`,
    handler: 'atOnce',
    payload: `${jobId}/w${index}`,
  }));
  await system.submit({ jobId, timeoutMs: TIMEOUT_MS, workflows });
}

/** How many places at most one began before another that was accepted earlier. */
function displacementOf(system: JobsSystem, { names }: Begun, jobs: number): number {
  const orders = Array.from({ length: jobs * EACH }, (_, number) => {
    const jobId = `j${Math.floor(number / EACH)}`;
    const address = workflowAddress(jobId, `w${number % EACH}`, DATACENTER);
    const { acceptedAt, index } = system.manager.runtime.actor(address).getSnapshot().context;
    return { name: `${jobId}/w${index}`, order: orderOf({ acceptedAt, jobId, index }) };
  });
  orders.sort((one, other) => (one.order < other.order ? -1 : 1));
  const place = new Map(orders.map(({ name }, index) => [name, index]));
  if (new Set(names).size !== names.length || place.size !== names.length)
    throw new Error(`${names.length} began, ${new Set(names).size} of ${place.size} workflows.`);
  return names.reduce(
    (most, name, index) => Math.max(most, Math.abs((place.get(name) as number) - index)),
    0,
  );
}

interface Found {
  readonly startedAt: number;
  readonly startedCpuUs: number;
  readonly submitMs: number;
  readonly displacement: number;
}

/** What each tenth of them took, by a figure that rises while they begin. */
function tenthsOf(rising: readonly number[], begin: number): number[] {
  const ends = Array.from({ length: 10 }, (_, k) => rising[((k + 1) * rising.length) / 10 - 1]);
  return ends.map((end, k) => (end as number) - (k === 0 ? begin : (ends[k - 1] as number)));
}

/** The lower of the first and the last figure, divided by the higher. */
function flatnessOf(tenths: readonly number[]): number {
  const [first, last] = [tenths[0] as number, tenths.at(-1) as number];
  return Math.min(first, last) / Math.max(first, last);
}

function measuredOf({ at, cpuUs }: Begun, found: Found): Measured {
  const { startedAt, startedCpuUs, submitMs, displacement } = found;
  const total = at.length;
  const perSecond = tenthsOf(at, startedAt).map((ms) => rounded((total / 10 / ms) * 1_000));
  const cpuUsEach = tenthsOf(cpuUs, startedCpuUs).map((us) => rounded((us * 10) / total));
  const [first, last] = [perSecond[0] as number, perSecond[9] as number];
  const perSec = (total / ((at.at(-1) as number) - startedAt)) * 1_000;
  const one = (value: number) => ({
    value: rounded(value),
    range: [value, value] as const,
    rounds: 1,
  });
  return {
    ...one(perSec),
    others: {
      backlogFlatness: one(flatnessOf(perSecond)),
      backlogCpuFlatness: one(flatnessOf(cpuUsEach)),
    },
    details: {
      waiting: total,
      cores: CORES,
      allRan: true,
      inOrder: displacement <= CORES,
      displacement,
      firstTenthPerSec: first,
      lastTenthPerSec: last,
      firstToLast: rounded(first / last),
      tenthsPerSec: perSecond,
      cpuUsPerWorkflowOfTenths: cpuUsEach,
      submitMs: Math.round(submitMs),
      note: 'one pass',
    },
    raw: { tenthsPerSec: perSecond, cpuUsPerWorkflowOfTenths: cpuUsEach },
  };
}
