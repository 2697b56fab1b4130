/**
 * What taking an event means for a gate's job, as data: what it remembers then, what it says to whom.
 */

import { jobAddress, placeOf, submissionPageAddress } from '../addresses.ts';
import type { AckReceived, StatusFound } from '../messages/gate.ts';
import type { MessageRefused } from '../messages/local.ts';
import type { NoteParams } from '../notes.ts';
import type { Saying, Step } from '../step.ts';
import { answered } from './answers.ts';
import { order, told, withLateEvent } from './deciding.ts';
import { isLateEnd, noteOf, notesOn } from './notes.ts';
import {
  type GateJobContext,
  type RuledContext,
  recordOf,
  type ToldAnswer,
  withDatacenter,
} from './record.ts';
import { toBeAsked } from './rules.ts';
import { acknowledgement, type DatacenterMessage, isOutcome, taken, withEnd } from './taking.ts';

/**
 * A report is acknowledged whatever it is worth; a progress report as it came, without guarantee, but for
 * the first one: the job begins its work when it is acknowledged.
 */
export function takeReport(
  context: GateJobContext,
  message: DatacenterMessage,
  at: number,
): Step<GateJobContext> {
  const { jobId, datacenter, type } = message;
  const isProgress = type === 'progress.reported';
  const isFirst = isProgress && message.reportSeq === 1;
  const ack: Saying = {
    to: jobAddress(jobId, datacenter),
    event: acknowledgement(context, message),
    isHint: isProgress && !isFirst,
  };
  const known = recordOf(context.datacenters, datacenter);
  // A gate that was rebuilt has not heard why: that was reported to the one before it.
  const isReasonLost = isProgress && message.figures.locallyTimedOut && known?.report === null;
  const late = isLateEnd(context, message)
    ? withLateEvent(context, `final of ${datacenter}`, at)
    : {};
  const next = { ...taken(context, message, at), ...late };
  return {
    next,
    says: isReasonLost ? [ack, question(jobId, datacenter)] : [ack],
    notes: [...notesOn(context, message, at), ...notesOnBoot(context, next, at)],
  };
}

/** What a datacenter answered to a decision. */
export function takeAck(
  context: GateJobContext,
  ack: AckReceived,
  at: number,
): Step<GateJobContext> {
  const next = answered(context, ack, at);
  return { next, notes: notesOnBoot(context, next, at) };
}

/** A datacenter knew a higher number than ours. */
function notesOnBoot(
  { jobId, gateBoot }: GateJobContext,
  next: Partial<GateJobContext>,
  at: number,
): readonly NoteParams[] {
  const raised = next.gateBoot ?? gateBoot;
  return raised === gateBoot ? [] : [{ event: 'leader.fenceRaised', at, jobId, told: raised - 1 }];
}

const question = (jobId: string, datacenter: string, isHint = true): Saying => ({
  to: jobAddress(jobId, datacenter),
  event: { type: 'status.requested', jobId, datacenter } as { type: string },
  isHint,
});

/** Asks these datacenters how they are. */
function ask({ jobId }: GateJobContext, names: readonly string[]): Step<GateJobContext> {
  return { says: names.map((name) => question(jobId, name)) };
}

/**
 * Asks those that a gate has to hear before it decides. The question has to arrive: a job that has ended
 * takes none, and that it was refused is how a gate learns of an end that another life of it was told.
 */
export function askUnheard({ jobId, unheard }: GateJobContext): Step<GateJobContext> {
  return { says: unheard.map((name) => question(jobId, name, false)) };
}

/** Who has fallen silent is asked at once, and again for as long as it is. */
export function askSilent(context: RuledContext, at: number): Step<GateJobContext> {
  const { jobId } = context;
  const notes: NoteParams[] = [];
  let { datacenters } = context;
  const names = toBeAsked(context, at);
  for (const datacenter of names) {
    const known = recordOf(datacenters, datacenter);
    if (known?.askedAt === null) {
      const silentMs = at - known.lastSeenAt;
      notes.push({ event: 'datacenter.silent', at, jobId, datacenter, silentMs });
    }
    datacenters = withDatacenter(datacenters, datacenter, { askedAt: at });
  }
  return { ...ask(context, names), next: { datacenters }, notes };
}

