/**
 * Admission of messages to the actors of a gate.
 *
 * A datacenter's job speaks about itself, to the job of the same id; nobody outside speaks to the parts
 * of submissions, and jobs-service/admission.ts says who may ask the jobs service. Each message has the fields its schema says.
 * What is refused reaches no machine and is counted by the runtime.
 */

import type { ZodType } from 'zod';
import { idOf, placeOf } from '../../../machines/jobs/addresses.ts';
import type { DecisionEpoch } from '../../../machines/jobs/messages/fields.ts';
import {
  type AckReceived,
  ackReceived,
  finalReported,
  type GateJobRebuilt,
  gateJobRebuilt,
  leaderTransferred,
  type ProgressReported,
  progressReported,
  statusCorrected,
  submissionAnswered,
  timeoutReported,
} from '../../../machines/jobs/messages/gate.ts';
import type { KindOptions } from '../../../runtime/actor.ts';
import { SPAWN_EVENT } from '../../../runtime/machine.ts';
import { refuseEpoch } from '../claims.ts';
import { schemaBreach } from '../jobs-service/schema-breach.ts';
import { type GateNode, readGateJob } from './node.ts';

type Admit = NonNullable<KindOptions['admit']>;

const FROM_JOB: Readonly<Record<string, ZodType>> = {
  'progress.reported': progressReported,
  'timeout.reported': timeoutReported,
  'leader.transferred': leaderTransferred,
  'final.reported': finalReported,
  'status.corrected': statusCorrected,
  'ack.received': ackReceived,
  'submission.answered': submissionAnswered,
};

export function admitToGateJob(datacenters: ReadonlySet<string>, gate: string): Admit {
  return ({ to, from = '', event }) => {
    const jobId = idOf(to);
    const datacenter = placeOf(from);
    if (!datacenters.has(datacenter)) return `${datacenter} is not a datacenter of this gate`;
    if (!from.startsWith('job/') || idOf(from) !== jobId)
      return 'only the job itself, at a datacenter, speaks to it';
    if (event.type === SPAWN_EVENT) return refuseSpawn(event.input, jobId, datacenter, gate);
    const schema = Object.hasOwn(FROM_JOB, event.type) ? FROM_JOB[event.type] : undefined;
    if (schema === undefined) return 'it does not come from another place';
    return schemaBreach(schema, event) ?? refuseSum(event) ?? refuseOther(event, jobId, datacenter);
  };
}

/** The same, and how far the epochs are believed that a datacenter tells of. */
export function admitToGateJobOf(node: GateNode): Admit {
  const admit = admitToGateJob(new Set(node.datacenters), node.gate);
  return (message) => {
    const refusal = admit(message);
    if (refusal !== undefined) return refusal;
    const { rebuiltFrom } = (message.event.input ?? {}) as { readonly rebuiltFrom?: ToldByJob };
    const { highestDecisionEpoch } = rebuiltFrom ?? (message.event as ToldByJob);
    return refuseEpoch(node, highestDecisionEpoch, () => {
      const { gateBoot, counter } = readGateJob(node, idOf(message.to)) ?? NOTHING_DECIDED;
      return [gateBoot, counter];
    });
  };
}

/** Answers a report of a job that this gate has nothing of: the job hears so, and gives itself back. */
export const answerForAbsent =
  ({ runtime }: Pick<GateNode, 'runtime'>): NonNullable<KindOptions['absent']> =>
  ({ event }) => {
    if (event.type !== 'progress.reported') return undefined;
    const { jobId, datacenter, leaderFence, reportSeq } = event as unknown as ProgressReported;
    return {
      type: 'ack.received',
      ...{ jobId, datacenter, leaderFence, reportSeq },
      ackOf: event.type,
      accepted: false,
      duplicate: false,
      reason: 'unknown',
      gateBoot: runtime.fence,
      highestDecisionEpoch: null,
      decisionEpoch: null,
    } satisfies AckReceived;
  };

interface ToldByJob {
  readonly highestDecisionEpoch?: DecisionEpoch | null;
}

const NOTHING_DECIDED = { gateBoot: 0, counter: 0 };

export const admitNobody: Admit = () => 'nobody outside speaks to it';

/** A gate that has lost a job is given it back by the datacenters that have it. */
function refuseSpawn(
  input: unknown,
  jobId: string,
  datacenter: string,
  gate: string,
): string | undefined {
  const breach = schemaBreach(gateJobRebuilt, input);
  if (breach !== undefined) return breach;
  const spawned = input as GateJobRebuilt;
  const { rebuiltFrom, gateId } = spawned;
  if (gateId !== gate) return 'it is a job of another gate';
  return (
    refuseSum(rebuiltFrom) ??
    refuseOther(spawned, jobId, datacenter) ??
    refuseOther(rebuiltFrom, jobId, datacenter)
  );
}

/** A job names itself and its own datacenter in what it says. */
function refuseOther(said: object, jobId: string, datacenter: string): string | undefined {
  const about = said as { readonly jobId?: unknown; readonly datacenter?: unknown };
  if (about.jobId !== jobId) return 'it is about another job';
  if (about.datacenter !== undefined && about.datacenter !== datacenter)
    return 'it is about another datacenter';
  return undefined;
}

/** More workflows cannot have ended than there are. */
function refuseSum(said: object): string | undefined {
  const { workflowsTotal, workflowsCompleted, workflowsFailed } = said as Partial<
    Record<'workflowsTotal' | 'workflowsCompleted' | 'workflowsFailed', number>
  >;
  if (workflowsTotal === undefined) return undefined;
  return (workflowsCompleted ?? 0) + (workflowsFailed ?? 0) > workflowsTotal
    ? 'workflowsCompleted: more have ended than there are'
    : undefined;
}
