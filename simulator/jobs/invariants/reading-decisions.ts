/**
 * Rules by which a job takes a decision of its gate, written a second time.
 *
 * Two numbers guard a decision: the gate's own epoch, and the fence of the leader that the gate has
 * in mind. They are never compared with each other.
 */

import type { JobContext } from '../../../machines/jobs/job.ts';
import type { DecisionEpoch } from '../../../machines/jobs/messages/fields.ts';
import type { JobStep } from './reading-jobs.ts';

/** A timeout that a gate has declared, or its cancel. */
export interface DecisionEvent {
  readonly type: 'timeout.declared' | 'cancel.requested';
  readonly leaderFence: number;
  readonly decisionEpoch: DecisionEpoch;
}

export type Judgement = 'notLeader' | 'duplicate' | 'final' | 'stale' | 'valid';

/** The decision that a turn took, and what is to be made of it; undefined for any other turn. */
export function decisionIn({
  before,
  record,
  stateBefore,
}: JobStep): { readonly event: DecisionEvent; readonly judgement: Judgement } | undefined {
  const { type } = record.event;
  if (type !== 'timeout.declared' && type !== 'cancel.requested') return undefined;
  const event = record.event as DecisionEvent;
  // A cancel of a client has no epoch; a job that is not accepted yet takes no decision.
  if (before === undefined || stateBefore === 'assembling') return undefined;
  if (event.decisionEpoch === undefined || event.leaderFence === undefined) return undefined;
  return { event, judgement: judgementOn(before, event) };
}

function judgementOn(before: JobContext, event: DecisionEvent): Judgement {
  const { decisionEpoch, leaderFence } = event;
  const { obeyedDecisionEpoch, highestDecisionEpoch } = before;
  if (before.gateId === null || leaderFence > before.leaderFence) return 'notLeader';
  if (obeyedDecisionEpoch !== null && orderOf(decisionEpoch, obeyedDecisionEpoch) === 0)
    return 'duplicate';
  if (before.endedAt !== null) return 'final';
  if (leaderFence < before.leaderFence) return 'stale';
  return orderOf(decisionEpoch, highestDecisionEpoch) < 0 ? 'stale' : 'valid';
}

/** Below zero when the first epoch is the lower one, from left to right. */
export function orderOf(one: DecisionEpoch, other: DecisionEpoch): number {
  return one[0] === other[0] ? one[1] - other[1] : one[0] - other[0];
}
