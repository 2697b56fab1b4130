/**
 * What a job says to its gate, and what the gate's word means for it.
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
import { isQueued, tallyOf } from './workflows.ts';

const toGate = <TEvent extends { readonly type: string }>(
  { jobId, gateId }: JobContext,
  event: TEvent,
  isHint = false,
): readonly Saying[] =>
  gateId === null ? [] : [{ to: gateJobAddress(jobId, gateId), event, isHint }];

const originOf = ({ jobId, datacenter, managerId, leaderFence }: JobContext): Origin => ({
  jobId,
  datacenter,
  managerId,
  leaderFence,
});

function figuresOf(context: JobContext, at: number): Figures {
  const grants = Object.values(context.creditByWorker).filter((grant) => grant > 0);
  return {
    elapsedMs: elapsedMs(context, at),
    timeoutMs: context.timeoutMs,
    sinceProgressMs: Math.max(0, at - context.lastProgressAt),
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
 * A progress report. One at a time is sent until it arrives, so a gate that lost its memory hears of
 * the job, and one that is away finds at most one; those in between may be lost, unless they announce
 * changed credit.
 */
export function report(context: JobContext, at: number, mustArrive = false): Step<JobContext> {
  if (context.gateId === null) return {};
  const figures = figuresOf(context, at);
  const reportSeq = context.reportSeq + 1;
  const isReliable = mustArrive || context.reliableReportSeq === 0;
  const event: ProgressReported = {
    type: 'progress.reported',
    ...originOf(context),
    figures,
    ...tallyOf(context.table),
    reportSeq,
    hasRecentProgress: figures.sinceProgressMs <= context.rules.reportIntervalMs,
  };
  return {
    next: { seenAt: at, reportSeq, ...(isReliable && { reliableReportSeq: reportSeq }) },
    says: toGate(context, event, !isReliable),
  };
}

/** What a gate that has no record of the job begins again from. */
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
      workflowsTotal: context.table.ids.length,
      highestDecisionEpoch: context.highestDecisionEpoch,
    },
  };
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
    detail: '',
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
  return toGate(context, event);
}

export function correction(
  context: JobContext,
  at: number,
  why: StatusCorrected['correction'],
  rejectedDecisionEpoch: DecisionEpoch | null,
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

/** What becomes of a decision of the gate, in the order of the rules JB-7. */
export type Judgement =
  | 'notLeader'
  | 'duplicate'
  | 'final'
  | 'staleLeaderFence'
  | 'staleDecision'
  | 'obey';

export function judge(
  context: JobContext,
  {
    leaderFence = 0,
    decisionEpoch = [0, 0],
  }: Pick<TimeoutDeclared | CancelRequested, 'leaderFence' | 'decisionEpoch'>,
): Judgement {
  const { obeyedDecisionEpoch: obeyed } = context;
  if (isLocal(context) || leaderFence > context.leaderFence) return 'notLeader';
  if (obeyed !== null && compareEpochs(decisionEpoch, obeyed) === 0) return 'duplicate';
  if (context.endedAt !== null) return 'final';
  if (leaderFence < context.leaderFence) return 'staleLeaderFence';
  if (compareEpochs(decisionEpoch, context.highestDecisionEpoch) < 0) return 'staleDecision';
  return 'obey';
}

/** What the gate is answered when a decision is not obeyed. */
export function refuse(
  context: JobContext,
  event: TimeoutDeclared | CancelRequested,
  at: number,
  judgement: Exclude<Judgement, 'obey'>,
): readonly Saying[] {
  switch (judgement) {
    case 'notLeader':
      return acknowledge(context, event, { accepted: false, reason: 'notLeader' });
    case 'duplicate':
      return acknowledge(context, event, { duplicate: true });
    default:
      return correction(context, at, judgement, event.decisionEpoch ?? null);
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
