/**
 * Messages between a job and its gate: what the job says, and what the gate's word means for it.
 *
 * Two numbers guard a decision: the gate's own epoch, and the fence of the leader that the gate
 * has in mind. They are never compared with each other.
 */

import { gateJobAddress } from '../addresses.ts';
import type { DecisionEpoch, Figures, Origin } from '../messages/fields.ts';
import type {
  AckReceived,
  CancelRequested,
  FinalReported,
  GateJobRebuilt,
  LeaderTransferred,
  ProgressReported,
  StatusCorrected,
  TimeoutDeclared,
  TimeoutReported,
} from '../messages/gate.ts';
import type { MessageRefused } from '../messages/local.ts';
import type { Saying, Step } from '../step.ts';
import type { LocalReason, Outcome } from '../words.ts';
import {
  compareEpochs,
  elapsedMs,
  extensionsMs,
  highestEpoch,
  isLocal,
  type JobContext,
} from './context.ts';
import { viewOf } from './table.ts';
import { isQueued, tallyOf } from './workflows.ts';

const toGate = <TEvent extends { readonly type: string }>(
  { jobId, gateId }: JobContext,
  event: TEvent,
  isHint = false,
): readonly Saying[] =>
  gateId === null ? [] : [{ to: gateJobAddress(jobId, gateId), event, isHint }];

/** Host and port of `ws://host:port/path`. */
const PEER_URL = /^wss?:\/\/(\[[^\]]+\]|[^:/]+):(\d+)/;

export function originOf(context: JobContext): Origin {
  const { jobId, datacenter, managerId, managerUrl = '', leaderFence } = context;
  const [, managerHost, port] = PEER_URL.exec(managerUrl) ?? [];
  const address = managerHost === undefined ? {} : { managerHost, managerPort: Number(port) };
  return { jobId, datacenter, managerId, ...address, leaderFence };
}

function figuresOf(context: JobContext, at: number): Figures {
  const grants = Object.values(context.creditByWorker).filter((grant) => grant > 0);
  return {
    elapsedMs: elapsedMs(context, at),
    timeoutMs: context.timeoutMs,
    sinceProgressMs: Math.max(0, (context.endedAt ?? at) - context.lastProgressAt),
    queued: isQueued(context.table),
    extensionsMs: extensionsMs(context),
    maxWorkerExtensionMs: Math.max(0, ...grants),
    workersWithExtensions: grants.length,
    holdMs: Math.max(0, context.holdUntil - at),
    locallyTimedOut: context.timeoutReportedAt !== null,
    targetDatacenters: context.targetDatacenters,
    gateId: context.gateId ?? '',
  };
}

/**
 * A progress report. It may be lost, overtaken or replaced by a later one, and nothing waits behind it; one that
 * must arrive is sent until it does.
 */
export function report(context: JobContext, at: number, mustArrive = false): Step<JobContext> {
  if (context.gateId === null) return {};
  const figures = figuresOf(context, at);
  const reportSeq = context.reportSeq + 1;
  const event: ProgressReported = {
    type: 'progress.reported',
    ...originOf(context),
    figures,
    ...tallyOf(context.table),
    reportSeq,
    hasRecentProgress: figures.sinceProgressMs <= context.rules.reportIntervalMs,
  };
  return {
    next: { seenAt: at, reportSeq, ...(mustArrive && { announcedSeq: reportSeq }) },
    says: toGate(context, event, !mustArrive),
  };
}

/** State that a gate without a record of the job begins again from. */
export function rebuilt(context: JobContext, gateId: string, at: number): GateJobRebuilt {
  const { jobId, digest, timeoutMs, stuckThresholdMs, failFast, enforce } = context;
  const { targetDatacenters, datacenterTimeoutQuorum, rules } = context;
  const { allStuckThresholdMs } = rules;
  return {
    jobId,
    gateId,
    rebuiltFrom: {
      ...originOf(context),
      figures: figuresOf(context, at),
      terms: {
        timeoutMs,
        stuckThresholdMs,
        allStuckThresholdMs,
        failFast,
        enforce,
        targetDatacenters,
        ...(datacenterTimeoutQuorum !== undefined && { datacenterTimeoutQuorum }),
      },
      digest,
      workflowsTotal: viewOf(context.table).ids.length,
      highestDecisionEpoch: context.highestDecisionEpoch,
    },
  };
}

/** For people: what was due. */
function detailOf(context: JobContext, reason: LocalReason, at: number): string {
  const extended = extensionsMs(context);
  return reason === 'overall'
    ? `${elapsedMs(context, at)} ms of ${context.timeoutMs} ms and ${extended} ms of extensions`
    : `no progress for ${at - context.lastProgressAt} ms, more than ${context.stuckThresholdMs} ms`;
}

export function timeoutReport(
  context: JobContext,
  reason: LocalReason,
  at: number,
): readonly Saying[] {
  const event: TimeoutReported = {
    type: 'timeout.reported',
    ...originOf(context),
    figures: figuresOf(context, at),
    reason,
    detail: detailOf(context, reason, at),
    sinceDetectedMs: Math.max(0, at - (context.timeoutReportedAt ?? at)),
  };
  return toGate(context, event);
}

