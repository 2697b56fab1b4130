/**
 * Steps of a gate's job, as data: for each event what it remembers then, and what it says to whom.
 */

import { jobAddress, placeOf, submissionPartAddress } from '../addresses.ts';
import type { DatacenterMessage } from '../datacenter/context.ts';
import { isAck } from '../datacenter/decision.ts';
import type { LogEvent } from '../log-events.ts';
import type { AckReceived, SubmissionAnswered } from '../messages/gate.ts';
import type { MessageRefused } from '../messages/local.ts';
import type { Saying, Step } from '../step.ts';
import { acknowledgement, raised, taken } from './admission.ts';
import {
  type GateJobContext,
  type RuledContext,
  recordOf,
  withStep,
  withSteps,
} from './context.ts';
import { order, told, withLateEvent } from './decisions.ts';
import { isLateEnd, logEventOf, logEventsOn } from './log-events.ts';
import { fallenSilent, heardBefore, missing, unasked } from './rules.ts';

/**
 * A report is acknowledged whatever it is worth; a progress report as it came, without guarantee, but for
 * the first one: the job begins its work when it is acknowledged. Nobody waits to hear that a correction came.
 */
export function takeReport(
  context: GateJobContext,
  message: DatacenterMessage & { readonly ageMs?: number },
  at: number,
): Step<GateJobContext> {
  const { jobId, datacenter, type } = message;
  const isProgress = type === 'progress.reported';
  const isFirst = isProgress && message.reportSeq === 1;
  const ack: Saying = {
    to: jobAddress(jobId, datacenter),
    event: acknowledgement(context, message),
    isHint: (isProgress && !isFirst) || type === 'status.corrected',
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
    notes: [...logEventsOn(context, message, at), ...logEventsOnBoot(context, next, at)],
  };
}

/**
 * A datacenter that has ended the job already says so to nobody any more, if it told a gate that has lost it
 * since. It is asked, so that it arrives: an end that is still under way comes before the answer, and that the
 * question was refused is how the gate learns of one that is not.
 */
export function takeSubmissionAnswer(
  context: GateJobContext,
  answer: SubmissionAnswered,
  at: number,
): Step<GateJobContext> {
  const { jobId, datacenter, hasEnded } = answer;
  const isNews = recordOf(context.datacenters, datacenter)?.run === 'asked';
  return {
    next: withStep(context, datacenter, { ...answer, at }),
    says: hasEnded && isNews ? [question(jobId, datacenter, `${context.fence}.${at}`)] : [],
  };
}

/** Takes a datacenter's answer to a decision. */
export function takeAck(
  context: GateJobContext,
  ack: AckReceived,
  at: number,
): Step<GateJobContext> {
  const { datacenter, highestDecisionEpoch } = ack;
  if (!isAck({ ...ack, at }) || recordOf(context.datacenters, datacenter)?.told == null) return {};
  const next = {
    ...withStep(context, datacenter, { ...ack, at }),
    ...(highestDecisionEpoch !== null && raised(context, highestDecisionEpoch)),
  };
  return { next, notes: logEventsOnBoot(context, next, at) };
}

/** A datacenter knew a higher number than ours. */
function logEventsOnBoot(
  { jobId, gateBoot }: GateJobContext,
  next: Partial<GateJobContext>,
  at: number,
): readonly LogEvent[] {
  const raised = next.gateBoot ?? gateBoot;
  return raised === gateBoot ? [] : [{ event: 'leader.fenceRaised', at, jobId, told: raised - 1 }];
}

const question = (jobId: string, datacenter: string, nonce = ''): Saying => ({
  to: jobAddress(jobId, datacenter),
  event: {
    type: 'status.requested',
    jobId,
    datacenter,
    ...(nonce !== '' && { nonce }),
  } as { type: string },
  isHint: nonce === '',
});

/**
 * Asks those that the gate catches up with. The question has to arrive: a job that has ended takes none, and
 * that it was refused is how a gate learns of an end that another life of it was told. One is enough, however
 * often the gate starts again before anything is heard.
 */
