/**
 * Assignment: the first line to an agent or an expert, with all that is known of its task.
 */

import type { AgentContext } from '../../machines/agents/agent/context.ts';
import type { DelegationContext } from '../../machines/agents/delegation/context.ts';
import type { OrchestrationContext } from '../../machines/agents/orchestration.ts';
import type { TaskContext } from '../../machines/agents/task.ts';
import type { ToAgent } from './worker.ts';

interface Dependency {
  readonly id: string;
  readonly state: string;
  readonly result: unknown;
}

export function agentAssignment(
  { attemptId, attempt, rules }: AgentContext,
  task: TaskContext,
  dependencies: readonly Dependency[],
  at: number,
): ToAgent {
  return {
    type: 'task.assigned',
    attemptId,
    at,
    taskId: task.taskId,
    role: 'agent',
    prompt: task.plan.prompt,
    timeoutMs: rules.agentLimitMs,
    attempt,
    dependencies,
    clarifications: task.clarifications,
    answers: task.answers,
    expertAnswers: task.expertAnswers,
    lastCheckpoint: task.lastCheckpoint,
  };
}

export function expertAssignment(
  { attemptId, taskId, prompt, limitMs, data }: DelegationContext,
  at: number,
): ToAgent {
  return {
    type: 'task.assigned',
    attemptId,
    at,
    taskId,
    role: 'expert',
    prompt,
    timeoutMs: limitMs,
    attempt: 1,
    dependencies: [],
    clarifications: [],
    answers: [],
    expertAnswers: [],
    lastCheckpoint: null,
    data,
  };
}

/** What a task depends on; the parts of one that was split follow it. */
export function* dependenciesOf(
  { tasks }: Pick<OrchestrationContext, 'tasks'>,
  ids: readonly string[],
  resultOf: (taskId: string) => unknown,
): Iterable<Dependency> {
  for (const id of ids) {
    const row = tasks.get(id);
    if (row === undefined) continue;
    yield { id, state: row.state, result: row.state === 'done' ? resultOf(id) : null };
    yield* dependenciesOf({ tasks }, row.parts, resultOf);
  }
}
