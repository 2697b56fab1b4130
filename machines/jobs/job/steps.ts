/**
 * What each event means for a job: what it remembers, whom it tells. The statechart, with its
 * deadlines and its ends, is in job.ts; what ends it is in job/ends.ts and job/decisions.ts.
 */

import { SPAWN_EVENT } from '../../../runtime/machine.ts';
import { gateJobAddress } from '../addresses.ts';
import type {
  MessageRefused,
  WorkerLost,
  WorkflowChanged,
  WorkflowProgressed,
} from '../messages/local.ts';
import type { Saying } from '../step.ts';
import { type JobContext, type JobStep, note, progressed, takenOver, withLate } from './context.ts';
import { cancelled, stopping, toWorkflow } from './ends.ts';
import * as gate from './gate.ts';
import {
  failureOf,
  isQuelled,
  letAsk,
  letStop,
  withChange,
  withDoomed,
  withShortLimits,
} from './workflows.ts';

type Taken<TEvent> = TEvent & { readonly at: number };

/** All its workflows are there: its time begins. */
export function begin(context: JobContext, at: number): JobStep {
  const { timeoutMs, gateId } = context;
  return {
    next: { startedAt: at, baseAt: at, seenAt: at, lastProgressAt: at, lastGateContactAt: at },
    notes: [note(context, 'job.accepted', at, { timeoutMs, gateId })],
  };
}

/** Its work begins: what depends on nothing asks for workers. */
export function release(context: JobContext): JobStep {
  const { table, ready } = letAsk(context.table, context.rules.readyMax);
  return {
    next: { table },
    says: ready.map((id) => toWorkflow(context, id, { type: 'workflow.ready' })),
  };
}

/** A workflow has come to rest in a state: that is progress, and others may be ready now. */
export function takeChange(context: JobContext, event: Taken<WorkflowChanged>): JobStep {
  const { at, workflowId, lateEvent } = event;
  const hasEnded = context.endedAt !== null;
  const changed = withChange(context.table, event);
  const isFailure = changed !== context.table && event.state === 'FAILED' && event.final;
  // Whoever failed because of a parent was told by us, and so are all that depend on it.
  const isFirst = isFailure && event.cause !== 'parentFailed';
  const left = isFirst && !hasEnded ? withDoomed(changed, workflowId) : changed;
  const asking = hasEnded ? { table: left, ready: [] } : letAsk(left, context.rules.readyMax);
  const { table, stopped } = letStop(asking.table, hasEnded);
  const isStart = context.status === 'submitted' && event.state === 'DISPATCHED';
  const isAnswered = context.cancelAskers.length > 0 && isQuelled(table);
  return {
    next: {
      table,
      seenAt: at,
      ...progressed(context, at),
      ...(isStart && { status: 'running' as const, seq: context.seq + 1 }),
      ...(isFirst && context.failure === null && { failure: failureOf(event) }),
      ...(isAnswered && { cancelAskers: [] }),
      ...(lateEvent !== null && withLate(context, lateEvent, at, workflowId)),
    },
    says: [
      ...asking.ready.map((id) => toWorkflow(context, id, { type: 'workflow.ready' })),
      ...stopping({ ...context, table }, stopped),
      ...(isAnswered ? cancelled(context) : []),
    ],
    notes:
      lateEvent === null ? [] : [note(context, 'event.late', at, { kind: lateEvent, workflowId })],
  };
}

export function takeProgress(
  context: JobContext,
  { at, sinceProgressMs }: Taken<WorkflowProgressed>,
): Partial<JobContext> {
  return { seenAt: at, ...progressed(context, at - sinceProgressMs) };
}

/**
 * A worker is gone, and with it what it was granted; nothing fires for a while because of that.
 * What was reported to the gate stands: the gate decides by it.
 */
export function loseWorker(context: JobContext, { at, workerId }: Taken<WorkerLost>): JobStep {
  const { [workerId]: lost, ...creditByWorker } = context.creditByWorker;
  if (lost === undefined || context.timeoutReportedAt !== null) return {};
  const next = { creditByWorker, seenAt: at, holdUntil: at + context.rules.checkIntervalMs };
  const after = { ...context, ...next };
  const report = gate.report(after, at, true);
  return {
    next: { ...next, ...report.next },
    says: report.says ?? [],
    notes: [
      note(context, 'extension.removed', at, { workerId, lostMs: lost, cause: 'workerLost' }),
    ],
  };
}

