/**
 * Admission of a datacenter's messages to a gate's record: which change anything, and how each is acknowledged.
 *
 * Guarantees: a lower leader fence changes nothing, and neither does a datacenter that is no target. What a
 * message changes is in datacenter.ts; nothing here decides anything.
 */

import type { DatacenterMessage } from '../datacenter/context.ts';
import { isOldReport, isOutcome } from '../datacenter/steps.ts';
import type { DecisionEpoch } from '../messages/fields.ts';
import type { AckReceived } from '../messages/gate.ts';
import { type Datacenters, type GateJobContext, recordOf, withStep } from './context.ts';

/** `late`: from a datacenter that took the job when it was too late. */
export type Verdict = 'taken' | 'duplicate' | 'staleFence' | 'notTarget' | 'late';

export function verdictOn(datacenters: Datacenters, message: DatacenterMessage): Verdict {
  const known = recordOf(datacenters, message.datacenter);
  if (known === undefined || known.run === 'refused') return 'notTarget';
  if (message.leaderFence < known.leaderFence) return 'staleFence';
  if (known.run === 'late') return 'late';
  if (message.leaderFence > known.leaderFence) return 'taken';
  switch (message.type) {
    case 'progress.reported':
      return isOldReport(known, message) ? 'duplicate' : 'taken';
    case 'timeout.reported':
      return known.report === message.reason ? 'duplicate' : 'taken';
    case 'final.reported':
      return known.final?.status === message.status ? 'duplicate' : 'taken';
    default:
      return 'taken';
  }
}

/** Changes that the message makes. A stale one, or one from elsewhere, changes nothing. */
export function taken(
  context: GateJobContext,
  message: DatacenterMessage & { readonly ageMs?: number },
  at: number,
): Partial<GateJobContext> {
  const verdict = verdictOn(context.datacenters, message);
  if (verdict === 'notTarget' || verdict === 'staleFence') return {};
  const changes = withStep(context, message.datacenter, { ...message, at });
  if (verdict === 'late') return changes;
  const submittedAt = at - (message.ageMs ?? 0) - message.figures.elapsedMs;
  return {
    ...changes,
    ...(message.type === 'status.corrected' && raised(context, message.highestDecisionEpoch)),
    // The earliest is nearest to the truth: the others were longer on their way.
    ...(context.isRebuilt && { submittedAt: Math.min(context.submittedAt, submittedAt) }),
  };
}

/**
 * A datacenter that obeyed an epoch above ours would refuse us for ever: we go above it. The number
 * is the job's own and is in its record before anything is sent under it, so the lease need not move.
 */
export function raised(
  { gateBoot, counter }: GateJobContext,
  [boot, highest]: DecisionEpoch,
): Partial<GateJobContext> {
  if (boot > gateBoot && boot < Number.MAX_SAFE_INTEGER) return { gateBoot: boot + 1 };
  return boot === gateBoot && highest > counter ? { counter: highest } : {};
}

/** The answer to a datacenter's message: accepted, or why it changes nothing. */
export function acknowledgement(context: GateJobContext, message: DatacenterMessage): AckReceived {
  const { jobId, datacenter, type, leaderFence } = message;
  const verdict = verdictOn(context.datacenters, message);
  const isEnd =
    type === 'final.reported' || (type === 'status.corrected' && isOutcome(message.status));
  const reason =
    verdict === 'staleFence'
      ? verdict
      : verdict === 'notTarget' || verdict === 'late'
        ? 'notTarget'
        : context.outcome !== null && !isEnd
          ? 'jobFinal'
          : null;
  return {
    type: 'ack.received',
    jobId,
    datacenter,
    ackOf: type,
    accepted: reason === null,
    duplicate: reason === null && verdict === 'duplicate',
    reason,
    leaderFence: Math.max(leaderFence, recordOf(context.datacenters, datacenter)?.leaderFence ?? 0),
    gateBoot: context.gateBoot,
    highestDecisionEpoch: null,
    decisionEpoch: null,
    reportSeq: type === 'progress.reported' ? message.reportSeq : null,
  };
}
