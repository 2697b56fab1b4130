/**
 * Manager: hosts a datacenter's jobs while it leads, stands by while another does.
 *
 * Guarantees: what it has acknowledged survives it; whichever manager of the datacenter leads next
 * goes on at the same deadlines. All managers of a datacenter share one store and one lease.
 */

import { createRuntime } from '../../create-runtime.ts';
import { jobsServiceAddress, workerPoolAddress } from '../../machines/jobs/addresses.ts';
import { type JobContext, jobMachine } from '../../machines/jobs/job.ts';
import { jobsServiceMachine } from '../../machines/jobs/jobs-service.ts';
import { workerHealthMachine } from '../../machines/jobs/worker-health.ts';
import { workerPoolMachine } from '../../machines/jobs/worker-pool.ts';
import { workflowMachine } from '../../machines/jobs/workflow.ts';
import type { Performer } from '../../runtime/actor.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import { SPAWN_EVENT } from '../../runtime/machine.ts';
import { healthRules, type JobsConfiguration, resolveConfiguration } from './configuration.ts';
import { Counters } from './counters.ts';
import { type HostOptions, runtimeOptions, SERVICE_OPTIONS } from './host.ts';
import { admitToService } from './jobs-service/admission.ts';
import { jobRank } from './jobs-service/job-order.ts';
import { Permissions } from './jobs-service/permissions.ts';
import { logPerformer } from './log-events.ts';
import {
  admitToHealth,
  admitToJobOf,
  admitToPool,
  admitToWorkflow,
  withinReach,
} from './manager/admission.ts';
import { Backlog, type BacklogView } from './manager/backlog.ts';
import { observeDatacenter } from './manager/gauges.ts';
import { servicePerformers } from './manager/jobs-service.ts';
import { HEALTH_OPTIONS, JOB_OPTIONS } from './manager/migrations.ts';
import type { ManagerKinds, ManagerNode } from './manager/node.ts';
import { observedJobs } from './manager/observed.ts';
import { recountBacklog } from './manager/recount.ts';
import { SheddingLog } from './manager/shedding-log.ts';
import { poolOptions, renewUnranked, WORKFLOW_OPTIONS } from './manager/waiting.ts';
import { type Recommendation, type RecommendOptions, recommend } from './recommend.ts';
import { onceThereIsRoom } from './room.ts';
import { startSweep } from './sweep.ts';

export interface ManagerOptions extends HostOptions {
  /** The datacenter whose jobs it hosts: the place of all its actors. */
  readonly datacenter: string;
  /** Name of this manager among all nodes. Default: the datacenter's name and `.manager-1`. */
  readonly manager?: string;
  /** The gates that may send jobs here. Default: none. */
  readonly gates?: readonly string[];
}

export interface Manager {
  readonly datacenter: string;
  readonly manager: string;
  readonly runtime: ManagerNode['runtime'];
  readonly config: JobsConfiguration;
  readonly counters: Counters;
  /** Backlog of the datacenter: what waits to begin, as far as this manager leads it. */
  readonly backlog: BacklogView;
  /** True while this manager leads its datacenter. */
  readonly isLeading: boolean;
  /** Timeouts that would fit the jobs completed here, as far as their records are kept. */
  recommend(options?: RecommendOptions): Recommendation | undefined;
  stop(): Promise<void>;
  /** Ends as if the process had died; for tests. */
  crash(): void;
}

const SWEPT = [
  { kind: 'job', machine: jobMachine, strategy: 'sweep' },
  { kind: 'workflow', machine: workflowMachine },
  { kind: 'worker-health', machine: workerHealthMachine },
  { kind: 'worker-pool', machine: workerPoolMachine },
];

