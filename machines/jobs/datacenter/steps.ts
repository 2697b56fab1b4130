/**
 * Changes that a datacenter's messages make in a gate's record of it.
 *
 * Guarantees: under the same fence a later figure is never replaced by an earlier one, in whatever order
 * they arrive. Durations in a message count from when it was said, which is as long ago as its age.
 */

import type { FinalReported } from '../messages/gate.ts';
import type { LocalReason, Outcome } from '../words.ts';
import type {
  Args,
  DatacenterContext,
  DatacenterEvent,
  DatacenterFinal,
  DatacenterMessage,
  DatacenterRecord,
} from './context.ts';

type Saying = DatacenterEvent & DatacenterMessage;

/** The reason of an answer that nobody gave: the time was up. */
export const UNREACHABLE = 'unreachable';

export function isOutcome(status: string): status is Outcome {
  return status !== 'submitted' && status !== 'running';
}

/** It tells how the job has ended there. */
export function isEnd(event: DatacenterEvent): boolean {
  if (event.type === 'status.found') return event.found !== null && isOutcome(event.found.status);
  return 'status' in event && isOutcome(event.status);
}

/** It tells of a timeout. A gate that was rebuilt learns from a correction what was reported before. */
export function isTimeout({ event }: Args): boolean {
  return 'figures' in event && reportIn(event) !== null;
}

/** A newer leader that knows of no timeout speaks for its datacenter. */
export function isTakenBack({ context, event }: Args): boolean {
  return (
    'figures' in event && event.leaderFence > context.leaderFence && !event.figures.locallyTimedOut
  );
}

/** Not after the last one taken from the same leader; it may have been held up on its way. */
export function isStale({ context, event }: Args): boolean {
  return 'figures' in event && isOldReport(context, event);
}

export function isOldReport(known: DatacenterRecord, message: DatacenterMessage): boolean {
  if (message.type !== 'progress.reported' || message.leaderFence > known.leaderFence) return false;
  return message.reportSeq <= known.reportSeq;
}

/** It answers the last question. */
export function isReply({ context: { question }, event }: Args): boolean {
  return event.type === 'status.corrected' && question !== null && event.nonce === question.nonce;
}

/** True for a prompt answer to the last question, for a correction that did not wait, and for an end. */
export function isAnswer(args: Args): boolean {
  const { context, event } = args;
  if (event.type === 'status.found' || isEnd(event)) return true;
  if (event.type !== 'status.corrected') return false;
  if (event.correction !== 'requested') return event.ageMs === undefined;
  if (!isReply(args)) return false;
  return event.at - (context.question?.at ?? 0) <= ROUND_TRIP_MS || !isHeldUp(args);
}

/** The longest time from a question to its answer after which the answer is sure to be of now. */
const ROUND_TRIP_MS = 1_000;

/** A word, or a deadline of the gate, that comes so much later than it could have says how things were. */
export const LATE_MS = 100;

/** Start of the job by the gate's clock, had the word taken no time. */
const startIn = (message: Saying): number =>
  message.at - (message.ageMs ?? 0) - message.figures.elapsedMs;

/** It was longer on its way than the fastest word, or nobody knows how fast one is. */
export function isHeldUp({ context: { startedAt }, event }: Args): boolean {
  return 'figures' in event && (startedAt === null || startIn(event) > startedAt + LATE_MS);
}

/** It speaks against the job: the time is over there, or nothing moves. */
export function isAgainst({ context: { limits }, event }: Args): boolean {
  if (!('figures' in event)) return false;
  return reportIn(event) !== null || event.figures.sinceProgressMs > limits.allStuckThresholdMs;
}

/** The gate knows how things are. How fast words are is measured again by the answer to a question. */
export function caughtUp(args: Args): Partial<DatacenterRecord> {
  const { event } = args;
  const known = { contactSince: event.at, metAt: null, question: null };
  return isReply(args) && 'figures' in event ? { ...known, startedAt: startIn(event) } : known;
}

/** It took the job, or nobody knows whether it did. */
export function mayHaveIt(event: DatacenterEvent): boolean {
  return event.type === 'submission.answered' && (event.accepted || event.reason === UNREACHABLE);
}

