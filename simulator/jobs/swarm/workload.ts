/**
 * Workload of the clients, operators and workers of a run: jobs, and what is asked about them.
 *
 * The weights of actions are drawn for each run, a fifth of them is 0, so that runs differ in kind
 * and not only in detail.
 */

import type { JobsConfiguration } from '../../../programs/jobs/configuration.ts';
import type { Edges } from '../../faults.ts';
import type { Chance } from '../../world.ts';
import { gatesOf, workersOf } from '../names.ts';
import type { PlannedJob, PlannedWorkflow, Step, Topology } from '../plan.ts';
import { addJob } from './job-edges.ts';
import { drawServiceQuestions } from './questions.ts';

export interface WorkloadOptions {
  readonly topology: Topology;
  readonly config: JobsConfiguration;
  readonly jobs: number;
  /** Everything is asked for before this. */
  readonly untilMs: number;
  /** Each moment that is drawn, and what is due because of it. */
  readonly edges: Edges;
}

const TIMEOUTS_MS = [
  1,
  1_000,
  29_900,
  30_000,
  60_000,
  120_000,
  300_000,
  600_000,
  3_600_000,
  86_400_000,
  25 * 86_400_000,
  60 * 86_400_000,
];
const ACTIONS = ['cancel', 'get', 'extendJob', 'extend', 'submitAgain', 'conflict'] as const;
type Action = (typeof ACTIONS)[number];
const ACTIONS_PER_JOB = 3;
const SILENT_WEIGHT_PROBABILITY = 0.2;
const REQUESTS_PROBABILITY = 0.2;
/** Otherwise a run asks with what it last reported, items included. */
const OWN_PROGRESS_PROBABILITY = 0.7;
/** More than are granted by default. */
const REQUESTS_MAX = 12;
const REASONS = ['long_workflow', 'gc_pause', 'resource_contention'];

export function drawWorkload(chance: Chance, options: WorkloadOptions): readonly Step[] {
  const { jobs, edges, untilMs, config } = options;
  const weights = ACTIONS.map((action) => {
    const weight = chance.whole(1, 10);
    return [action, chance.is(SILENT_WEIGHT_PROBABILITY) ? 0 : weight] as const;
  });
  const steps: Step[] = [];
  const planned: PlannedJob[] = [];
  const submissions: Array<{ readonly atMs: number; readonly job: PlannedJob }> = [];
  for (let number = 1; number <= jobs; number++) {
    const job = drawJob(chance, `j${number}`, options);
    const atMs = chance.is(0.5) ? 0 : edges.draw(chance, 0, Math.floor(untilMs / 3));
    addJob(edges, config, job, atMs);
    planned.push(job);
    submissions.push({ atMs, job });
    steps.push({ atMs, do: 'submit', job });
    const actions = weights.some(([, weight]) => weight > 0) ? chance.whole(0, ACTIONS_PER_JOB) : 0;
    for (let count = 0; count < actions; count++) {
      const action = chance.weighted(weights);
      const step = drawAction(action, job, edges.draw(chance, atMs, untilMs), chance, options);
      if (step !== undefined) steps.push(step);
    }
  }
  // Drawn last, so that they move nothing else.
  for (const job of planned) steps.push(...drawRequests(chance, job, options));
  for (const { atMs, job } of submissions)
    steps.push(...drawServiceQuestions(chance, { job, submittedAtMs: atMs }, options));
  return steps.sort((one, other) => one.atMs - other.atMs);
}

function drawJob(chance: Chance, jobId: string, options: WorkloadOptions): PlannedJob {
  const { topology, config } = options;
  const datacenters = Object.keys(topology.datacenters);
  const gates = gatesOf(topology);
  const isDirect = gates.length === 0 || chance.is(0.2);
  const to = isDirect ? chance.pick(datacenters) : chance.pick(gates);
  const isPartial = !isDirect && chance.is(0.3);
  const some = chance.shuffled(datacenters).slice(0, chance.whole(1, datacenters.length));
  const timeoutMs = chance.is(0.5)
    ? chance.pick(TIMEOUTS_MS)
    : Math.round(chance.scaled(1_000, 1_800_000));
  const workflows = drawWorkflows(chance, timeoutMs, config);
  return {
    jobId,
    to,
    ...(isPartial && { datacenters: some.sort() }),
    timeoutMs,
    ...(chance.is(0.15) && { failFast: chance.is(0.5) }),
    ...(chance.is(0.2) && { stuckThresholdMs: Math.round(chance.scaled(1_000, 600_000)) }),
    ...(chance.is(0.1) && {
      datacenterTimeoutQuorum: chance.pick(['any', 'majority', 'all'] as const),
    }),
    workflows,
  };
}