/** @throws {RuntimeError} OPTION_INVALID, ABORTED */
export async function startManager(options: ManagerOptions): Promise<Manager> {
  const config = resolveConfiguration(options.config);
  const { datacenter, manager = `${datacenter}.manager-1` } = options;
  const { gates = [], operators, transport, signal } = options;
  const ports = runtimeOptions(options, config);
  const { clock, logger } = ports;
  const counters = new Counters();
  const backlog = new Backlog(config, () => clock.now());
  const note = logPerformer(logger, counters, options.onNote, (noted) => backlog.hear(noted));
  const ending = new AbortController();
  let program!: ManagerNode;
  let opened: Promise<void> | undefined;
  const runtime = await createRuntime<ManagerKinds>({
    ...ports,
    node: manager,
    place: datacenter,
    prepare: (spawned) => {
      program = {
        datacenter,
        manager,
        peerUrl: () => transport?.url,
        gates,
        permissions: new Permissions({ clients: options.clients, operators, gates }),
        config,
        clock,
        logger,
        counters,
        backlog,
        shedding: new SheddingLog({ datacenter, logger, now: () => clock.now() }),
        runtime: spawned,
        ending: ending.signal,
      };
      registerKinds(program, { note });
      observeDatacenter(program);
    },
    onHosting: (fence) => {
      opened = open(program);
      options.onHosting?.(fence);
    },
    onHostingEnded: (fence) => {
      backlog.clear();
      const fields = { event: 'leader.lost', at: clock.now(), datacenter, manager, term: fence };
      logger.warn(fields, 'leader.lost');
    },
  });
  if (runtime.isHosting) await opened;
  const endSweep = startSweep(program, note, config.checkIntervalMs, SWEPT);
  ending.signal.addEventListener('abort', endSweep, { once: true });
  const end = (): void => ending.abort();
  signal?.addEventListener('abort', end, { once: true });
  return {
    datacenter,
    manager,
    runtime,
    config,
    counters,
    get backlog() {
      return backlog.view();
    },
    get isLeading() {
      return runtime.isHosting;
    },
    recommend: (how) => recommend(observedJobs(program), how),
    stop() {
      end();
      return runtime.stop();
    },
    crash() {
      endSweep();
      runtime.crash();
    },
  };
}

function registerKinds(node: ManagerNode, perform: { readonly note: Performer }): void {
  const { runtime } = node;
  runtime.register('job', jobMachine, {
    ...JOB_OPTIONS,
    rank: jobRank<JobContext>(({ startedAt, endedAt }) => ({
      since: startedAt,
      hasEnded: endedAt !== null,
    })),
    perform,
    admit: admitToJobOf(node),
    newWork: [SPAWN_EVENT],
  });
  runtime.register('workflow', workflowMachine, {
    ...WORKFLOW_OPTIONS,
    perform,
    admit: withinReach(node, admitToWorkflow),
    newWork: [SPAWN_EVENT, 'workflow.ready', 'slot.granted'],
  });
  runtime.register('worker-health', workerHealthMachine, {
    ...HEALTH_OPTIONS,
    perform,
    admit: withinReach(node, admitToHealth),
  });
  runtime.register('worker-pool', workerPoolMachine, {
    ...poolOptions(() => node, perform.note),
    admit: withinReach(node, admitToPool),
  });
  runtime.register('desk', jobsServiceMachine, {
    perform: servicePerformers(node),
    admit: admitToService(node),
    ...SERVICE_OPTIONS,
  });
}

/** Opens what every datacenter has, from its first day on. */
async function openDatacenter(node: ManagerNode): Promise<void> {
  const { runtime, datacenter, config, logger, backlog } = node;
  backlog.clear();
  const { queueMax } = config;
  const input = { datacenter, term: runtime.fence, rules: healthRules(config), queueMax };
  const [pool] = await Promise.all([
    onceThereIsRoom(node, () =>
      runtime.spawn(workerPoolAddress(datacenter), { input, ifAbsent: true }),
    ),
    onceThereIsRoom(node, () => runtime.spawn(jobsServiceAddress(datacenter), { ifAbsent: true })),
  ]);
  // The pool is older than this process, and may have been told something else.
  if (pool.getSnapshot().context.queueMax !== queueMax)
    await onceThereIsRoom(node, () => pool.send({ type: 'limits.told', queueMax }));
  renewUnranked(node);
  recountBacklog(node).catch((thrown: unknown) => {
    logger.error({ datacenter, error: messageOf(thrown) }, 'what waits could not be counted');
  });
}

/** At the start the caller hears of a failure; after a takeover there is only the log. */
function open(node: ManagerNode): Promise<void> {
  const opened = openDatacenter(node);
  opened.catch((thrown: unknown) => {
    const { datacenter, logger } = node;
    logger.error({ datacenter, error: messageOf(thrown) }, 'the datacenter could not be opened');
  });
  return opened;
}