/** It has answered that it takes the job. */
export function joined({ context, event }: Args): Partial<DatacenterRecord> {
  if (event.type !== 'submission.answered' || !event.accepted) return {};
  const { at, leaderFence, managerId } = event;
  if (context.run === 'late') return { leaderFence: Math.max(leaderFence, context.leaderFence) };
  return { leaderFence, managerId, lastSeenAt: at, lastProgressAt: at, startedAt: at };
}

/** Fields that a message of its job changes. */
export function taken({ context: known, event }: Args): Partial<DatacenterRecord> {
  const message = event as Saying;
  const saidAt = message.at - (message.ageMs ?? 0);
  const isNewer = message.leaderFence > known.leaderFence;
  const { leaderFence, managerId } = message;
  const isReport = message.type === 'progress.reported';
  return {
    leaderFence,
    managerId,
    ...addressIn(known, message),
    reportSeq: isReport ? message.reportSeq : isNewer ? 0 : known.reportSeq,
    startedAt: Math.min(known.startedAt ?? Number.MAX_SAFE_INTEGER, startIn(message)),
    report: reportIn(message) ?? (isTakenBack({ context: known, event }) ? null : known.report),
    final: finalIn(message, known, saidAt),
    ...(isNewer || message.figures.elapsedMs >= known.elapsedMs ? figuresIn(message, saidAt) : {}),
  };
}

function addressIn(
  { managerAddrs }: DatacenterRecord,
  { managerId, managerHost, managerPort }: DatacenterMessage,
): Partial<DatacenterRecord> {
  if (managerHost === undefined || managerPort === undefined) return {};
  return { managerAddrs: { ...managerAddrs, [managerId]: { managerHost, managerPort } } };
}

function figuresIn(message: DatacenterMessage, saidAt: number): Partial<DatacenterRecord> {
  const { figures } = message;
  return {
    elapsedMs: figures.elapsedMs,
    lastProgressAt: saidAt - figures.sinceProgressMs,
    sinceProgressMs: figures.sinceProgressMs,
    queued: figures.queued,
    extensionsMs: figures.extensionsMs,
    maxWorkerExtensionMs: figures.maxWorkerExtensionMs,
    workersWithExtensions: figures.workersWithExtensions,
    holdUntil: figures.holdMs === 0 ? 0 : saidAt + figures.holdMs,
    ...('workflowsCompleted' in message && {
      workflowsCompleted: message.workflowsCompleted,
      workflowsFailed: message.workflowsFailed,
    }),
  };
}

function reportIn(message: DatacenterMessage): LocalReason | null {
  if (message.type === 'timeout.reported') return message.reason;
  const isLocal = message.type === 'status.corrected' && message.figures.locallyTimedOut;
  return isLocal ? message.localReason : null;
}

/** The end that a message tells of; until the outcome is published the last one told counts. */
function finalIn(
  message: DatacenterMessage,
  { final: known, limits }: DatacenterContext,
  saidAt: number,
): DatacenterFinal | null {
  if (message.type !== 'final.reported' && message.type !== 'status.corrected') return known;
  const { status, reason, localReason, gateReason } = message;
  if (!isOutcome(status)) return known;
  const told = { status, reason, localReason, gateReason, endedAt: saidAt - message.sinceEndedMs };
  const isSame = known?.status === status;
  if (message.type === 'status.corrected')
    return {
      ...told,
      results: isSame ? known.results : [],
      resultsOmitted: isSame ? known.resultsOmitted : true,
    };
  if (isSame && !known.resultsOmitted) return known;
  const doFit = charactersOf(message) <= limits.roomCharacters;
  return {
    ...told,
    results: doFit ? message.results : [],
    resultsOmitted: message.resultsOmitted || !doFit,
  };
}

/** An end that the program found at the datacenter's jobs service: the job there takes no messages any more. */
export function found({ context, event }: Args): Partial<DatacenterRecord> {
  if (event.type !== 'status.found' || event.found === null || context.final !== null) return {};
  const { status, reason, localReason, gateReason } = event.found;
  if (!isOutcome(status)) return {};
  const end = { status, reason, localReason, gateReason };
  return { final: { ...end, endedAt: event.at, results: [], resultsOmitted: true } };
}

export function charactersOf({ results }: Pick<FinalReported, 'results'>): number {
  return results.reduce((sum, { result }) => sum + (result?.length ?? 0) + 200, 0);
}