/** A new leader: elapsed time goes on, the fence rises, and everybody is told. */
export function takeOver(
  context: JobContext,
  event: { readonly fence: number; readonly node?: string; readonly at: number },
): JobStep {
  const { at, fence, node = context.managerId } = event;
  if (fence <= context.term) return {};
  const next = { ...takenOver(context, at), term: fence, managerId: node };
  const after = { ...context, ...next };
  const { localReason, timeoutReportedAt } = after;
  const isReported = timeoutReportedAt !== null && localReason !== null;
  const report = gate.report(after, at);
  return {
    next: { ...next, ...report.next },
    says: [
      ...gate.leaderTransfer(after, at),
      ...(report.says ?? []),
      ...(isReported ? gate.timeoutReport(after, localReason, at) : []),
      ...restarting(context, at),
    ],
    notes: [note(after, 'leader.acquired', at, { term: fence, managerId: node })],
  };
}

/** A new leader of a job that has ended: only that is still to be known. */
export function takeOverEnded(
  context: JobContext,
  event: { readonly fence: number; readonly node?: string; readonly at: number },
): JobStep {
  const { at, fence, node = context.managerId } = event;
  if (fence <= context.term) return {};
  const { leaderFence } = takenOver(context, at);
  const next = { leaderFence: leaderFence as number, term: fence, managerId: node, seenAt: at };
  const after = { ...context, ...next };
  const final = context.isFinalKnown ? [] : gate.finalStatus(after, at);
  return { next, says: [...final, ...restarting(context, at)] };
}

/** Whoever waits for seconds waits by the clock of this leader from now on, when it is behind. */
function restarting(context: JobContext, at: number): readonly Saying[] {
  if (at >= context.seenAt) return [];
  const ids = withShortLimits(context.table);
  return ids.map((id) => toWorkflow(context, id, { type: 'clock.wentBack' }));
}

/** That a workflow is not there is news only as long as it was not over. */
function lose(context: JobContext, change: Taken<WorkflowChanged>): JobStep {
  return withChange(context.table, change) === context.table ? {} : takeChange(context, change);
}

/** A workflow that is not there is over; a gate that has nothing of this job is given what it needs to begin again. */
export function takeRefusal(
  context: JobContext,
  { to, event, code, at }: Taken<MessageRefused>,
): JobStep {
  const { gateId, jobId } = context;
  if (to.startsWith('workflow/')) return lose(context, gone(context, to, at));
  if (gateId === null || to !== gateJobAddress(jobId, gateId)) return {};
  if (gate.isGateJobOver(context, { to, code }))
    return { next: { isFinalKnown: context.endedAt !== null } };
  if (code !== 'ACTOR_UNKNOWN' || event.type === SPAWN_EVENT) return {};
  const birth = { type: SPAWN_EVENT, input: gate.rebuilt(context, gateId, at) };
  const isReport = event.type === 'timeout.reported';
  return {
    notes: isReport ? [note(context, 'timeout.reportFailed', at, { reason: code })] : [],
    says: [
      { to, event: birth },
      { to, event: ofNow(context, event) },
    ],
  };
}

/** It may be older than the last takeover, and the gate takes nothing of an earlier leader any more. */
function ofNow({ leaderFence, managerId }: JobContext, event: MessageRefused['event']) {
  return {
    ...event,
    ...('leaderFence' in event && { leaderFence }),
    ...('managerId' in event && { managerId }),
  };
}

/** What a workflow would have said, had it not been lost: it cannot be done, or has nothing to stop. */
function gone({ jobId, endedAt }: JobContext, address: string, at: number): Taken<WorkflowChanged> {
  const workflowId = address.slice(`workflow/${jobId}/`.length, address.lastIndexOf('@'));
  const state = endedAt === null ? 'FAILED' : 'CANCELLED';
  const nothing = { run: 0, workerId: null, lateEvent: null };
  return {
    type: 'workflow.changed',
    workflowId,
    state,
    final: true,
    cause: 'failed',
    ...nothing,
    at,
  };
}
