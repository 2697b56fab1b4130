/**
 * Context of a workflow, and the sums it does with it. The statechart is in workflow.ts.
 */

import type { Spawned, Timed } from '../../../runtime/machine.ts';
import { attemptIdOf } from '../addresses.ts';
import type {
  AttemptLost,
  AttemptProgressed,
  ClockWentBack,
  FailureCause,
  ParentFailed,
  SlotGranted,
  SlotRenew,
  SlotRequested,
  WorkerLost,
  WorkflowCancel,
  WorkflowHeld,
  WorkflowReady,
} from '../messages/local.ts';
import type {
  AttemptStopped,
  CancelAnswered,
  DispatchAnswered,
  ProgressReceived,
  ResultReceived,
} from '../messages/worker.ts';
import { laneName, orderOf } from '../ranks.ts';
import type { WorkflowRules } from '../rules.ts';

export type WorkflowEvent = Timed<
  | WorkflowReady
  | WorkflowHeld
  | WorkflowCancel
  | ClockWentBack
  | ParentFailed
  | SlotGranted
  | SlotRenew
  | WorkerLost
  | AttemptLost
  | AttemptProgressed
  | DispatchAnswered
  | ProgressReceived
  | ResultReceived
  | CancelAnswered
  | AttemptStopped
  | { readonly type: 'shards.merged' }
>;

export interface WorkflowInput {
  readonly jobId: string;
  readonly workflowId: string;
  readonly datacenter: string;
  /** Its place in the submission. */
  readonly index: number;
  readonly handler: string;
  readonly payload: string;
  readonly cores: number;
  /** Time at which the job was accepted: what the queue is ordered by. */
  readonly acceptedAt: number;
  readonly rules: WorkflowRules;
  /** It depends on nothing, and need not be told so. */
  readonly isReady?: boolean;
}

/** The cores that an attempt has on a worker. */
export type Slot = Omit<SlotGranted, 'type' | 'attemptId' | 'term'>;

export interface WorkflowContext extends Omit<WorkflowInput, 'isReady'> {
  /** The attempt that runs, or is asked for: 1 is the first. */
  readonly run: number;
  /** Attempts that were dispatched. */
  readonly dispatched: number;
  /** Attempts that failed, or whose worker was lost. */
  readonly failures: number;
  /** Dispatches in a row that came to nothing. */
  readonly dispatchFailures: number;
  readonly cause: FailureCause | null;
  readonly slot: Slot | null;
  /** Worker that had its last attempt, for people. */
  readonly lastWorkerId: string | null;
  /** The highest known, by grants and by answers of workers. */
  readonly term: number;
  /** Workers that failed it, and registrations that were lost with it. */
  readonly avoidWorkers: readonly string[];
  readonly avoid: readonly number[];
  /** As last known of this attempt; 0 at dispatch. */
  readonly progress: number;
  readonly completedItems: number;
  readonly lastProgressAt: number;
  /** Heartbeats after this one list the attempt. */
  readonly heartbeatSeq: number;
  readonly result: string | null;
  readonly truncated: boolean;
  readonly error: { readonly code: string; readonly detail: string } | null;
  readonly retryable: boolean;
  readonly hasSucceeded: boolean;
  readonly hasFailed: boolean;
  /** Reason for which it is to stop. */
  readonly cancelCause: string | null;
  readonly cancelsSent: number;
  /** Nobody confirmed that the attempt has stopped. */
  readonly unconfirmed: boolean;
  readonly lateEvent: string | null;
}

export function initialWorkflow({
  isReady: _,
  at,
  ...input
}: Spawned<WorkflowInput>): WorkflowContext {
  const own: Omit<WorkflowContext, keyof typeof input> = {
    run: 1,
    dispatched: 0,
    failures: 0,
    dispatchFailures: 0,
    cause: null,
    slot: null,
    lastWorkerId: null,
    term: 0,
    avoidWorkers: [],
    avoid: [],
    progress: 0,
    completedItems: 0,
    lastProgressAt: at,
    heartbeatSeq: 0,
    result: null,
    truncated: false,
    error: null,
    retryable: true,
    hasSucceeded: false,
    hasFailed: false,
    cancelCause: null,
    cancelsSent: 0,
    unconfirmed: false,
    lateEvent: null,
  };
  // See initialJob.
  return Object.assign(own, input);
}

/** Request to the worker pool. */
export const requestOf = (context: WorkflowContext): Omit<SlotRequested, 'type'> => ({
  jobId: context.jobId,
  attemptId: attemptOf(context),
  cores: context.cores,
  handler: context.handler,
  avoid: context.avoid,
  avoidWorkers: context.avoidWorkers,
  acceptedAt: context.acceptedAt,
  index: context.index,
});

