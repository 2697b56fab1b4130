/**
 * Steps of a job: for each event what it remembers, and whom it tells. The statechart, with its
 * deadlines and its ends, is in job.ts; what ends it is in job/ends.ts and job/decisions.ts.
 */

import { SPAWN_EVENT } from '../../../runtime/machine.ts';
import { gateJobAddress } from '../addresses.ts';
import type {
  LeadershipAcquired,
  MessageRefused,
  WorkerLost,
  WorkflowChanged,
  WorkflowProgressed,
} from '../messages/local.ts';
import type { Saying } from '../step.ts';
import { type JobContext, type JobStep, note, progressed, takenOver, withLate } from './context.ts';
import { stopping, toWorkflow } from './ends.ts';
import * as gate from './gate.ts';
import { spawnsOf, type WorkflowSpawns } from './workflow-spawns.ts';
import {
  failureOf,
  letAsk,
  letStop,
  letWait,
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

/** Its work begins: what depends on nothing asks for workers, at its spawn where the job spawns it. */
export function release(context: JobContext, unspawned?: WorkflowSpawns): JobStep {
  const { table, ready } = letAsk(context.table, context.rules.readyMax);
  const says = unspawned
    ? spawnsOf(context, unspawned, new Set(ready))
    : ready.map((id) => toWorkflow(context, id, { type: 'workflow.ready' }));
  return { next: { table }, says };
}

/** Its workflows ask for workers no more, until it is released again. */
export function holdBack(context: JobContext): JobStep {
  const { table, held } = letWait(context.table);
  return {
    next: { table },
    says: held.map((id) => toWorkflow(context, id, { type: 'workflow.held' })),
  };
}

/** A workflow has come to rest in a state: that is progress, and others may be ready now. */
export function takeChange(context: JobContext, event: Taken<WorkflowChanged>): JobStep {
  const { at, workflowId, lateEvent } = event;
  const hasEnded = context.endedAt !== null;
  const changed = withChange(context.table, event);
  const isFailure = changed !== context.table && event.state === 'FAILED' && event.final;
  // A workflow that failed because of a parent was told by us, and so are all that depend on it.
  const isFirst = isFailure && event.cause !== 'parentFailed';
  const left = isFirst && !hasEnded ? withDoomed(changed, workflowId) : changed;
  const asking = hasEnded ? { table: left, ready: [] } : letAsk(left, context.rules.readyMax);
  const { table, stopped } = letStop(asking.table, hasEnded);
  const isStart = context.status === 'submitted' && event.state === 'DISPATCHED';
  return {
    next: {
      table,
      seenAt: at,
      ...(!hasEnded && progressed(context, at)),
      ...(isStart && { status: 'running' as const, seq: context.seq + 1 }),
      ...(isFirst && context.failure === null && { failure: failureOf(event) }),
      ...(lateEvent !== null && withLate(context, lateEvent, at, workflowId)),
    },
    says: [
      ...asking.ready.map((id) => toWorkflow(context, id, { type: 'workflow.ready' })),
      ...stopping({ ...context, table }, stopped),
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
export function takeOver(context: JobContext, event: Taken<LeadershipAcquired>): JobStep {
  const { at, fence, node = context.managerId, url } = event;
  if (fence <= context.term) return {};
  const next = { ...takenOver(context, at), term: fence, managerId: node, managerUrl: url };
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
export function takeOverEnded(context: JobContext, event: Taken<LeadershipAcquired>): JobStep {
  const { at, fence, node = context.managerId, url } = event;
  if (fence <= context.term) return {};
  const { leaderFence } = takenOver(context, at);
  const led = { term: fence, managerId: node, managerUrl: url };
  const next = { leaderFence: leaderFence as number, ...led, seenAt: at };
  return { next, says: restarting(context, at) };
}

/** Deadlines of seconds count by the clock of this leader from now on, when it is behind. */
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
  const isReport = event.type === 'timeout.reported';
  return {
    notes: isReport ? [note(context, 'timeout.reportFailed', at, { reason: code })] : [],
    says: [...givingBack(context, at), { to, event: ofNow(context, event) }],
  };
}

/** To a gate that has nothing of this job: all that it needs to begin again. */
export function givingBack(context: JobContext, at: number): readonly Saying[] {
  const { gateId, jobId } = context;
  if (gateId === null) return [];
  const spawned = { type: SPAWN_EVENT, input: gate.rebuilt(context, gateId, at) };
  return [{ to: gateJobAddress(jobId, gateId), event: spawned }];
}

/** It may be older than the last takeover, and the gate takes nothing of an earlier leader any more. */
function ofNow(context: JobContext, event: MessageRefused['event']) {
  return 'leaderFence' in event ? { ...event, ...gate.originOf(context) } : event;
}

/** Message that a lost workflow would have sent: it cannot be done, or has nothing to stop. */
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