export function askUnasked(context: GateJobContext, at: number): Step<GateJobContext> {
  const { jobId, fence, datacenters } = context;
  const names = unasked(context);
  const nonceOf = (name: string) =>
    recordOf(datacenters, name)?.isQuestioned === true ? '' : `${fence}.${at}`;
  return {
    next: withSteps(context, names, (name) => ({
      type: 'datacenter.asked',
      nonce: nonceOf(name),
      at,
    })),
    says: names.map((name) => question(jobId, name, nonceOf(name))),
  };
}

/** Asks silent datacenters at once, and again for as long as they are silent. */
export function askSilent(context: RuledContext, at: number): Step<GateJobContext> {
  const names = fallenSilent(context, at);
  const next = withSteps(context, names, () => ({ type: 'silence.due', at }));
  // One that the gate has to catch up with, because it looks too late, is asked for that.
  const silent = names.filter((name) => recordOf(next.datacenters, name)?.contact === 'silent');
  return {
    next,
    says: silent.map((name) => question(context.jobId, name)),
    notes: fallings(context, silent, at),
  };
}

/** Two reports have not come: what was in the queue has, or nobody is there. */
export function giveUpMissing(context: RuledContext, at: number): Step<GateJobContext> {
  const names = missing(context, at);
  const next = withSteps(context, names, () => ({ type: 'catchUp.due', at }));
  const silent = names.filter((name) => recordOf(next.datacenters, name)?.contact === 'silent');
  return { next, notes: fallings(context, silent, at) };
}

/** Notes that datacenters have fallen silent; of those that were, nothing. */
function fallings(
  { jobId, datacenters }: GateJobContext,
  silent: readonly string[],
  at: number,
): readonly LogEvent[] {
  return silent.flatMap((datacenter): LogEvent[] => {
    const known = recordOf(datacenters, datacenter);
    if (known === undefined || known.askedAt !== null) return [];
    const silentMs = at - known.lastSeenAt;
    return [{ event: 'datacenter.silent', at, jobId, datacenter, silentMs }];
  });
}

/** The gate comes late to the end of the budget: what it knows of the datacenters is history. */
export function loseTouch(context: GateJobContext, at: number): Partial<GateJobContext> {
  return withSteps(context, heardBefore(context, at), () => ({ type: 'touch.lost', at }));
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
  return { next: told(context, names, at), says };
}

/** The workflows are at their datacenters, or nobody is waited for any more. */
export function dropParts({ jobId, digest, pages }: GateJobContext): Step<GateJobContext> {
  const numbers = Array.from({ length: pages }, (_, index) => index + 1);
  const says = numbers.map((page) => ({
    to: submissionPartAddress(jobId, digest, page),
    event: { type: 'page.dropped' },
  }));
  return { next: { pages: 0 }, says };
}

/** A datacenter did not take a message for good. Only the decision matters, as it was last sent. */
export function takeRefusal(
  context: GateJobContext,
  refusal: MessageRefused,
  at: number,
): Step<GateJobContext> {
  const datacenter = placeOf(refusal.to);
  const was = recordOf(context.datacenters, datacenter)?.decision;
  const next = withStep(context, datacenter, { ...refusal, at });
  const isGone = recordOf(next.datacenters, datacenter)?.decision === 'gone' && was !== 'gone';
  if (!isGone) return { next };
  const about = { datacenter, status: 'unknown', code: refusal.code };
  return { next, notes: [{ ...logEventOf('status.corrected', context, at), ...about }] };
}

/**
 * The datacenter whose jobs service has to be asked how the job there has ended, because the job itself takes no
 * decision and no question any more, or is not there; empty for any other refusal.
 */
export function endedAt({ to, event, code }: MessageRefused): string {
  const isDecision = event.type === 'timeout.declared' || event.type === 'cancel.requested';
  const isQuestion = event.type === 'status.requested';
  const isUnknown = isQuestion && code === 'ACTOR_UNKNOWN';
  return ((isDecision || isQuestion) && code === 'ACTOR_ENDED') || isUnknown ? placeOf(to) : '';
}
