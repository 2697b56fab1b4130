/**
 * Decisions that a job is sent: those of its gate, the gate's acknowledgements, and cancels from clients.
 */

import type { AckReceived, CancelRequested, TimeoutDeclared } from '../messages/gate.ts';
import { answering } from '../step.ts';
import { ending, highestEpoch, type JobContext, type JobStep, note, withLate } from './context.ts';
import * as gate from './gate.ts';
import { isQuelled } from './workflows.ts';

type Taken<TEvent> = TEvent & { readonly at: number };

/** The gate's decision, obeyed. */
export function obey(context: JobContext, event: Taken<TimeoutDeclared>): JobStep {
  const { at, reason, decisionEpoch } = event;
  const next = {
    ...gate.heardGate(context, at, null),
    ...ending(context, at, 'timedOut', 'global', { gateReason: reason }),
    obeyedDecisionEpoch: decisionEpoch,
    highestDecisionEpoch: highestEpoch(context.highestDecisionEpoch, decisionEpoch),
  };
  return {
    next,
    says: gate.acknowledge({ ...context, ...next }, event, {}),
    notes: [note(context, 'timeout.obeyed', at, { reason, decisionEpoch })],
  };
}

/** A decision that is not obeyed changes nothing but that the gate was heard. */
export function refuse(
  context: JobContext,
  event: Taken<TimeoutDeclared | CancelRequested>,
  why: gate.Refusal,
): JobStep {
  const { at, decisionEpoch } = event;
  const isEnded = why === 'final';
  const fields = { rejection: why, decisionEpoch, echoedFence: event.leaderFence };
  const corrected = why !== 'notLeader' && why !== 'duplicate';
  return {
    next: {
      seenAt: at,
      lastGateContactAt: at,
      ...(isEnded && withLate(context, event.type, at, why)),
    },
    says: gate.refuse(context, event, at, why),
    notes: [
      ...(why === 'duplicate' ? [] : [note(context, 'timeout.rejected', at, fields)]),
      ...(isEnded ? [note(context, 'event.late', at, { kind: event.type })] : []),
      ...(corrected ? [note(context, 'status.corrected', at, fields)] : []),
    ],
  };
}

/** Reason to refuse what the gate had decided before the job was whole; undefined where it is obeyed. */
function refusalOfHeld(
  context: JobContext,
  held: TimeoutDeclared | CancelRequested,
): gate.Refusal | undefined {
  if (gate.isForAnotherLeader(context, held)) return 'notLeader';
  if (gate.isForFormerLeader(context, held)) return 'staleLeaderFence';
  return gate.isOutdated(context, held) ? 'staleDecision' : undefined;
}

export const isEndedByHeld = (
  { heldDecision: held, ...context }: JobContext,
  type: (TimeoutDeclared | CancelRequested)['type'],
): boolean => held?.type === type && refusalOfHeld(context, held) === undefined;

/** Takes what the gate had decided before the job was whole: now it is obeyed, or answered. */
export function takeHeld(context: JobContext, at: number): JobStep {
  const { heldDecision } = context;
  if (heldDecision === undefined) return {};
  const event = { ...heldDecision, at };
  const why = refusalOfHeld(context, heldDecision);
  const { next, ...step } =
    why === undefined ? follow(context, event) : refuse(context, event, why);
  return { ...step, next: { ...next, heldDecision: undefined } };
}

function follow(context: JobContext, event: Taken<TimeoutDeclared | CancelRequested>): JobStep {
  return event.type === 'timeout.declared' ? obey(context, event) : cancel(context, event);
}

/** Not accepted yet: to a client there is no such job. */
export function answerUnaccepted({ replyTo }: CancelRequested): JobStep {
  return { says: answering(replyTo, { accepted: false, reason: 'unknown' }) };
}

/** Cancelled by its gate, or by a client of the jobs service; the answer waits until no workflow can start. */
export function cancel(context: JobContext, event: Taken<CancelRequested>): JobStep {
  const { at, decisionEpoch, replyTo } = event;
  const next = {
    ...ending(context, at, 'cancelled', null),
    cancelAskers: replyTo === undefined ? [] : [replyTo],
    ...(decisionEpoch !== undefined && {
      lastGateContactAt: at,
      obeyedDecisionEpoch: decisionEpoch,
      highestDecisionEpoch: highestEpoch(context.highestDecisionEpoch, decisionEpoch),
    }),
  };
  const after = { ...context, ...next };
  return { next, says: decisionEpoch === undefined ? [] : gate.acknowledge(after, event, {}) };
}

/** It has ended otherwise: a client that cancels it now hears so. */
export function refuseCancel(context: JobContext, event: Taken<CancelRequested>): JobStep {
  const { at, type, replyTo } = event;
  return {
    next: withLate(context, type, at, context.status),
    says: answering(replyTo, { accepted: false, reason: 'alreadyFinal' }),
    notes: [note(context, 'event.late', at, { kind: type })],
  };
}

/** It is cancelled already: a client that cancels it again hears so as soon as no workflow can start. */
export function joinCancel(context: JobContext, { replyTo }: CancelRequested): JobStep {
  if (replyTo === undefined) return {};
  if (isQuelled(context.table))
    return { says: answering(replyTo, { accepted: true, reason: 'alreadyCancelled' }) };
  return { next: { cancelAskers: [...context.cancelAskers, replyTo].slice(-16) } };
}

/** The gate has taken the report of changed credit, or one after it. */
const isAnnounced = ({ announcedSeq = 0 }: JobContext, { reportSeq }: AckReceived): boolean =>
  announcedSeq > 0 && reportSeq !== null && reportSeq >= announcedSeq;

/** The gate has answered something. A fence above ours means that our store is older than the world. */
export function takeAck(context: JobContext, event: Taken<AckReceived>): JobStep {
  const { at, gateBoot, leaderFence, accepted, reason } = event;
  const next = {
    ...gate.heardGate(context, at, gateBoot),
    isFinalKnown: context.isFinalKnown || event.ackOf === 'final.reported',
    ...(isAnnounced(context, event) && { announcedSeq: undefined }),
  };
  const isReportRefused = event.ackOf === 'timeout.reported' && !accepted;
  const notes = isReportRefused ? [note(context, 'timeout.reportFailed', at, { reason })] : [];
  if (accepted || reason !== 'staleFence' || leaderFence <= context.leaderFence)
    return { next, notes };
  const raised = { ...next, leaderFence: leaderFence + 1, isFinalKnown: context.isFinalKnown };
  const after = { ...context, ...raised };
  return {
    next: raised,
    says: [
      ...gate.leaderTransfer(after, at),
      ...(context.endedAt === null ? [] : gate.finalStatus(after, at)),
    ],
    notes: [...notes, note(after, 'leader.fenceRaised', at, { told: leaderFence })],
  };
}
