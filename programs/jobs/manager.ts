/**
 * A manager: hosts a datacenter's jobs while it leads, stands by while another does.
 *
 * Guarantees: what it has acknowledged survives it; whichever manager of the datacenter leads next
 * goes on at the same deadlines. All managers of a datacenter share one store and one lease.
 */

import { createRuntime } from '../../create-runtime.ts';
import { deskAddress, workerPoolAddress } from '../../machines/jobs/addresses.ts';
import { deskMachine } from '../../machines/jobs/desk.ts';
import { type JobContext, jobMachine } from '../../machines/jobs/job.ts';
import type { NoteParams } from '../../machines/jobs/notes.ts';
import { workerHealthMachine } from '../../machines/jobs/worker-health.ts';
import { workerPoolMachine } from '../../machines/jobs/worker-pool.ts';
import { workflowMachine } from '../../machines/jobs/workflow.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { InspectionReader } from '../../runtime/inspection.ts';
import type { Lease } from '../../runtime/lease.ts';
import { type Logger, type RuntimeLimits, SILENT_LOGGER } from '../../runtime/options.ts';
import type { Random } from '../../runtime/random.ts';
import type { Store } from '../../runtime/store.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { systemRandom } from '../../runtime/system-random.ts';
import type { Transport } from '../../runtime/transport.ts';
import { healthRules, type JobsConfiguration, resolveConfiguration } from './configuration.ts';
import { Counters } from './counters.ts';
import { admitToDesk } from './desk-admission.ts';
import { jobRank } from './job-order.ts';
import { jobsLimits } from './limits.ts';
import {
  admitToHealth,
  admitToJobOf,
  admitToPool,
  admitToWorkflow,
  withinReach,
} from './manager/admission.ts';
import { Backlog, type BacklogView } from './manager/backlog.ts';
import { deskPerformers } from './manager/desk.ts';
import { observeDatacenter } from './manager/gauges.ts';
import type { ManagerKinds, ManagerNode } from './manager/node.ts';
import { observedJobs } from './manager/observed.ts';
import { recountBacklog } from './manager/recount.ts';
import { SheddingLog } from './manager/shedding-log.ts';
import { startSweep } from './manager/sweep.ts';
import { poolOptions, renewUnranked, WORKFLOW_OPTIONS } from './manager/waiting.ts';
import { notePerformer } from './notes.ts';
import { type ClientGrant, Permissions } from './permissions.ts';
import { type Recommendation, type RecommendOptions, recommend } from './recommend.ts';

export interface ManagerOptions {
  /** The datacenter whose jobs it hosts: the place of all its actors. */
  readonly datacenter: string;
  /** Name of this manager among all nodes. Default: the datacenter's name and `.manager-1`. */
  readonly manager?: string;
  /** The gates that may send jobs here. Default: none. */
  readonly gates?: readonly string[];
  /** Clients by name, as they are now: who may do what is docs/jobs-operations.md. Default: every client is an operator. */
  readonly clients?: () => readonly ClientGrant[] | undefined;
  /** Without `clients`: nodes that may cancel jobs and add time to them, besides the gates. Default: every node that reaches the desk. */
  readonly operators?: readonly string[];
  /** Options that differ from their defaults. */
  readonly config?: Partial<JobsConfiguration>;
  readonly transport?: Transport;
  /** Requests that one client may make in a minute by a socket; with more it is sent away for a while. Default 100. */
  readonly clientRequestsPerMinute?: number;
  /** Limits of its runtime that differ from those of the jobs system. */
  readonly limits?: Partial<RuntimeLimits>;
  /** Where jobs live; managers of one datacenter share it. Default: in memory. */
  readonly store?: Store;
  /** Who leads. Default: this process, without asking anybody. */
  readonly lease?: Lease;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  readonly signal?: AbortSignal;
  /** Hears what the machines note, beside the log. */
  readonly onNote?: (note: NoteParams) => void;
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
  /** What waits to begin in the datacenter, as far as this manager leads it. */
  readonly backlog: BacklogView;
  /** True while this manager leads its datacenter. */
  readonly isLeading: boolean;
  /** Timeouts that would fit the jobs completed here, as far as their records are kept. */
  recommend(options?: RecommendOptions): Recommendation | undefined;
  stop(): Promise<void>;
  /** As if the process had died; for tests. */
  crash(): void;
}

