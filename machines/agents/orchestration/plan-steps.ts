/**
 * Steps of an orchestration that are about its plan: tasks that come, change and go, and what follows from the
 * state that one has come to.
 */

import { SPAWN_EVENT, type Table } from '../../../runtime/machine.ts';
import { taskAddress } from '../addresses.ts';
import {
  type EventOf,
  isFinal,
  type OrchestrationContext,
  type PlannedTask,
  type TaskRow,
} from './context.ts';
import { failedDependency, readiness } from './order.ts';
import type { Said, Step } from './steps.ts';

const DIGITS = 6;
const orderOf = (index: number): string => String(index).padStart(DIGITS, '0');

/** Takes the plan as it is now: new tasks, changed ones, and those that are no part of it any more. */
export function takePlan(context: OrchestrationContext, event: EventOf<'run.begun'>): Step {
  const { runId } = context;
  const says: Said[] = [];
  let { tasks } = context;
  const named = new Set(event.tasks.map(({ taskId }) => taskId));
  for (const [taskId, row] of context.tasks)
    if (!named.has(taskId) && row.attempts === 0 && !isPart(tasks, taskId) && !isFinal(row)) {
      tasks = tasks.without(taskId);
      says.push({ to: taskAddress(runId, taskId), event: { type: 'task.removed' } });
    }
  for (const [index, planned] of event.tasks.entries()) {
    const { taskId, priority, dependsOn, plan } = planned;
    const before = tasks.get(taskId);
    const order = orderOf(index);
    if (before === undefined) {
      tasks = tasks.with(taskId, newRow(planned, order));
      says.push(birth(runId, planned));
    } else if (!isFinal(before)) {
      // One that was attempted keeps what it waits for.
      const waits = before.attempts === 0 ? { dependsOn } : {};
      tasks = tasks.with(taskId, { ...before, order, priority, plan, ...waits });
      says.push({ to: taskAddress(runId, taskId), event: { type: 'task.changed', plan } });
    }
  }
  const { rules, exitWhenBlocked, about } = event;
  const taken = unblocked({ ...context, tasks });
  return {
    // A drain was for the run as it was.
    next: { ...taken.next, rules, exitWhenBlocked, about, isDraining: false },
    says: [...says, ...(taken.says ?? [])],
  };
}

const isPart = (tasks: Table<TaskRow>, taskId: string): boolean =>
  [...tasks].some(([, { parts }]) => parts.includes(taskId));

const newRow = ({ priority, dependsOn, plan }: PlannedTask, order: string): TaskRow => ({
  order,
  priority,
  dependsOn,
  plan,
  state: 'blocked',
  attempts: 0,
  parts: [],
});

const birth = (runId: string, { taskId, plan }: PlannedTask): Said => ({
  to: taskAddress(runId, taskId),
  event: { type: SPAWN_EVENT, input: { runId, taskId, plan } },
});

/** Tells tasks that wait for nothing any more, and those that can never begin, until nothing follows from it. */
function unblocked(context: OrchestrationContext): Step {
  const says: Said[] = [];
  let { tasks } = context;
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false;
    for (const [taskId, row] of tasks) {
      const ready = row.state === 'blocked' ? readiness(tasks, row) : 'open';
      if (ready === 'open') continue;
      hasChanged = true;
      const to = taskAddress(context.runId, taskId);
      if (ready === 'satisfied') says.push({ to, event: { type: 'task.unblocked' } });
      else {
        const dependency = failedDependency(tasks, row);
        says.push({ to, event: { type: 'dependency.failed', dependency } });
      }
      const state = ready === 'satisfied' ? 'available' : 'unreachable';
      tasks = tasks.with(taskId, { ...row, state });
    }
  }
  return { next: { tasks }, says };
}

/** A task has come to a state. What is known of it already, and of what is final, changes nothing. */
export function settle(context: OrchestrationContext, event: EventOf<'task.settled'>): Step {
  const { taskId, attemptId, state, parts } = event;
  const live = attemptId === null ? context.live : context.live.without(attemptId);
  const collecting = context.collecting.filter((each) => each !== attemptId);
  const row = context.tasks.get(taskId);
  if (row === undefined || isFinal(row)) return { next: { live, collecting } };
  const split = withParts(context, taskId, row, parts);
  const settled = { ...row, state, parts: split.ids };
  const tasks = split.tasks.with(taskId, settled);
  const after = unblocked({ ...context, tasks });
  return {
    next: { live, collecting, ...after.next },
    says: [...split.says, ...(after.says ?? [])],
  };
}

function withParts(
  { runId, tasks: before }: OrchestrationContext,
  taskId: string,
  row: TaskRow,
  parts: EventOf<'task.settled'>['parts'],
) {
  const says: Said[] = [];
  const ids: string[] = [];
  let tasks = before;
  let number = 0;
  for (const { prompt, agent, priority } of parts) {
    do number += 1;
    while (tasks.has(`${taskId}.${number}`));
    const id = `${taskId}.${number}`;
    const planned: PlannedTask = {
      taskId: id,
      priority: priority ?? row.priority,
      dependsOn: [],
      plan: { ...row.plan, prompt, ...(agent !== undefined && { agent }) },
    };
    tasks = tasks.with(id, newRow(planned, `${row.order}.${orderOf(number)}`));
    says.push(birth(runId, planned));
    ids.push(id);
  }
  return { tasks, says, ids };
}
