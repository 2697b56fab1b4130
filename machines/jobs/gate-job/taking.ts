/**
 * What a message of a datacenter changes in a gate's record, and how it is acknowledged.
 *
 * Guarantees: a lower leader fence changes nothing; under the same fence a later figure is never
 * replaced by an earlier one, in whatever order they arrive; a datacenter goes running → reported →
 * final and only a newer leader takes a report back. Nothing here decides anything.
 */

import { knob } from '../../../runtime/knob.ts';
import type {
  AckReceived,
  FinalReported,
  LeaderTransferred,
  ProgressReported,
  StatusCorrected,
  TimeoutReported,
} from '../messages/gate.ts';
import type { Outcome } from '../words.ts';
import { heardAgain, raised } from './answers.ts';
import {
  type DatacenterFinal,
  type DatacenterRecord,
  type Datacenters,
  type GateJobContext,
  isRunning,
  recordOf,
  withDatacenter,
} from './record.ts';

/** Everything a job says to its gate about itself, with its origin and its figures. */
export type DatacenterMessage =
  | ProgressReported
  | TimeoutReported
  | LeaderTransferred
  | FinalReported
  | StatusCorrected;

/** `late`: from a datacenter that took the job when it was too late. */
export type Verdict = 'taken' | 'duplicate' | 'staleFence' | 'notTarget' | 'late';

/** Characters of results that a record keeps; what does not fit stays with its datacenter. */
const RESULTS_CHARACTERS_MAX = knob('gateResultsCharactersMax', 48 * 1024);

