/**
 * Gate: takes jobs that run in several datacenters, and decides about each of them as a whole.
 *
 * Guarantees: what it has acknowledged survives it; a decision that was made is delivered, also
 * after a restart; a gate without its data is given its jobs back by the datacenters that run them.
 */

import { createRuntime } from '../../create-runtime.ts';
import { idOf, jobsServiceAddress } from '../../machines/jobs/addresses.ts';
import { chartsOf } from '../../machines/jobs/gate-job/context.ts';
import { type GateJobContext, gateJobMachine } from '../../machines/jobs/gate-job.ts';
import { jobsServiceMachine } from '../../machines/jobs/jobs-service.ts';
import type { JobView } from '../../machines/jobs/messages/client.ts';
import type { StatusFound } from '../../machines/jobs/messages/gate.ts';
import { submissionPartMachine } from '../../machines/jobs/submission-part.ts';
import { messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import { SPAWN_EVENT } from '../../runtime/machine.ts';
import { gateRules, type JobsConfiguration, resolveConfiguration } from './configuration.ts';
import { Counters } from './counters.ts';
import { admitNobody, admitToGateJobOf, answerForAbsent } from './gate/admission.ts';
import { DatacenterClocks, readClocks } from './gate/clocks.ts';
import { dispatch } from './gate/dispatch.ts';
import { servicePerformers } from './gate/jobs-service.ts';
import { GATE_JOB_OPTIONS } from './gate/migrations.ts';
import { type GateKinds, type GateNode, readGateJob } from './gate/node.ts';
import { Rooms } from './gate/rooms.ts';
import { viewAt } from './gate/views.ts';
import { type HostOptions, runtimeOptions, SERVICE_OPTIONS } from './host.ts';
import { admitToService } from './jobs-service/admission.ts';
import { jobRank } from './jobs-service/job-order.ts';
import { Permissions } from './jobs-service/permissions.ts';
import { logPerformer } from './log-events.ts';
import { onceThereIsRoom } from './room.ts';
import { startSweep } from './sweep.ts';

export interface GateOptions extends HostOptions {
  /** Name of the gate: the place of its actors, and of its node unless that has another one. */
  readonly gate: string;
  readonly node?: string;
  /** The datacenters it sends jobs to, and takes reports from. */
  readonly datacenters: readonly string[];
}

export interface Gate {
  readonly gate: string;
  readonly runtime: GateNode['runtime'];
  readonly config: JobsConfiguration;
  readonly counters: Counters;
  stop(): Promise<void>;
  /** Ends as if the process had died; for tests. */
  crash(): void;
}

const SWEPT = [{ kind: 'gate-job', machine: gateJobMachine, strategy: 'gateSweep' }];

/** @throws {RuntimeError} OPTION_INVALID, ABORTED */
export async function startGate(options: GateOptions): Promise<Gate> {
  const config = resolveConfiguration(options.config);
  const { gate, datacenters, operators, signal } = options;
  const ports = runtimeOptions(options, config);
  const { clock, logger } = ports;
  checkDatacenters(datacenters);
  const counters = new Counters();
  const ending = new AbortController();
  const perform = { note: logPerformer(logger, counters, options.onNote) };
  let program!: GateNode;
  const runtime = await createRuntime<GateKinds>({
    ...ports,
    node: options.node ?? gate,
    place: gate,
    prepare: (spawned) => {
      program = {
        gate,
        datacenters,
        permissions: new Permissions({ clients: options.clients, operators, gates: [] }),
        config,
        clock,
        logger,
        counters,
        clocks: new DatacenterClocks(),
        runtime: spawned,
        rooms: new Rooms(),
        ending: ending.signal,
      };
      registerKinds(program, perform);
    },
    onHosting: (fence) => {
      openService(program);
      options.onHosting?.(fence);
    },
  });
  const endClocks = readClocks(program);
  const endSweep = startSweep(program, perform.note, config.gateCheckIntervalMs, SWEPT);
  const end = (): void => {
    endSweep();
    endClocks();
    ending.abort();
  };
  signal?.addEventListener('abort', end, { once: true });
  return {
    gate,
    runtime,
    config,
    counters,
    stop() {
      end();
      return runtime.stop();
    },
    crash() {
      endSweep();
      endClocks();
      runtime.crash();
    },
  };
}

function checkDatacenters(datacenters: readonly string[]): void {
  if (datacenters.length > 0 && new Set(datacenters).size === datacenters.length) return;
  const what = `A gate needs "datacenters", each once, got ${JSON.stringify(datacenters)}.`;
  throw new RuntimeError('OPTION_INVALID', what);
}

function registerKinds(
  node: GateNode,
  perform: { readonly note: ReturnType<typeof logPerformer> },
): void {
  const { runtime, config } = node;
  // First, because jobs that are being dispatched go on as soon as their kind is known.
  runtime.register('submission-page', submissionPartMachine, {
    admit: admitNobody,
    newWork: [SPAWN_EVENT],
  });
  runtime.register('gate-job', gateJobMachine, {
    ...GATE_JOB_OPTIONS,
    charts: chartsOf,
    rank: jobRank<GateJobContext>(({ submittedAt, outcome }) => ({
      since: submittedAt,
      hasEnded: outcome !== null,
    })),
    perform: {
      ...perform,
      dispatchTo: {
        durable: true,
        run: async ({ params: { datacenter }, address, signal, send }) =>
          tell(
            send,
            // How often something is said on the way differs from try to try: only the answer has a number.
            await dispatch(node, idOf(address), datacenter, signal, (word) =>
              tell((said) => runtime.actor(address as `gate-job/${string}`).send(said), word),
            ),
          ),
      },
      findStatus: {
        durable: true,
        run: async ({ params: { datacenter }, address, send }) => {
          const there = await viewAt(node, datacenter, idOf(address), 1, config.silentAfterMs);
          if (there === undefined) throw new Error(`${datacenter} does not answer`);
          const found = there.job === null ? null : endIn(there.job);
          await tell(send, { type: 'status.found', datacenter, found });
        },
      },
      fetchRules: {
        durable: true,
        run: async ({ address, send }) => {
          const terms = readGateJob(node, idOf(address))?.terms;
          if (terms === undefined) return;
          const rules = gateRules(config, terms);
          await tell(send, { type: 'rules.given', rules, fence: runtime.fence });
        },
      },
    },
    admit: admitToGateJobOf(node),
    absent: answerForAbsent(node),
    newWork: [SPAWN_EVENT],
  });
  runtime.register('desk', jobsServiceMachine, {
    perform: servicePerformers(node),
    admit: admitToService(node),
    ...SERVICE_OPTIONS,
  });
}

/** A job that has ended meanwhile has no use for what was looked up for it. */
async function tell<TEvent>(send: (event: TEvent) => Promise<void>, event: TEvent): Promise<void> {
  try {
    await send(event);
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError && thrown.code === 'ACTOR_ENDED')) throw thrown;
  }
}

function openService(node: GateNode): void {
  const { runtime, gate, logger } = node;
  onceThereIsRoom(node, () =>
    runtime.spawn(jobsServiceAddress(gate) as `desk/${string}`, { ifAbsent: true }),
  ).catch((thrown: unknown) => {
    logger.error(
      { gate, error: messageOf(thrown) },
      'the jobs service of the gate could not be opened',
    );
  });
}

/** End that a datacenter's view tells of: the words are its own, checked when they were set. */
function endIn({ status, reason, localReason, gateReason }: JobView): StatusFound['found'] {
  return { status, reason, localReason, gateReason } as StatusFound['found'];
}
