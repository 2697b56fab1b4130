/**
 * A manager put together from the parts of programs/jobs/manager.ts, so that the machine of its jobs
 * can be another: the product's, or the same without its deadlines.
 *
 * Without deadlines a job is dispatched, runs and ends as ever; nothing of it waits for a moment,
 * and no repair sweep looks at it. Both kinds of manager are made here, so they differ in nothing
 * else. For measurements only.
 */

import { createRuntime, memoryStore } from '../index.ts';
import { jobsServiceAddress, workerPoolAddress } from '../machines/jobs/addresses.ts';
import { jobSetup } from '../machines/jobs/job/setup.ts';
import { jobMachine } from '../machines/jobs/job.ts';
import { jobsServiceMachine, READS } from '../machines/jobs/jobs-service.ts';
import { workerHealthMachine } from '../machines/jobs/worker-health.ts';
import { workerPoolMachine } from '../machines/jobs/worker-pool.ts';
import { workflowMachine } from '../machines/jobs/workflow.ts';
import { healthRules, resolveConfiguration } from '../programs/jobs/configuration.ts';
import { Counters } from '../programs/jobs/counters.ts';
import { admitToService } from '../programs/jobs/jobs-service/admission.ts';
import { Permissions } from '../programs/jobs/jobs-service/permissions.ts';
import { JOBS_LIMITS } from '../programs/jobs/limits.ts';
import { logPerformer } from '../programs/jobs/log-events.ts';
import {
  admitToHealth,
  admitToJob,
  admitToPool,
  admitToWorkflow,
} from '../programs/jobs/manager/admission.ts';
import { Backlog } from '../programs/jobs/manager/backlog.ts';
import { servicePerformers } from '../programs/jobs/manager/jobs-service.ts';
import type { ManagerKinds, ManagerNode } from '../programs/jobs/manager/node.ts';
import { SheddingLog } from '../programs/jobs/manager/shedding-log.ts';
import { poolOptions, WORKFLOW_OPTIONS } from '../programs/jobs/manager/waiting.ts';
import type { ManagerOptions } from '../programs/jobs/manager.ts';
import { startSweep } from '../programs/jobs/sweep.ts';
import { SILENT_LOGGER } from '../runtime/base/limits.ts';
import { systemClock } from '../runtime/system/clock.ts';
import type { StartedManager } from './jobs-system.ts';

/** The chart of a job, as far as it is looked into here. */
interface Chart {
  readonly states?: Readonly<Record<string, Chart>>;
}

const TRACKING = ['active', 'authority', 'leading', 'localAuthority', 'tracking'];

/** A local job that nothing is tracked of. */
const untrackedJobMachine = jobSetup.createMachine(
  withEmptied(jobMachine.config as Chart, TRACKING) as Parameters<typeof jobSetup.createMachine>[0],
);

export const startTracking = (options: ManagerOptions): Promise<StartedManager> =>
  startWith(jobMachine, options, true);

export const startUntracking = (options: ManagerOptions): Promise<StartedManager> =>
  startWith(untrackedJobMachine as unknown as typeof jobMachine, options, false);

async function startWith(
  machine: typeof jobMachine,
  { datacenter, config: given, transport, store = memoryStore(), onNote }: ManagerOptions,
  isTracked: boolean,
): Promise<StartedManager> {
  const manager = `${datacenter}.manager-1`;
  const config = resolveConfiguration(given);
  const clock = systemClock();
  const counters = new Counters();
  const runtime = await createRuntime<ManagerKinds>({
    node: manager,
    place: datacenter,
    clock,
    store,
    limits: { ...JOBS_LIMITS, endedRetentionMs: config.jobRetentionMs },
    ...(transport !== undefined && { transport }),
  });
  const logger = SILENT_LOGGER;
  const permissions = new Permissions({ gates: [] });
  const who = { datacenter, manager, gates: [], permissions };
  const now = () => clock.now();
  const backlog = new Backlog(config, now);
  const shedding = new SheddingLog({ datacenter, logger, now });
  const ending = new AbortController().signal;
  const parts = { config, clock, logger, counters, backlog, shedding };
  const peerUrl = () => undefined;
  const node: ManagerNode = { ...who, ...parts, peerUrl, runtime, ending };
  const perform = {
    note: logPerformer(logger, counters, onNote, (note) => backlog.hear(note)),
  };
  runtime.register('job', machine, { perform, admit: admitToJob(new Set(), datacenter) });
  runtime.register('workflow', workflowMachine, {
    ...WORKFLOW_OPTIONS,
    perform,
    admit: admitToWorkflow,
  });
  runtime.register('worker-health', workerHealthMachine, { perform, admit: admitToHealth });
  runtime.register('worker-pool', workerPoolMachine, {
    ...poolOptions(() => node, perform.note),
    admit: admitToPool,
  });
  runtime.register('desk', jobsServiceMachine, {
    perform: servicePerformers(node),
    admit: admitToService(node),
    questions: READS,
  });
  const term = runtime.fence;
  await runtime.spawn(workerPoolAddress(datacenter), {
    input: { datacenter, term, rules: healthRules(config), queueMax: config.queueMax },
  });
  await runtime.spawn(jobsServiceAddress(datacenter));
  const swept = isTracked ? [{ kind: 'job', machine, strategy: 'sweep' }] : [];
  const endSweep = startSweep(node, perform.note, config.checkIntervalMs, swept);
  return {
    runtime,
    stop: async () => {
      endSweep();
      await runtime.stop();
    },
  };
}

/** The same chart with nothing in the state at the end of the path. */
function withEmptied(chart: Chart, [name, ...rest]: readonly string[]): Chart {
  if (name === undefined) return {};
  const inner = chart.states?.[name];
  if (inner === undefined) throw new Error(`The chart of a job has no state "${name}" there.`);
  return { ...chart, states: { ...chart.states, [name]: withEmptied(inner, rest) } };
}