/** @throws {RuntimeError} OPTION_INVALID, ABORTED */
export async function startManager(options: ManagerOptions): Promise<Manager> {
  const config = resolveConfiguration(options.config);
  const { datacenter, manager = `${datacenter}.manager-1` } = options;
  const { clock = systemClock(), logger = SILENT_LOGGER } = options;
  const counters = new Counters();
  const backlog = new Backlog(config, () => clock.now());
  let node: ManagerNode | undefined;
  const { transport, store, lease, signal, onFatal, telemetry, inspect } = options;
  const runtime = await createRuntime<ManagerKinds>({
    node: manager,
    place: datacenter,
    clock,
    random: options.random ?? systemRandom(),
    logger,
    limits: jobsLimits(config, options),
    onHosting: (fence) => {
      if (node !== undefined) reopen(node);
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
  const { gates = [], operators } = options;
  const ending = new AbortController();
  const program = {
    datacenter,
    manager,
    gates,
    permissions: new Permissions({ clients: options.clients, operators, gates }),
    config,
    clock,
    logger,
    counters,
    backlog,
    shedding: new SheddingLog({ datacenter, logger, now: () => clock.now() }),
    runtime,
    ending: ending.signal,
  };
  node = program;
  registerKinds(program, options);
  observeDatacenter(program);
  if (runtime.isHosting) await openDatacenter(program);
  const endSweep = startSweep(program);
  const end = (): void => {
    endSweep();
    ending.abort();
  };
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

function registerKinds(node: ManagerNode, { onNote }: ManagerOptions): void {
  const { runtime, logger, counters, backlog } = node;
  const perform = {
    note: notePerformer(logger, counters, (note) => {
      backlog.hear(note);
      onNote?.(note);
    }),
  };
  runtime.register('job', jobMachine, {
    rank: jobRank<JobContext>(({ startedAt, endedAt }) => ({
      since: startedAt,
      hasEnded: endedAt !== null,
    })),
    perform,
    admit: admitToJobOf(node),
  });
  runtime.register('workflow', workflowMachine, {
    ...WORKFLOW_OPTIONS,
    perform,
    admit: withinReach(node, admitToWorkflow),
  });
  runtime.register('worker-health', workerHealthMachine, {
    perform,
    admit: withinReach(node, admitToHealth),
  });
  runtime.register('worker-pool', workerPoolMachine, {
    ...poolOptions(() => node, perform.note),
    admit: withinReach(node, admitToPool),
  });
  runtime.register('desk', deskMachine, {
    perform: deskPerformers(node),
    admit: admitToDesk(node),
    openToClients: true,
  });
}

/** What every datacenter has, from its first day on. */
async function openDatacenter(node: ManagerNode): Promise<void> {
  const { runtime, datacenter, config, logger, backlog } = node;
  backlog.clear();
  const { queueMax } = config;
  const input = { datacenter, term: runtime.fence, rules: healthRules(config), queueMax };
  const [pool] = await Promise.all([
    runtime.spawn(workerPoolAddress(datacenter), { input, ifAbsent: true }),
    runtime.spawn(deskAddress(datacenter), { ifAbsent: true }),
  ]);
  // The pool is older than this process, and may have been told something else.
  if (pool.getSnapshot().context.queueMax !== queueMax)
    await pool.send({ type: 'limits.told', queueMax });
  renewUnranked(node);
  recountBacklog(node).catch((thrown: unknown) => {
    logger.error({ datacenter, error: messageOf(thrown) }, 'what waits could not be counted');
  });
}

/** After a takeover: the leader before us has done it, unless it did not come to it. */
function reopen(node: ManagerNode): void {
  openDatacenter(node).catch((thrown: unknown) => {
    const { datacenter, logger } = node;
    logger.error({ datacenter, error: messageOf(thrown) }, 'the datacenter could not be opened');
  });
}