/** Sends the decision, or what stands for it, to these datacenters. */
export function tell(
  context: GateJobContext,
  names: readonly string[],
  at: number,
): Step<GateJobContext> {
  const says = names.map((name) => ({
    to: jobAddress(context.jobId, name),
    event: order(context, name, at),
  }));
  return { next: told(context, names), says };
}

/** The workflows are at their datacenters, or nobody is waited for any more. */
export function dropPages({ jobId, digest, pages }: GateJobContext): Step<GateJobContext> {
  const numbers = Array.from({ length: pages }, (_, index) => index + 1);
  const says = numbers.map((page) => ({
    to: submissionPageAddress(jobId, digest, page),
    event: { type: 'page.dropped' },
  }));
  return { next: { pages: 0 }, says };
}

/**
 * A datacenter did not take a message for good. Only the decision matters, as it was last sent.
 *
 * A job that has ended has its final on the way. One that took part and is not known any more has
 * ended and was forgotten, or its datacenter lost its store: nobody will ever confirm, and the settle
 * limit presumes its end. It is the same where a datacenter refuses the gate itself.
 */
export function takeRefusal(
  context: GateJobContext,
  { to, event, code }: MessageRefused,
  at: number,
): Step<GateJobContext> {
  const datacenter = placeOf(to);
  const isDecision = event.type === 'timeout.declared' || event.type === 'cancel.requested';
  const sent = recordOf(context.datacenters, datacenter)?.told?.epoch;
  const isCurrent = String(event.decisionEpoch) === String(sent);
  if (!isDecision || !isCurrent) return {};
  const answer = code === 'ACTOR_ENDED' ? 'ended' : 'gone';
  const next = withAnswer(context, datacenter, answer);
  if (answer === 'ended') return { next };
  const about = { datacenter, status: 'unknown', code };
  return { next, notes: [{ ...noteOf('status.corrected', context, at), ...about }] };
}

/**
 * The datacenter whose desk has to be asked how the job there has ended, because the job itself takes no
 * decision and no question any more, or is not there; empty for any other refusal.
 */
export function endedAt({ to, event, code }: MessageRefused): string {
  const isDecision = event.type === 'timeout.declared' || event.type === 'cancel.requested';
  const isQuestion = event.type === 'status.requested';
  const isUnknown = isQuestion && code === 'ACTOR_UNKNOWN';
  return ((isDecision || isQuestion) && code === 'ACTOR_ENDED') || isUnknown ? placeOf(to) : '';
}

/** What the desk of a datacenter said about a job that takes no messages any more. */
export function takeStatus(
  context: GateJobContext,
  { datacenter, found }: StatusFound,
  at: number,
): Step<GateJobContext> {
  if (found === null) return { next: withoutJob(context, datacenter) };
  const { status, reason, localReason, gateReason } = found;
  if (!isOutcome(status)) return {};
  return { next: withEnd(context, datacenter, { status, reason, localReason, gateReason }, at) };
}

/**
 * The datacenter has no such job. One that a gate without its data only took to run it never did; of
 * any other nobody will ever confirm an end.
 */
function withoutJob(context: GateJobContext, datacenter: string): Partial<GateJobContext> {
  const { datacenters, isRebuilt } = context;
  const known = recordOf(datacenters, datacenter);
  if (isRebuilt && known?.phase === 'running' && known.leaderFence === 0)
    return { datacenters: withDatacenter(datacenters, datacenter, { phase: 'refused' }) };
  return withAnswer(context, datacenter, 'gone');
}

function withAnswer(
  context: GateJobContext,
  datacenter: string,
  answer: ToldAnswer,
): Partial<GateJobContext> {
  const { datacenters } = context;
  const sent = recordOf(datacenters, datacenter)?.told ?? null;
  if (sent === null) return {};
  return { datacenters: withDatacenter(datacenters, datacenter, { told: { ...sent, answer } }) };
}
