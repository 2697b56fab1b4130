/**
 * Steps of an orchestration: what it begins, grants, collects and ends, as pure functions from the context to
 * what is remembered and said then.
 */

import { attemptIdOf, delegationAddress, taskAddress } from '../addresses.ts';
import type { NoteParams } from '../notes.ts';
import { addUsage, overdrawn, type StopReason, type TaskRules } from '../words.ts';
import type { EventOf, OrchestrationContext, TaskRow } from './context.ts';
import { nextDelegation, nextTask } from './order.ts';

export interface Said {
  readonly to: string;
  readonly event: { readonly type: string; readonly [field: string]: unknown };
}

export interface Step {
  readonly next: Partial<OrchestrationContext>;
  readonly says?: readonly Said[];
  readonly notes?: ReadonlyArray<Omit<NoteParams, 'at' | 'run_id'>>;
}

/** Begins attempts while a slot is free, up to `slots` of them. */
export function dispatch(context: OrchestrationContext, slots: number): Step {
  const says: Said[] = [];
  let { tasks, live } = context;
  for (
    let taskId = nextTask(context);
    taskId !== undefined && live.size < slots;
    taskId = nextTask({ ...context, tasks })
  ) {
    const row = tasks.get(taskId) as TaskRow;
    const attempt = row.attempts + 1;
    tasks = tasks.with(taskId, { ...row, state: 'running', attempts: attempt });
    live = live.with(attemptIdOf(taskId, attempt), { taskId, isWaiting: false });
    says.push({
      to: taskAddress(context.runId, taskId),
      event: { type: 'task.dispatched', attempt, rules: rulesFor(context, row) },
    });
  }
  return { next: { tasks, live }, says };
}

function rulesFor({ rules }: OrchestrationContext, { plan }: TaskRow): TaskRules | undefined {
  if (rules === null || !rules.silentAgents.includes(plan.agent)) return rules?.task;
  return { ...rules.task, attempt: { ...rules.task.attempt, checkpointIntervalMs: null } };
}

/** Gives places at experts to those who wait for them. */
export function grant(context: OrchestrationContext): Step {
  const says: Said[] = [];
  let { delegations } = context;
  for (
    let id = nextDelegation(context);
    id !== undefined;
    id = nextDelegation({ ...context, delegations })
  ) {
    const row = delegations.get(id);
    if (row === undefined) break;
    delegations = delegations.with(id, { ...row, isGranted: true });
    says.push({ to: delegationAddress(context.runId, id), event: { type: 'expert.granted' } });
  }
  return { next: { delegations }, says };
}

/** Asks every attempt for a checkpoint, with one window for all of them. */
export function collect(
  context: OrchestrationContext,
  at: number,
  reason: 'compaction' | 'pause',
): Step {
  const windowEndsAt = at + (context.rules?.task.attempt.checkpointTimeoutMs ?? 0);
  return {
    next: { collecting: [...context.live.keys()], windowEndsAt },
    says: [...context.live].map(([, { taskId }]) => ({
      to: taskAddress(context.runId, taskId),
      event: { type: 'checkpoint.collect', reason, windowEndsAt },
    })),
  };
}

/** Ends every attempt and every expert. */
export function stopAll(
  { runId, live, delegations }: OrchestrationContext,
  reason: StopReason,
): Step {
  return {
    next: {},
    says: [
      ...[...live].map(([, { taskId }]) => ({
        to: taskAddress(runId, taskId),
        event: { type: 'attempt.recall', reason },
      })),
      ...[...delegations].map(([id]) => ({
        to: delegationAddress(runId, id),
        event: { type: 'attempt.stop', reason },
      })),
    ],
  };
}

export function killAll({ runId, live, delegations }: OrchestrationContext): Step {
  const event = { type: 'attempt.kill' };
  return {
    next: {},
    says: [
      ...[...live].map(([, { taskId }]) => ({ to: taskAddress(runId, taskId), event })),
      ...[...delegations].map(([id]) => ({ to: delegationAddress(runId, id), event })),
    ],
  };
}

export function queue(context: OrchestrationContext, event: EventOf<'delegation.queued'>): Step {
  const { delegationId, expert, taskId } = event;
  const number = context.delegationCount + 1;
  const row = { expert, taskId, number, isGranted: false };
  return {
    next: {
      delegationCount: number,
      delegations: context.delegations.with(delegationId, row),
    },
  };
}

/** A value above the threshold arms it for the next time. */
export function takeUsage(
  context: OrchestrationContext,
  { kind, remainingPercent, amounts }: EventOf<'usage.reported'>,
): Partial<OrchestrationContext> {
  const { rules } = context;
  const usage = addUsage(context.usage, amounts);
  if (remainingPercent === null || rules === null || kind === 'agent') return { usage };
  if (kind === 'context')
    return {
      usage,
      contextRemaining: remainingPercent,
      isContextArmed: context.isContextArmed || remainingPercent > rules.contextThreshold,
    };
  return {
    usage,
    sessionRemaining: remainingPercent,
    isSessionArmed: context.isSessionArmed || remainingPercent > rules.sessionThreshold,
  };
}

export const isOverBudget = ({ rules, usage }: OrchestrationContext): boolean =>
  rules !== null && overdrawn(rules.budget, usage) !== undefined;
