/**
 * What the parts of a manager share: its runtime with the kinds of a datacenter, and who it is.
 */

import { jobAddress, workerHealthAddress } from '../../../machines/jobs/addresses.ts';
import type { deskMachine } from '../../../machines/jobs/desk.ts';
import type { JobContext, jobMachine } from '../../../machines/jobs/job.ts';
import type { ClockReading } from '../../../machines/jobs/messages/fields.ts';
import type { workerHealthMachine } from '../../../machines/jobs/worker-health.ts';
import type { workerPoolMachine } from '../../../machines/jobs/worker-pool.ts';
import type { WorkflowContext, workflowMachine } from '../../../machines/jobs/workflow.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { RuntimeError } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/options.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import type { JobsConfiguration } from '../configuration.ts';
import type { Counters } from '../counters.ts';
import type { Permissions } from '../permissions.ts';
import type { Backlog } from './backlog.ts';
import type { SheddingLog } from './shedding-log.ts';

export type ManagerKinds = {
  readonly job: typeof jobMachine;
  readonly workflow: typeof workflowMachine;
  readonly 'worker-health': typeof workerHealthMachine;
  readonly 'worker-pool': typeof workerPoolMachine;
  readonly desk: typeof deskMachine;
};

export interface ManagerNode {
  readonly datacenter: string;
  readonly manager: string;
  /** Those that may send jobs here. */
  readonly gates: readonly string[];
  /** Who may ask the desk what. */
  readonly permissions: Permissions;
  readonly config: JobsConfiguration;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counters: Counters;
  /** Of the datacenter while it is led here. */
  readonly backlog: Backlog;
  readonly shedding: SheddingLog;
  readonly runtime: Runtime<ManagerKinds>;
  /** Aborted when the manager stops: whoever waits for news is answered. */
  readonly ending: AbortSignal;
}

/** What a gate is told of this leader's clock; see programs/jobs/gate/clocks.ts. */
export function readClock({ clock, runtime }: ManagerNode): ClockReading {
  return { term: runtime.fence, at: clock.now() };
}

/** A job as it was last committed, ended ones included; undefined when there is none. */
export function readJob(
  { runtime, datacenter }: ManagerNode,
  jobId: string,
): JobContext | undefined {
  return read(() => runtime.actor(jobAddress(jobId, datacenter)).getSnapshot().context);
}

/** The term that a worker was told last; 0 of one that is not known. */
export function readTerm({ runtime, datacenter }: ManagerNode, workerId: string): number {
  const address = workerHealthAddress(workerId, datacenter);
  return read(() => runtime.actor(address).getSnapshot().context.term) ?? 0;
}

export function readWorkflow(
  node: ManagerNode,
  address: `workflow/${string}`,
): WorkflowContext | undefined {
  return lookAtWorkflow(node, address)?.context;
}

/** A workflow with its state; undefined before it is born and after it is forgotten. */
export function lookAtWorkflow(
  { runtime }: ManagerNode,
  address: `workflow/${string}`,
): { readonly value: unknown; readonly context: WorkflowContext } | undefined {
  return read(() => runtime.actor(address).getSnapshot());
}

function read<T>(reading: () => T): T | undefined {
  try {
    return reading();
  } catch (thrown) {
    if (thrown instanceof RuntimeError && thrown.code === 'ACTOR_UNKNOWN') return undefined;
    throw thrown;
  }
}
