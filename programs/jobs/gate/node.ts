/**
 * Node of a gate: what its parts share, the runtime with the kinds of a gate, and its names.
 */

import { gateJobAddress, submissionPartAddress } from '../../../machines/jobs/addresses.ts';
import type { GateJobContext, gateJobMachine } from '../../../machines/jobs/gate-job.ts';
import type { jobsServiceMachine } from '../../../machines/jobs/jobs-service.ts';
import type { WorkflowSpec } from '../../../machines/jobs/messages/client.ts';
import type { submissionPartMachine } from '../../../machines/jobs/submission-part.ts';
import type { Logger } from '../../../runtime/base/limits.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import type { JobsConfiguration } from '../configuration.ts';
import type { Counters } from '../counters.ts';
import type { Permissions } from '../jobs-service/permissions.ts';
import { readCommitted } from '../jobs-service/records.ts';
import type { DatacenterClocks } from './clocks.ts';
import type { Rooms } from './rooms.ts';

export type GateKinds = {
  readonly 'gate-job': typeof gateJobMachine;
  readonly 'submission-page': typeof submissionPartMachine;
  readonly desk: typeof jobsServiceMachine;
};

export interface GateNode {
  readonly gate: string;
  readonly datacenters: readonly string[];
  /** Permissions: who may ask the jobs service what. */
  readonly permissions: Permissions;
  readonly config: JobsConfiguration;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counters: Counters;
  /** Rooms: which datacenters have room for further jobs. */
  readonly rooms: Rooms;
  /** Clocks of the datacenters, as they told them. */
  readonly clocks: DatacenterClocks;
  readonly runtime: Runtime<GateKinds>;
  /** Aborted when the gate stops: clients that wait for news are answered. */
  readonly ending: AbortSignal;
}

/** A job as it was last committed, ended ones included; undefined when there is none. */
export function readGateJob(
  { runtime, gate }: GateNode,
  jobId: string,
): GateJobContext | undefined {
  return readCommitted(() => jobOf(runtime, gate, jobId).getSnapshot().context);
}

export function jobOf(runtime: GateNode['runtime'], gate: string, jobId: string) {
  return runtime.actor(gateJobAddress(jobId, gate) as `gate-job/${string}`);
}

/** The workflows of a part of a submission; undefined when it has been dropped. */
export function readPart(
  { runtime }: GateNode,
  { jobId, digest }: GateJobContext,
  page: number,
): readonly WorkflowSpec[] | undefined {
  const address = submissionPartAddress(jobId, digest, page) as `submission-page/${string}`;
  const workflows = readCommitted(() => runtime.actor(address).getSnapshot().context.workflows);
  return workflows === undefined || workflows.length === 0 ? undefined : workflows;
}
