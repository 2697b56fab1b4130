/**
 * What datacenters say to a decision that was sent to them: obeyed, refused, or refused for a reason
 * that has gone since.
 *
 * Two numbers guard a decision: the gate's own epoch, and the leader fence that it echoes. They are
 * never compared with each other.
 */

import type { DecisionEpoch } from '../messages/fields.ts';
import type { AckReceived } from '../messages/gate.ts';
import {
  type GateJobContext,
  recordOf,
  type Told,
  type ToldAnswer,
  withDatacenter,
} from './record.ts';
import type { DatacenterMessage } from './taking.ts';

/**
 * A decision that was refused is sent anew when its receiver has another fence or a higher epoch
 * than we thought. Without either it would be refused again at once, so it waits for the next report.
 */
export function heardAgain(told: Told | null, message: DatacenterMessage): Told | null {
  if (told === null) return null;
  if (message.type !== 'status.corrected')
    return told.answer === 'deferred' || told.answer === 'gone'
      ? { ...told, answer: 'contradicted' }
      : told;
  const rejected = message.rejectedDecisionEpoch;
  if (rejected === null || told.answer !== 'sent' || compareEpochs(rejected, told.epoch) !== 0)
    return told;
  const isNews =
    message.leaderFence > told.leaderFence ||
    compareEpochs(message.highestDecisionEpoch, told.epoch) > 0;
  return { ...told, answer: isNews ? 'contradicted' : 'deferred' };
}

/** What a datacenter answered to the decision it was sent. */
export function answered(
  context: GateJobContext,
  ack: AckReceived,
  at: number,
): Partial<GateJobContext> {
  const known = recordOf(context.datacenters, ack.datacenter);
  const { ackOf, decisionEpoch } = ack;
  if (known === undefined || known.told === null || decisionEpoch === null) return {};
  if (ackOf !== 'timeout.declared' && ackOf !== 'cancel.requested') return {};
  const { told } = known;
  const isCurrent = compareEpochs(decisionEpoch, told.epoch) === 0;
  const answer = ack.accepted
    ? 'accepted'
    : isCurrent && told.answer === 'sent'
      ? refusalOf(ack)
      : told.answer;
  return {
    datacenters: withDatacenter(context.datacenters, ack.datacenter, {
      told: { ...told, answer },
      lastSeenAt: at,
      askedAt: null,
    }),
    ...(ack.highestDecisionEpoch !== null && raised(context, ack.highestDecisionEpoch)),
  };
}

/** A job that was never taken in will confirm nothing; for any other reason it may obey later. */
function refusalOf({ reason }: AckReceived): ToldAnswer {
  return reason === 'unknown' ? 'gone' : 'deferred';
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

function compareEpochs(a: DecisionEpoch, b: DecisionEpoch): number {
  return a[0] - b[0] || a[1] - b[1];
}
