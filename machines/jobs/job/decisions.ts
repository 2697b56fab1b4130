/**
 * What a job makes of its gate's decisions and acknowledgements, and of those who cancel it.
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
export function answerDecision(
  context: JobContext,
  event: Taken<TimeoutDeclared | CancelRequested>,
): JobStep {
  const judgement = gate.judge(context, event);
  if (judgement === 'obey') return {};
  const { at, decisionEpoch } = event;
  const isEnded = context.endedAt !== null && judgement === 'final';
  const fields = { rejection: judgement, decisionEpoch, echoedFence: event.leaderFence };
  const corrected = judgement !== 'notLeader' && judgement !== 'duplicate';
  return {
    next: {
      seenAt: at,
      lastGateContactAt: at,
      ...(isEnded && withLate(context, event.type, at, judgement)),
    },
    says: gate.refuse(context, event, at, judgement),
    notes: [
      ...(judgement === 'duplicate' ? [] : [note(context, 'timeout.rejected', at, fields)]),
      ...(isEnded ? [note(context, 'event.late', at, { kind: event.type })] : []),
      ...(corrected ? [note(context, 'status.corrected', at, fields)] : []),
    ],
  };
}

/** What the gate had decided before the job was whole: now it is obeyed, or answered. */
export function takeHeld(context: JobContext, at: number): JobStep {
  const { heldDecision } = context;
  if (heldDecision === undefined) return {};
  const event = { ...heldDecision, at };
  const taken = gate.judge(context, event) === 'obey' ? follow : answerDecision;
  const { next, ...step } = taken(context, event);
  return { ...step, next: { ...next, heldDecision: undefined } };
}

function follow(context: JobContext, event: Taken<TimeoutDeclared | CancelRequested>): JobStep {
  return event.type === 'timeout.declared' ? obey(context, event) : cancel(context, event);
}

/** Whoever does not lead obeys nobody, and says so. */
export function answerNotLeader(
  context: JobContext,
  event: TimeoutDeclared | CancelRequested,
): JobStep {
  if (event.decisionEpoch === undefined) {
    const { replyTo } = event as CancelRequested;
    return { says: answering(replyTo, { accepted: false, reason: 'notLeader' }) };
  }
  return { says: gate.acknowledge(context, event, { accepted: false, reason: 'notLeader' }) };
}

/** Not accepted yet: to a client there is no such job. */
export function answerUnaccepted({ replyTo }: CancelRequested): JobStep {
  return { says: answering(replyTo, { accepted: false, reason: 'unknown' }) };
}

/** Cancelled by its gate, or by whoever asked the desk; the answer waits until no workflow can start. */
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

/** It has ended: whoever cancels it now hears how. */
export function cancelLate(context: JobContext, event: Taken<CancelRequested>): JobStep {
  if (event.decisionEpoch !== undefined) return answerDecision(context, event);
  const { at, replyTo } = event;
  if (context.status !== 'cancelled')
    return {
      next: withLate(context, event.type, at, context.status),
      says: answering(replyTo, { accepted: false, reason: 'alreadyFinal' }),
      notes: [note(context, 'event.late', at, { kind: event.type })],
    };
  if (replyTo === undefined) return {};
  if (isQuelled(context.table))
    return { says: answering(replyTo, { accepted: true, reason: 'alreadyCancelled' }) };
  return { next: { cancelAskers: [...context.cancelAskers, replyTo].slice(-16) } };
}

/** The gate has answered something. A fence above ours means that our store is older than the world. */
export function takeAck(context: JobContext, event: Taken<AckReceived>): JobStep {
  const { at, gateBoot, leaderFence, accepted, reason } = event;
  const next = {
    ...gate.heardGate(context, at, gateBoot),
    isFinalKnown: context.isFinalKnown || event.ackOf === 'final.reported',
    ...((event.reportSeq ?? 0) >= context.reliableReportSeq && { reliableReportSeq: 0 }),
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
