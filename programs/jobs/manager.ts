/**
 * Manager: hosts a datacenter's jobs while it leads, stands by while another does.
 *
 * Guarantees: what it has acknowledged survives it; whichever manager of the datacenter leads next
 * goes on at the same deadlines. All managers of a datacenter share one store and one lease.
 */

import { createRuntime } from '../../create-runtime.ts';
import { jobsServiceAddress, workerPoolAddress } from '../../machines/jobs/addresses.ts';
import { type JobContext, jobMachine } from '../../machines/jobs/job.ts';
import { jobsServiceMachine, READS } from '../../machines/jobs/jobs-service.ts';
import type { LogEvent } from '../../machines/jobs/log-events.ts';
import { workerHealthMachine } from '../../machines/jobs/worker-health.ts';
import { workerPoolMachine } from '../../machines/jobs/worker-pool.ts';
import { workflowMachine } from '../../machines/jobs/workflow.ts';
import type { Performer } from '../../runtime/actor.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import type { InspectionReader } from '../../runtime/base/inspection.ts';
import { type Logger, type RuntimeLimits, SILENT_LOGGER } from '../../runtime/base/limits.ts';
import { SPAWN_EVENT } from '../../runtime/machine.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Lease } from '../../runtime/ports/lease.ts';
import type { Random } from '../../runtime/ports/random.ts';
import type { Store } from '../../runtime/ports/store.ts';
import type { Transport } from '../../runtime/ports/transport.ts';
import { systemClock } from '../../runtime/system/clock.ts';
import { systemRandom } from '../../runtime/system/random.ts';
import { healthRules, type JobsConfiguration, resolveConfiguration } from './configuration.ts';
import { Counters } from './counters.ts';
import { admitToService } from './jobs-service/admission.ts';
import { jobRank } from './jobs-service/job-order.ts';
import { type ClientGrant, Permissions } from './jobs-service/permissions.ts';
import { jobsLimits } from './limits.ts';
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

export interface ManagerOptions {
  /** The datacenter whose jobs it hosts: the place of all its actors. */
  readonly datacenter: string;
  /** Name of this manager among all nodes. Default: the datacenter's name and `.manager-1`. */
  readonly manager?: string;
  /** The gates that may send jobs here. Default: none. */
  readonly gates?: readonly string[];
  /** Clients by name, as they are now: who may do what is docs/jobs-operations.md. Default: every client is an operator. */
  readonly clients?: () => readonly ClientGrant[] | undefined;
  /** Without `clients`: nodes that may cancel jobs and add time to them, besides the gates. Default: every node that reaches the jobs service. */
  readonly operators?: readonly string[];
  /** Options that differ from their defaults. */
  readonly config?: Partial<JobsConfiguration>;
  readonly transport?: Transport;
  /** Requests that one client may make in a minute by a socket; with more it is sent away for a while. Default 100. */
  readonly clientRequestsPerMinute?: number;
  /** Limits of its runtime that differ from those of the jobs system. */
  readonly limits?: Partial<RuntimeLimits>;
  /** Store of the jobs; managers of one datacenter share it. Default: in memory. */
  readonly store?: Store;
  /** Lease that says who leads. Default: this process, without asking anybody. */
  readonly lease?: Lease;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  readonly signal?: AbortSignal;
  /** Hears what the machines log, beside the log. */
  readonly onNote?: (note: LogEvent) => void;
  /** As `createRuntime`'s. */
  readonly onHosting?: (fence: number) => void;
  /** As `createRuntime`'s. */
  readonly onFatal?: (failure: Error) => void;
  /** As `createRuntime`'s. */
  readonly telemetry?: boolean;
  /** As `createRuntime`'s. */
  readonly inspect?: InspectionReader;
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
  const { onFatal, telemetry, inspect, clock = systemClock(), logger = SILENT_LOGGER } = options;
  const counters = new Counters();
  const backlog = new Backlog(config, () => clock.now());
  const { gates = [], operators, transport, store, lease, signal } = options;
  const note = logPerformer(logger, counters, options.onNote, (noted) => backlog.hear(noted));
  const ending = new AbortController();
  let program!: ManagerNode;
  let opened: Promise<void> | undefined;
  const runtime = await createRuntime<ManagerKinds>({
    node: manager,
    place: datacenter,
    clock,
    random: options.random ?? systemRandom(),
    logger,
    limits: jobsLimits(config, options),
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
    ...(transport !== undefined && { transport }),
    ...(store !== undefined && { store }),
    ...(lease !== undefined && { lease }),
    ...(signal !== undefined && { signal }),
    ...(onFatal !== undefined && { onFatal }),
    ...(telemetry !== undefined && { telemetry }),
    ...(inspect !== undefined && { inspect }),
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
    questions: READS,
    newWork: ['job.submitted'],
    openToClients: true,
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