function drawWorkflows(
  chance: Chance,
  timeoutMs: number,
  config: JobsConfiguration,
): readonly PlannedWorkflow[] {
  const count = chance.is(0.75) ? chance.whole(1, 3) : chance.is(0.85) ? chance.whole(4, 12) : 0;
  const workflows: PlannedWorkflow[] = [];
  for (let number = 1; number <= count; number++) {
    const before = workflows.map(({ id }) => id);
    const dependsOn = number > 1 && chance.is(0.3) ? chance.some(before, 0.4) : [];
    workflows.push({
      id: `w${number}`,
      ...drawWork(chance, timeoutMs, config),
      ...(dependsOn.length > 0 && { dependsOn }),
      ...(chance.is(0.15) && { cores: chance.whole(1, 4) }),
    });
  }
  return workflows;
}

type WorkKind = 'steady' | 'exact' | 'stuck' | 'endless' | 'silent' | 'failing';

/** Steady, slow, stuck, failing, or done in the moment in which its time is over. */
function drawWork(
  chance: Chance,
  timeoutMs: number,
  config: JobsConfiguration,
): Partial<PlannedWorkflow> {
  const limitMs = Math.min(timeoutMs, 900_000);
  const someMs = Math.round(chance.scaled(1, Math.max(2, limitMs * 2)));
  const kind = chance.weighted<WorkKind>([
    ['steady', 5],
    ['exact', 2],
    ['stuck', 3],
    ['endless', 1],
    ['silent', 1],
    ['failing', 2],
  ]);
  const more: Partial<PlannedWorkflow> = {
    ...(chance.is(0.3) && { progressEveryMs: Math.round(chance.scaled(200, 60_000)) }),
    ...(chance.is(0.1) && { completesItems: chance.whole(1, 1_000) }),
    ...(chance.is(0.1) && { ignoresCancel: true }),
    ...(chance.is(0.05) && { rejects: chance.whole(1, 3) }),
  };
  switch (kind) {
    case 'steady':
      return { runsMs: Math.round(chance.scaled(1, 300_000)), ...more };
    case 'exact':
      return {
        runsMs: Math.max(0, limitMs + chance.pick([-100, -52, -51, -50, -2, -1, 0, 1, 50])),
        ...more,
      };
    case 'stuck':
      return {
        runsMs: someMs,
        stopsProgressAtMs: Math.min(someMs, config.stuckThresholdMs),
        ...more,
      };
    case 'endless':
      return { runsMs: null, ...more };
    case 'silent':
      return { runsMs: someMs, ...more, progressEveryMs: null };
    case 'failing':
      return {
        runsMs: Math.round(chance.scaled(1, 60_000)),
        failsTimes: chance.whole(1, 5),
        ...more,
      };
  }
}

/** Now and then the runs of a job ask for extensions again and again, each time a little further. */
function drawRequests(
  chance: Chance,
  { jobId }: PlannedJob,
  { topology, edges, untilMs }: WorkloadOptions,
): readonly Step[] {
  const worker = drawWorker(chance, topology);
  if (!chance.is(REQUESTS_PROBABILITY) || worker === undefined) return [];
  const count = chance.whole(2, REQUESTS_MAX);
  const firstMs = edges.draw(chance, 0, untilMs);
  const pauseMs = Math.round(chance.scaled(10, 10_000));
  const reason = chance.pick(REASONS);
  return Array.from({ length: count }, (_, index) => ({
    atMs: firstMs + index * pauseMs,
    do: 'extend' as const,
    worker,
    jobId,
    ...(chance.is(OWN_PROGRESS_PROBABILITY) && { progress: (index + 1) / count }),
    reason,
  })).filter(({ atMs }) => atMs <= untilMs);
}

function drawWorker(chance: Chance, topology: Topology): string | undefined {
  const workers = Object.keys(topology.datacenters).flatMap((datacenter) =>
    workersOf(topology, datacenter),
  );
  return workers.length === 0 ? undefined : chance.pick(workers);
}

function drawAction(
  action: Action,
  job: PlannedJob,
  atMs: number,
  chance: Chance,
  { topology, config }: WorkloadOptions,
): Step | undefined {
  const { jobId, to } = job;
  switch (action) {
    case 'cancel':
    case 'get':
      return { atMs, do: action, jobId, to };
    case 'extendJob':
      return { atMs, do: action, jobId, to, byMs: Math.round(chance.scaled(1, 600_000)) };
    case 'extend': {
      if (Object.values(topology.datacenters).every(({ workers }) => workers === 0))
        return undefined;
      const progress = chance.is(0.9)
        ? chance.whole(0, 100) / 100
        : chance.pick([-1, 2, 'NaN', 'half']);
      return {
        atMs,
        do: action,
        worker: drawWorker(chance, topology) as string,
        ...(chance.is(OWN_PROGRESS_PROBABILITY) && { progress }),
        reason: chance.pick(REASONS),
      };
    }
    case 'submitAgain':
      return { atMs, do: 'submit', job };
    case 'conflict':
      return { atMs, do: 'submit', job: { ...job, timeoutMs: job.timeoutMs + config.leaseMs } };
  }
}