export function verdictOn(datacenters: Datacenters, message: DatacenterMessage): Verdict {
  const known = recordOf(datacenters, message.datacenter);
  if (known === undefined || known.phase === 'refused') return 'notTarget';
  if (message.leaderFence < known.leaderFence) return 'staleFence';
  if (known.phase === 'late') return 'late';
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

/** What the message changes. A stale one, or one from elsewhere, changes nothing. */
export function taken(
  context: GateJobContext,
  message: DatacenterMessage,
  at: number,
): Partial<GateJobContext> {
  const { datacenters } = context;
  const verdict = verdictOn(datacenters, message);
  const known = recordOf(datacenters, message.datacenter);
  if (known === undefined || verdict === 'notTarget' || verdict === 'staleFence') return {};
  const changes: Partial<GateJobContext> = {
    datacenters: {
      ...datacenters,
      [message.datacenter]: withMessage(known, message, keptCharacters(context), at),
    },
    unheard: context.unheard.filter((name) => name !== message.datacenter),
  };
  if (verdict === 'late') return changes;
  const { elapsedMs } = message.figures;
  return {
    ...changes,
    ...(message.type === 'status.corrected' && raised(context, message.highestDecisionEpoch)),
    // The earliest is nearest to the truth: the others were longer on their way.
    ...(context.isRebuilt && { submittedAt: Math.min(context.submittedAt, at - elapsedMs) }),
  };
}

function withMessage(
  known: DatacenterRecord,
  message: DatacenterMessage,
  keptCharacters: number,
  at: number,
): DatacenterRecord {
  const isNewer = message.leaderFence > known.leaderFence;
  const seen = { ...known, lastSeenAt: at, askedAt: null, told: heardAgain(known.told, message) };
  if (isOldReport(known, message)) return seen;
  const { leaderFence, managerId } = message;
  const led: DatacenterRecord = {
    ...seen,
    leaderFence,
    managerId,
    reportSeq:
      message.type === 'progress.reported' ? message.reportSeq : isNewer ? 0 : known.reportSeq,
    // A newer leader that knows of no timeout speaks for its datacenter.
    report: isNewer && !message.figures.locallyTimedOut ? null : known.report,
  };
  const figured = withFigures(led, message, isNewer, at);
  return withPhase(figured, message, keptCharacters, at);
}

/** Not after the last one taken from the same leader; it may have been held up on its way. */
function isOldReport(known: DatacenterRecord, message: DatacenterMessage): boolean {
  if (message.type !== 'progress.reported' || message.leaderFence > known.leaderFence) return false;
  return message.reportSeq <= known.reportSeq;
}

function withFigures(
  known: DatacenterRecord,
  message: DatacenterMessage,
  isNewer: boolean,
  at: number,
): DatacenterRecord {
  const { figures } = message;
  if (!isNewer && figures.elapsedMs < known.elapsedMs) return known;
  return {
    ...known,
    elapsedMs: figures.elapsedMs,
    lastProgressAt: at - figures.sinceProgressMs,
    sinceProgressMs: figures.sinceProgressMs,
    queued: figures.queued,
    extensionsMs: figures.extensionsMs,
    maxWorkerExtensionMs: figures.maxWorkerExtensionMs,
    workersWithExtensions: figures.workersWithExtensions,
    holdUntil: figures.holdMs === 0 ? 0 : at + figures.holdMs,
    ...('workflowsCompleted' in message && {
      workflowsCompleted: message.workflowsCompleted,
      workflowsFailed: message.workflowsFailed,
    }),
  };
}

function withPhase(
  known: DatacenterRecord,
  message: DatacenterMessage,
  keptCharacters: number,
  at: number,
): DatacenterRecord {
  const final = finalIn(message, known.final, keptCharacters, at);
  if (known.phase === 'late') return { ...known, final };
  // It stands even when an old copy was restored there and the job runs again.
  if (final !== null) return { ...known, phase: 'final', final };
  const report = reportIn(message) ?? known.report;
  return { ...known, phase: report === null ? 'running' : 'reported', report };
}

/** A gate that was rebuilt learns from a correction what was reported to the one before it. */
function reportIn(message: DatacenterMessage): DatacenterRecord['report'] {
  if (message.type === 'timeout.reported') return message.reason;
  const isLocal = message.type === 'status.corrected' && message.figures.locallyTimedOut;
  return isLocal ? message.localReason : null;
}

/** The end that a message tells of; until the outcome is published the last one told counts. */
function finalIn(
  message: DatacenterMessage,
  known: DatacenterFinal | null,
  keptCharacters: number,
  at: number,
): DatacenterFinal | null {
  if (message.type !== 'final.reported' && message.type !== 'status.corrected') return known;
  const { status, reason, localReason, gateReason } = message;
  if (status === 'submitted' || status === 'running') return known;
  const told = { status, reason, localReason, gateReason, endedAt: at - message.sinceEndedMs };
  const isSame = known?.status === status;
  if (message.type === 'status.corrected')
    return {
      ...told,
      results: isSame ? known.results : [],
      resultsOmitted: isSame ? known.resultsOmitted : true,
    };
  if (isSame && !known.resultsOmitted) return known;
  const doFit = keptCharacters + charactersOf(message) <= RESULTS_CHARACTERS_MAX.value;
  return {
    ...told,
    results: doFit ? message.results : [],
    resultsOmitted: message.resultsOmitted || !doFit,
  };
}

/** An end that the program found at the datacenter's desk: the job there takes no messages any more. */
export function withEnd(
  context: GateJobContext,
  datacenter: string,
  end: Omit<DatacenterFinal, 'endedAt' | 'results' | 'resultsOmitted'>,
  at: number,
): Partial<GateJobContext> {
  const known = recordOf(context.datacenters, datacenter);
  if (known === undefined || !isRunning(known.phase)) return {};
  const final = { ...end, endedAt: at, results: [], resultsOmitted: true };
  return {
    datacenters: withDatacenter(context.datacenters, datacenter, { phase: 'final', final }),
  };
}

export function isOutcome(status: string): status is Outcome {
  return status !== 'submitted' && status !== 'running';
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

function charactersOf({ results }: FinalReported): number {
  return results.reduce((sum, { result }) => sum + (result?.length ?? 0) + 200, 0);
}

/** Nothing more is kept once the outcome is published. */
function keptCharacters({ datacenters, outcome }: GateJobContext): number {
  let characters = outcome === null ? 0 : RESULTS_CHARACTERS_MAX.value;
  for (const { final } of Object.values(datacenters))
    for (const { result } of final?.results ?? []) characters += (result?.length ?? 0) + 200;
  return characters;
}