export function leaderTransfer(context: JobContext, at: number): readonly Saying[] {
  const event: LeaderTransferred = {
    type: 'leader.transferred',
    ...originOf(context),
    figures: figuresOf(context, at),
    term: context.term,
  };
  return toGate(context, event);
}

const endOf = (context: JobContext, at: number) => ({
  reason: context.reason,
  localReason: context.localReason,
  gateReason: context.gateReason,
  sinceEndedMs: context.endedAt === null ? 0 : Math.max(0, at - context.endedAt),
});

/**
 * Its end, which has to arrive. It stands behind what the gate has not taken yet: where that is a report, the end
 * is told without guarantee as well, and a report that was lost holds it up no longer.
 */
export function finalStatus(context: JobContext, at: number): readonly Saying[] {
  const event: FinalReported = {
    type: 'final.reported',
    ...originOf(context),
    figures: figuresOf(context, at),
    ...tallyOf(context.table),
    status: context.status as Outcome,
    ...endOf(context, at),
    decisionEpoch: context.obeyedDecisionEpoch,
    results: [],
    resultsOmitted: true,
  };
  const isBehind = context.announcedSeq !== undefined;
  return [...toGate(context, event), ...(isBehind ? correction(context, at, 'final', null) : [])];
}

export function correction(
  context: JobContext,
  at: number,
  why: StatusCorrected['correction'],
  rejectedDecisionEpoch: DecisionEpoch | null,
  nonce?: string,
): readonly Saying[] {
  const event: StatusCorrected = {
    type: 'status.corrected',
    ...originOf(context),
    figures: figuresOf(context, at),
    ...tallyOf(context.table),
    status: context.status,
    correction: why,
    ...endOf(context, at),
    rejectedDecisionEpoch,
    highestDecisionEpoch: context.highestDecisionEpoch,
    ...(nonce !== undefined && { nonce }),
  };
  // How it ended is on its way already, and an asked-for status is asked for again: neither waits
  // behind what the gate has not taken yet.
  return toGate(context, event, why === 'final' || why === 'requested');
}

export function acknowledge(
  context: JobContext,
  { type, decisionEpoch }: TimeoutDeclared | CancelRequested,
  more: Partial<AckReceived>,
): readonly Saying[] {
  const event: AckReceived = {
    type: 'ack.received',
    jobId: context.jobId,
    datacenter: context.datacenter,
    ackOf: type,
    accepted: true,
    duplicate: false,
    reason: null,
    leaderFence: context.leaderFence,
    gateBoot: null,
    highestDecisionEpoch: context.highestDecisionEpoch,
    decisionEpoch: decisionEpoch ?? null,
    reportSeq: null,
    ...more,
  };
  return toGate(context, event);
}

type Decision = Pick<TimeoutDeclared | CancelRequested, 'leaderFence' | 'decisionEpoch'>;

const NO_EPOCH: DecisionEpoch = [0, 0];

/** JB-7, row 1: the gate has a later leader in mind, or the job has no gate. */
export const isForAnotherLeader = (context: JobContext, { leaderFence = 0 }: Decision): boolean =>
  isLocal(context) || leaderFence > context.leaderFence;

/** Row 3. */
export function isObeyedAlready(
  { obeyedDecisionEpoch: obeyed }: JobContext,
  { decisionEpoch = NO_EPOCH }: Decision,
): boolean {
  return obeyed !== null && compareEpochs(decisionEpoch, obeyed) === 0;
}

/** Row 5. */
export const isForFormerLeader = (context: JobContext, { leaderFence = 0 }: Decision): boolean =>
  leaderFence < context.leaderFence;

/** Row 6. */
export const isOutdated = (context: JobContext, { decisionEpoch = NO_EPOCH }: Decision): boolean =>
  compareEpochs(decisionEpoch, context.highestDecisionEpoch) < 0;

/** Reason not to obey a decision. */
export type Refusal = 'notLeader' | 'duplicate' | 'final' | 'staleLeaderFence' | 'staleDecision';

/** Answer to the gate when a decision is not obeyed. */
export function refuse(
  context: JobContext,
  event: TimeoutDeclared | CancelRequested,
  at: number,
  why: Refusal,
): readonly Saying[] {
  switch (why) {
    case 'notLeader':
      return acknowledge(context, event, { accepted: false, reason: 'notLeader' });
    case 'duplicate':
      return acknowledge(context, event, { duplicate: true });
    default:
      return correction(context, at, why, event.decisionEpoch ?? null);
  }
}

/** The gate refuses to hear of the job: it has closed it. */
export function isGateJobOver(
  { jobId, gateId }: JobContext,
  { to, code }: Pick<MessageRefused, 'to' | 'code'>,
): boolean {
  return gateId !== null && to === gateJobAddress(jobId, gateId) && code === 'ACTOR_ENDED';
}

/** The gate was heard: what it says of its epoch counts, and that it is there. */
export function heardGate(
  context: JobContext,
  at: number,
  gateBoot: number | null,
): Partial<JobContext> {
  const told: DecisionEpoch = [gateBoot ?? 0, 0];
  return {
    lastGateContactAt: at,
    seenAt: at,
    highestDecisionEpoch: highestEpoch(context.highestDecisionEpoch, told),
  };
}