/** Rank while it waits for cores. */
export function rankOfWorkflow({
  value,
  context,
}: {
  readonly value: unknown;
  readonly context: WorkflowContext;
}): { readonly queue: string; readonly order: string } | undefined {
  if ((value as { readonly PENDING?: string }).PENDING !== 'queued') return undefined;
  const { handler, cores, run } = context;
  return { queue: laneName(handler, cores, run === 1), order: orderOf(context) };
}

export const attemptOf = ({ workflowId, run }: WorkflowContext): string =>
  attemptIdOf(workflowId, run);

/** True for what is about the attempt that counts, on the worker that has it. */
export function isCurrent(
  context: WorkflowContext,
  event: { readonly attemptId: string; readonly workerId?: string },
): boolean {
  const { slot } = context;
  const isElsewhere = slot !== null && 'workerId' in event && event.workerId !== slot.workerId;
  return event.attemptId === attemptOf(context) && !isElsewhere;
}

/** Its worker is lost, with the registration that the attempt was given to. */
export function isOurLoss({ slot }: WorkflowContext, event: WorkerLost): boolean {
  return slot !== null && slot.registration === event.registration;
}

export function withSlot(
  context: WorkflowContext,
  granted: SlotGranted & { readonly at: number },
): Partial<WorkflowContext> {
  const { workerId, registration, bootEpoch, cores, term, at } = granted;
  return {
    slot: { workerId, registration, bootEpoch, cores },
    lastWorkerId: workerId,
    term: Math.max(term, context.term),
    dispatched: context.dispatched + 1,
    lastProgressAt: at,
  };
}

/** A result as far as it is kept. */
export function withResult(event: ResultReceived): Partial<WorkflowContext> {
  const { ok, result, truncated, error, retryable } = event;
  return { hasSucceeded: ok, hasFailed: !ok, result, truncated, error, retryable };
}

/** The attempt came to nothing; `worker` is avoided from now on. */
export function withFailure(
  context: WorkflowContext,
  cause: FailureCause,
): Partial<WorkflowContext> {
  const { slot, failures, dispatchFailures, avoid, avoidWorkers } = context;
  if (cause === 'parentFailed') return { cause };
  if (cause === 'dispatch')
    return {
      cause,
      dispatchFailures: dispatchFailures + 1,
      avoidWorkers: added(avoidWorkers, slot?.workerId),
    };
  const lost = cause === 'workerLost';
  return {
    cause,
    failures: failures + 1,
    avoid: lost ? added(avoid, slot?.registration) : avoid,
    avoidWorkers: lost ? avoidWorkers : added(avoidWorkers, slot?.workerId),
  };
}

/** As many as there can be attempts, so it stays short. */
function added<T>(list: readonly T[], item: T | undefined): readonly T[] {
  return item === undefined || list.includes(item) ? list : [...list, item];
}

export function mayRetry({ cause, rules, ...context }: WorkflowContext): boolean {
  if (cause === 'parentFailed' || !context.retryable) return false;
  if (cause === 'dispatch') return context.dispatchFailures < rules.maxDispatchAttempts;
  return context.failures <= rules.maxRetries;
}

/** The pause before the next dispatch, once one has come to nothing. */
export function dispatchPauseMs({ dispatchFailures, rules }: WorkflowContext): number {
  const pause = rules.dispatchBackoffMinMs * 2 ** Math.min(dispatchFailures - 1, 30);
  return Math.min(pause, rules.dispatchBackoffMaxMs);
}

/** The next attempt begins from nothing. */
export function nextRun({ run }: WorkflowContext): Partial<WorkflowContext> {
  return {
    run: run + 1,
    hasFailed: false,
    progress: 0,
    completedItems: 0,
    heartbeatSeq: 0,
    error: null,
  };
}

type Report = Pick<AttemptProgressed, 'progress' | 'completedItems' | 'sinceProgressMs'>;

/**
 * True when the report is strictly above what was known: by items where the worker counts them,
 * otherwise by progress.
 */
export function hasRisen(context: WorkflowContext, report: Report): boolean {
  const { completedItems, progress } = context;
  if (report.completedItems !== undefined) return report.completedItems > completedItems;
  return report.progress > progress;
}

export function withProgress(
  context: WorkflowContext,
  report: Report,
  at: number,
): Partial<WorkflowContext> {
  return {
    progress: Math.max(context.progress, report.progress),
    completedItems: report.completedItems ?? context.completedItems,
    lastProgressAt: Math.max(context.lastProgressAt, at - report.sinceProgressMs),
  };
}
