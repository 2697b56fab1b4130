/**
 * Context of a job, and the sums of its deadlines and credit. The statechart is in job.ts.
 */

import { knob } from '../../../runtime/base/knob.ts';
import type { Spawned, Timed } from '../../../runtime/machine.ts';
import type { LogEvent, LogEventName } from '../log-events.ts';
import type { ClockReading, DecisionEpoch } from '../messages/fields.ts';
import type {
  AckReceived,
  CancelRequested,
  ExtendRequested,
  StatusRequested,
  TimeoutDeclared,
} from '../messages/gate.ts';
import type {
  ExtensionCredited,
  LeadershipAcquired,
  MessageRefused,
  WorkerLost,
  WorkflowChanged,
  WorkflowProgressed,
} from '../messages/local.ts';
import type { JobRules } from '../rules.ts';
import type { Step } from '../step.ts';
import type {
  FailureReason,
  GateReason,
  JobStatus,
  LocalReason,
  Outcome,
  Quorum,
  Reason,
} from '../words.ts';
import type { WorkflowTable } from './table.ts';
import type { JobAssembled, WorkflowSpawns } from './workflow-spawns.ts';
import { hasAttemptOut, newTable } from './workflows.ts';

export type JobEvent = Timed<
  | JobAssembled
  | WorkflowChanged
  | WorkflowProgressed
  | WorkerLost
  | ExtensionCredited
  | TimeoutDeclared
  | CancelRequested
  | StatusRequested
  | AckReceived
  | ExtendRequested
  | LeadershipAcquired
  | MessageRefused
>;

export interface JobInput {
  readonly jobId: string;
  readonly datacenter: string;
  readonly managerId: string;
  /** Address at which its peers reach it, if it knows. */
  readonly managerUrl?: string | undefined;
  /** The fence of the datacenter's lease. */
  readonly term: number;
  /** null: this datacenter decides alone. */
  readonly gateId: string | null;
  /** Digest of the body of the submission, without the id. */
  readonly digest: string;
  readonly timeoutMs: number;
  readonly stuckThresholdMs: number;
  readonly failFast: boolean;
  readonly enforce: boolean;
  readonly targetDatacenters: readonly string[];
  /** The gate's, for one that has lost its record; left out where the submission names none. */
  readonly datacenterTimeoutQuorum?: Quorum;
  /** The gate's, as of the submission. */
  readonly decisionEpoch: DecisionEpoch;
  /**
   * Until when a gate's job may begin by itself, by the clock of the leader of that term. Gates of earlier
   * releases do not say it: their jobs begin at once.
   */
  readonly beginsBefore?: ClockReading;
  readonly rules: JobRules;
  readonly ids: readonly string[];
  readonly dependsOn: Readonly<Record<string, readonly number[]>>;
  /** Lanes by place in `ids`, see `WorkflowView`. */
  readonly lanes?: readonly number[];
  /** Set when the job spawns its workflows itself, and begins at once. */
  readonly births?: WorkflowSpawns;
}

/** An extension by a person. */
export interface OperatorCredit {
  readonly requestId: string;
  readonly by: string;
  readonly byMs: number;
  readonly at: number;
}

export interface LateEvent {
  readonly type: string;
  readonly at: number;
  readonly detail: string;
}

export interface JobContext extends Omit<JobInput, 'ids' | 'dependsOn' | 'lanes' | 'births'> {
  readonly status: JobStatus;
  readonly reason: Reason | null;
  readonly localReason: LocalReason | null;
  readonly gateReason: GateReason | null;
  /** Rises with each change of status. */
  readonly seq: number;
  readonly table: WorkflowTable;
  /** Reason for which its first workflow failed for good. */
  readonly failure: FailureReason | null;
  /** Wall time of the acceptance; never changes. */
  readonly startedAt: number;
  /** Moment that deadlines count from: `startedAt`, moved by a takeover on a clock that is behind. */
  readonly baseAt: number;
  /** The latest moment this actor has seen, on the clock of its leader. */
  readonly seenAt: number;
  readonly endedAt: number | null;
  readonly lastProgressAt: number;
  /** The longest time without progress so far while an attempt was out. */
  readonly longestGapMs: number;
  readonly lastExtensionAt: number | null;
  readonly timeoutReportedAt: number | null;
  readonly lastGateContactAt: number;
  readonly creditByWorker: Readonly<Record<string, number>>;
  /** The last grants that were applied. */
  readonly creditIds: readonly string[];
  readonly operatorCredits: readonly OperatorCredit[];
  readonly holdUntil: number;
  readonly stuckGraceUntil: number;
  readonly leaderFence: number;
  readonly reportSeq: number;
  /** Number of the last report that has to arrive, because credit changed; left out once it is acknowledged. */
  readonly announcedSeq?: number | undefined;
  readonly obeyedDecisionEpoch: DecisionEpoch | null;
  readonly highestDecisionEpoch: DecisionEpoch;
  /** The gate knows how it ended; true from the start where there is no gate. */
  readonly isFinalKnown: boolean;
  /** Questions that are answered once no workflow can start any more. */
  readonly cancelAskers: readonly string[];
  readonly isCancelOfGate: boolean;
  /** Deadlines that would have ended it, had its timeouts been enforced. */
  readonly shadows: ReadonlyArray<{ readonly reason: LocalReason; readonly at: number }>;
  readonly lateEvents: readonly LateEvent[];
  /** Its submission was never finished: nobody was told that it was taken. */
  readonly isAbandoned?: true;
  /** Decision of its gate from before the job was whole: sent once, and taken as soon as it can be. */
  readonly heldDecision?: TimeoutDeclared | CancelRequested | undefined;
}

