/**
 * Reply of a datacenter to a decision that was sent to it: obeyed, refused, or refused for a reason that
 * has gone since.
 *
 * Two numbers guard a decision: the gate's own epoch, and the leader fence that it echoes. They are
 * never compared with each other.
 */

import type { DecisionEpoch } from '../messages/fields.ts';
import type { Args, DatacenterContext, DatacenterEvent } from './context.ts';

const isOfDecision = (type: unknown): boolean =>
  type === 'timeout.declared' || type === 'cancel.requested';

/** An answer to a decision, whichever issue of it. */
export function isAck(event: DatacenterEvent): boolean {
  return event.type === 'ack.received' && event.decisionEpoch !== null && isOfDecision(event.ackOf);
}

export function isObeyed(event: DatacenterEvent): boolean {
  return isAck(event) && event.type === 'ack.received' && event.accepted;
}

/** It refuses the decision as it was sent last; for any other reason than that below it may obey later. */
export function isRefused({ context, event }: Args): boolean {
  if (event.type === 'message.refused') return isUndelivered(context, event);
  return isAck(event) && event.type === 'ack.received' && isCurrent(context, event.decisionEpoch);
}

/**
 * A job that was never taken in will confirm nothing, and one that took part and is not known any more has
 * ended and was forgotten, or its datacenter lost its store. It is the same where it refuses the gate itself.
 * One that has ended has its end on the way.
 */
export function isNobodyThere({ context, event }: Args): boolean {
  if (event.type === 'status.found')
    return event.found === null && !isNeverTaken(context) && context.told !== null;
  if (event.type === 'message.refused')
    return isUndelivered(context, event) && event.code !== 'ACTOR_ENDED';
  return isRefused({ context, event }) && (event as { reason?: unknown }).reason === 'unknown';
}

/** One that a gate without its data only took to run the job. */
export function isNeverTaken({ limits, run, leaderFence }: DatacenterContext): boolean {
  return limits.isRebuilt && run === 'running' && leaderFence === 0;
}

function isUndelivered(
  context: DatacenterContext,
  { event }: Extract<DatacenterEvent, { readonly type: 'message.refused' }>,
): boolean {
  return isOfDecision(event.type) && isCurrent(context, event.decisionEpoch);
}

/**
 * The decision that was sent last is refused, and its receiver has another fence or knows a higher epoch
 * than we thought: it is sent again.
 */
export function isCorrected({ context, event }: Args): boolean {
  if (event.type !== 'status.corrected' || !isCurrent(context, event.rejectedDecisionEpoch))
    return false;
  const { told } = context;
  return (
    told !== null &&
    (event.leaderFence > told.leaderFence ||
      compareEpochs(event.highestDecisionEpoch, told.epoch) > 0)
  );
}

/** Without news it would be refused again at once, so it waits for the next word. */
export function isRefusedAgain({ context, event }: Args): boolean {
  return event.type === 'status.corrected' && isCurrent(context, event.rejectedDecisionEpoch);
}

function isCurrent({ told }: DatacenterContext, epoch: unknown): boolean {
  return told !== null && String(epoch) === String(told.epoch);
}

function compareEpochs(a: DecisionEpoch, b: DecisionEpoch): number {
  return a[0] - b[0] || a[1] - b[1];
}
