/**
 * Ends that a job comes to by itself: a deadline that is due, work that is done, and what follows from an end.
 */

import { workerHealthAddress, workflowAddress } from '../addresses.ts';
import type { LogEvent } from '../log-events.ts';
import type {
  ClockWentBack,
  ParentFailed,
  WorkflowCancel,
  WorkflowHeld,
  WorkflowReady,
} from '../messages/local.ts';
import { answering, type Saying } from '../step.ts';
import type { LocalReason, Reason } from '../words.ts';
import {
  elapsedMs,
  ending,
  extensionsMs,
  type JobContext,
  type JobStep,
  note,
  overallDue,
} from './context.ts';
import * as gate from './gate.ts';
import { failedParentOf, hasSucceeded, letStop } from './workflows.ts';

export const toWorkflow = (
  { jobId, datacenter }: JobContext,
  workflowId: string,
  event: WorkflowReady | WorkflowHeld | WorkflowCancel | ParentFailed | ClockWentBack,
): Saying => ({ to: workflowAddress(jobId, workflowId, datacenter), event });

/** That it is over, each of them hears: because the job has ended, or a parent has failed. */
export function stopping(context: JobContext, ids: readonly string[]): readonly Saying[] {
  const { endedAt, status, table } = context;
  const cancel = { type: 'workflow.cancel', cause: status } as const;
  return ids.map((id) => {
    if (endedAt !== null) return toWorkflow(context, id, cancel);
    return toWorkflow(context, id, {
      type: 'parent.failed',
      workflowId: failedParentOf(table, id),
    });
  });
}

/**
 * It never came to all its workflows: nobody was told that it exists. A gate that decided about it all
 * the same waits for an answer, and hears that there is no such job.
 */
export function abandon(context: JobContext, at: number): JobStep {
  const { heldDecision: held } = context;
  return {
    next: {
      ...ending(context, at, 'cancelled', null),
      isFinalKnown: true,
      isAbandoned: true,
      heldDecision: undefined,
    },
    says:
      held === undefined
        ? []
        : gate.acknowledge(context, held, { accepted: false, reason: 'unknown' }),
  };
}

/**
 * Its submission was on its way for so long that the gate has closed the job: it never begins, and
 * nobody waits to hear so.
 */
export function giveUp(context: JobContext, at: number): JobStep {
  return {
    next: { ...ending(context, at, 'cancelled', null), isFinalKnown: true },
    notes: [note(context, 'event.late', at, { kind: 'job.submitted' })],
  };
}

/** Due, and nobody above to ask. */
export function timeOut(context: JobContext, reason: LocalReason, at: number): JobStep {
  return {
    next: ending(context, at, 'timedOut', reason, { localReason: reason }),
    notes: [detected(context, reason, at)],
  };
}

/** Due, and the gate decides. */
export function reportTimeout(context: JobContext, reason: LocalReason, at: number): JobStep {
  const next = {
    localReason: reason,
    timeoutReportedAt: at,
    lastGateContactAt: context.lastGateContactAt,
    seenAt: at,
  };
  return {
    next,
    says: gate.timeoutReport({ ...context, ...next }, reason, at),
    notes: [detected(context, reason, at), note(context, 'timeout.reported', at, { reason })],
  };
}

/** Due, and timeouts only watch. */
export function shadow(context: JobContext, reason: LocalReason, at: number): JobStep {
  return {
    next: { seenAt: at, shadows: [...context.shadows, { reason, at }] },
    notes: [note(context, 'timeout.shadowed', at, { reason, ...arithmetic(context, at) })],
  };
}

export function fallBack(context: JobContext, at: number): JobStep {
  const { localReason, timeoutReportedAt, lastGateContactAt } = context;
  return {
    next: ending(context, at, 'timedOut', 'fallback'),
    notes: [
      note(context, 'timeout.fallback', at, { localReason, timeoutReportedAt, lastGateContactAt }),
    ],
  };
}

function detected(context: JobContext, reason: Reason, at: number): LogEvent {
  return note(context, 'timeout.detected', at, { reason, ...arithmetic(context, at) });
}

const arithmetic = (context: JobContext, at: number) => ({
  elapsedMs: elapsedMs(context, at),
  timeoutMs: context.timeoutMs,
  extensionsMs: extensionsMs(context),
  sinceProgressMs: at - context.lastProgressAt,
  overdueMs: at - overallDue(context),
});

/** Success when all have succeeded; otherwise the first final failure is the reason. */
export function conclude(context: JobContext, at: number): JobStep {
  if (hasSucceeded(context.table)) return { next: ending(context, at, 'completed', null) };
  return { next: ending(context, at, 'failed', context.failure ?? 'workflowFailed') };
}

/** Begins to stop what is left. */
export function windUp(context: JobContext, at: number): JobStep {
  const { status, reason, localReason, gateReason, jobId, datacenter } = context;
  const { table, stopped } = letStop(context.table, true);
  return {
    next: { table },
    says: [
      ...stopping(context, stopped),
      ...Object.keys(context.creditByWorker).map((workerId) => ({
        to: workerHealthAddress(workerId, datacenter),
        event: { type: 'credit.closed', jobId },
      })),
    ],
    notes: [
      note(context, 'job.ended', at, {
        status,
        reason,
        localReason,
        gateReason,
        elapsedMs: elapsedMs(context, at),
        extensionsMs: extensionsMs(context),
      }),
    ],
  };
}

/** No workflow starts any more: the client that asked for the cancel hears so. */
export function cancelled(context: JobContext): readonly Saying[] {
  return context.cancelAskers.flatMap((replyTo) =>
    answering(replyTo, { accepted: true, reason: null }),
  );
}
