/**
 * Node of a manager: what its parts share, the runtime with the kinds of a datacenter, and its names.
 */

import { jobAddress, workerHealthAddress } from '../../../machines/jobs/addresses.ts';
import type { JobContext, jobMachine } from '../../../machines/jobs/job.ts';
import type { jobsServiceMachine } from '../../../machines/jobs/jobs-service.ts';
import type { ClockReading } from '../../../machines/jobs/messages/fields.ts';
import type { workerHealthMachine } from '../../../machines/jobs/worker-health.ts';
import type { workerPoolMachine } from '../../../machines/jobs/worker-pool.ts';
import type { WorkflowContext, workflowMachine } from '../../../machines/jobs/workflow.ts';
import type { Logger } from '../../../runtime/base/limits.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import type { JobsConfiguration } from '../configuration.ts';
import type { Counters } from '../counters.ts';
import type { Permissions } from '../jobs-service/permissions.ts';
import { readCommitted } from '../jobs-service/records.ts';
import type { Backlog } from './backlog.ts';
import type { SheddingLog } from './shedding-log.ts';

export type ManagerKinds = {
  readonly job: typeof jobMachine;
  readonly workflow: typeof workflowMachine;
  readonly 'worker-health': typeof workerHealthMachine;
  readonly 'worker-pool': typeof workerPoolMachine;
  readonly desk: typeof jobsServiceMachine;
};

export interface ManagerNode {
  readonly datacenter: string;
  readonly manager: string;
  /** Address at which its peers reach it, if its transport knows. */
  readonly peerUrl: () => string | undefined;
  /** Those that may send jobs here. */
  readonly gates: readonly string[];
  /** Permissions: who may ask the jobs service what. */
  readonly permissions: Permissions;
  readonly config: JobsConfiguration;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counters: Counters;
  /** Backlog of the datacenter while it is led here. */
  readonly backlog: Backlog;
  readonly shedding: SheddingLog;
  readonly runtime: Runtime<ManagerKinds>;
  /** Aborted when the manager stops: clients that wait for news are answered. */
  readonly ending: AbortSignal;
}

/** Reading of this leader's clock for a gate; see programs/jobs/gate/clocks.ts. */
export function readClock({ clock, runtime }: ManagerNode): ClockReading {
  return { term: runtime.fence, at: clock.now() };
}

/** A job as it was last committed, ended ones included; undefined when there is none. */
export function readJob(
  { runtime, datacenter }: ManagerNode,
  jobId: string,
): JobContext | undefined {
  return readCommitted(() => runtime.actor(jobAddress(jobId, datacenter)).getSnapshot().context);
}

/** The term that a worker was told last; 0 of one that is not known. */
export function readTerm({ runtime, datacenter }: ManagerNode, workerId: string): number {
  const address = workerHealthAddress(workerId, datacenter);
  return readCommitted(() => runtime.actor(address).getSnapshot().context.term) ?? 0;
}

export function readWorkflow(
  node: ManagerNode,
  address: `workflow/${string}`,
): WorkflowContext | undefined {
  return lookAtWorkflow(node, address)?.context;
}

/** A workflow with its state; undefined before it is spawned and after it is forgotten. */
export function lookAtWorkflow(
  { runtime }: ManagerNode,
  address: `workflow/${string}`,
): { readonly value: unknown; readonly context: WorkflowContext } | undefined {
  return readCommitted(() => runtime.actor(address).getSnapshot());
}