export function initialJob(spawned: Spawned<JobInput>): JobContext {
  const { ids, dependsOn, lanes, births: _, at, ...input } = spawned;
  const own: Omit<JobContext, keyof typeof input> = {
    status: 'submitted',
    reason: null,
    localReason: null,
    gateReason: null,
    seq: 1,
    table: newTable(ids, dependsOn, lanes),
    startedAt: at,
    baseAt: at,
    seenAt: at,
    endedAt: null,
    lastProgressAt: at,
    longestGapMs: 0,
    lastExtensionAt: null,
    timeoutReportedAt: null,
    lastGateContactAt: at,
    creditByWorker: {},
    creditIds: [],
    operatorCredits: [],
    holdUntil: 0,
    stuckGraceUntil: 0,
    leaderFence: 1,
    reportSeq: 0,
    failure: null,
    obeyedDecisionEpoch: null,
    highestDecisionEpoch: input.decisionEpoch,
    isFinalKnown: input.gateId === null,
    cancelAskers: [],
    isCancelOfGate: false,
    shadows: [],
    lateEvents: [],
  };
  // The longer part is the literal: fields added to a copy are added one by one, at fifty times the cost.
  return Object.assign(own, input);
}

export type JobStep = Step<JobContext>;

export const note = (
  { jobId, datacenter, leaderFence }: JobContext,
  event: LogEventName,
  at: number,
  fields: object = {},
): LogEvent => ({ event, at, jobId, datacenter, leaderFence, ...fields });

export const isLocal = ({ gateId }: JobContext): boolean => gateId === null;

function creditMs({ creditByWorker, rules, timeoutMs }: JobContext): number {
  const entries = Object.values(creditByWorker);
  const sum =
    rules.extensionAggregation === 'sum'
      ? entries.reduce((total, grant) => total + grant, 0)
      : Math.max(0, ...entries);
  return Math.min(sum, rules.extensionJobCapMs ?? timeoutMs);
}

export const operatorCreditMs = ({ operatorCredits }: JobContext): number =>
  operatorCredits.reduce((total, { byMs }) => total + byMs, 0);

export const extensionsMs = (context: JobContext): number =>
  creditMs(context) + operatorCreditMs(context);

export const budgetDue = (context: JobContext): number =>
  context.baseAt + context.timeoutMs + extensionsMs(context);

export const overallDue = (context: JobContext): number =>
  Math.max(budgetDue(context), context.holdUntil);

/** Only while it exists, see `isStuckWatched`. */
export const stuckDue = (context: JobContext): number =>
  Math.max(
    context.lastProgressAt + context.stuckThresholdMs,
    context.stuckGraceUntil,
    context.holdUntil,
  );

/** A job that only waits for a worker is not stuck. */
export const isStuckWatched = ({ table, rules }: JobContext): boolean =>
  rules.stuckWhileQueued || hasAttemptOut(table);

export const fallbackDue = ({ timeoutReportedAt, lastGateContactAt, rules }: JobContext): number =>
  Math.max(timeoutReportedAt ?? 0, lastGateContactAt) + rules.gateFallbackMs;

export const elapsedMs = ({ baseAt }: JobContext, at: number): number => Math.max(0, at - baseAt);

/** The job got further at that moment; what is older than the last progress known changes nothing. */
export function progressed(context: JobContext, at: number): Partial<JobContext> {
  const gapMs = at - context.lastProgressAt;
  if (gapMs <= 0) return {};
  if (gapMs <= context.longestGapMs || !hasAttemptOut(context.table)) return { lastProgressAt: at };
  return { lastProgressAt: at, longestGapMs: gapMs };
}

/** End of the job; the first end counts. */
export function ending(
  context: JobContext,
  at: number,
  status: Outcome,
  reason: Reason | null,
  more: Partial<JobContext> = {},
): Partial<JobContext> {
  return { ...more, status, reason, endedAt: at, seenAt: at, seq: context.seq + 1 };
}

/** Later ends are logged and change nothing. */
const LATE_EVENTS_MAX = knob('jobLateEventsMax', 16);

export function withLate(
  { lateEvents }: JobContext,
  type: string,
  at: number,
  detail: string,
): Partial<JobContext> {
  return { lateEvents: [...lateEvents, { type, at, detail }].slice(-LATE_EVENTS_MAX.value) };
}

/** -1, 0 or 1, left to right. */
export function compareEpochs(one: DecisionEpoch, other: DecisionEpoch): number {
  return Math.sign(one[0] - other[0]) || Math.sign(one[1] - other[1]);
}

export const highestEpoch = (one: DecisionEpoch, other: DecisionEpoch): DecisionEpoch =>
  compareEpochs(one, other) >= 0 ? one : other;

/**
 * A new leader's clock may be behind the one before it. Elapsed time never decreases: what was
 * noted on the old clock keeps the age it had, or gets the age it has by the new one, if that is more.
 */
export function takenOver(context: JobContext, at: number): Partial<JobContext> {
  const { seenAt, startedAt, baseAt } = context;
  const shift = Math.min(0, at - seenAt);
  const elapsed = Math.max(seenAt - baseAt, at - startedAt);
  const aged = (stored: number): number => (stored === 0 ? 0 : stored + shift);
  const { stuckThresholdMs, rules } = context;
  return {
    baseAt: at - elapsed,
    seenAt: at,
    lastProgressAt: aged(context.lastProgressAt),
    timeoutReportedAt: context.timeoutReportedAt === null ? null : aged(context.timeoutReportedAt),
    lastGateContactAt: aged(context.lastGateContactAt),
    holdUntil: aged(context.holdUntil),
    stuckGraceUntil: at + Math.min(stuckThresholdMs, 2 * rules.reportIntervalMs),
    leaderFence: context.leaderFence + 1,
  };
}
