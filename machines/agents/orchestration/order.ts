/**
 * Order of dispatch: which task is next, what waits for what, and what can never be reached.
 */

import type { Table } from '../../../runtime/machine.ts';
import { isFinal, type OrchestrationContext, type TaskRow } from './context.ts';

type Tasks = Table<TaskRow>;

/** `failed`: it never will be. */
type Dependency = 'satisfied' | 'open' | 'failed';

function dependencyOn(tasks: Tasks, taskId: string): Dependency {
  const row = tasks.get(taskId);
  if (row === undefined || row.state === 'failed' || row.state === 'unreachable') return 'failed';
  if (row.state === 'done' || row.state === 'skipped') return 'satisfied';
  return row.state === 'replaced'
    ? all(row.parts.map((each) => dependencyOn(tasks, each)))
    : 'open';
}

function all(dependencies: readonly Dependency[]): Dependency {
  if (dependencies.includes('failed')) return 'failed';
  return dependencies.includes('open') ? 'open' : 'satisfied';
}

export const readiness = (tasks: Tasks, { dependsOn }: TaskRow): Dependency =>
  all(dependsOn.map((each) => dependencyOn(tasks, each)));

export function failedDependency(tasks: Tasks, { dependsOn }: TaskRow): string {
  return dependsOn.find((each) => dependencyOn(tasks, each) === 'failed') ?? '';
}

/** The task that is dispatched next, of those that are available. */
export function nextTask({ tasks }: OrchestrationContext): string | undefined {
  const available = [...tasks].filter(([, { state }]) => state === 'available');
  if (available.length < 2) return available[0]?.[0];
  const dependents = dependentsOf(tasks);
  const counted = available.map(
    ([taskId, row]) => [taskId, row, waitersFor(taskId, tasks, dependents)] as const,
  );
  counted.sort(
    ([, one, ones], [, other, others]) =>
      other.priority - one.priority || others - ones || (one.order < other.order ? -1 : 1),
  );
  return counted[0]?.[0];
}

function dependentsOf(tasks: Tasks): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [taskId, row] of tasks)
    for (const each of row.dependsOn) found.set(each, [...(found.get(each) ?? []), taskId]);
  return found;
}

/** Unfinished tasks that wait for it, directly or not. Those that wait for a whole wait for its parts. */
function waitersFor(
  taskId: string,
  tasks: Tasks,
  dependents: ReadonlyMap<string, readonly string[]>,
): number {
  const seen = new Set<string>();
  const rest = [...wholesOf(taskId, tasks)];
  for (let each = rest.pop(); each !== undefined; each = rest.pop())
    for (const dependent of dependents.get(each) ?? []) {
      const row = tasks.get(dependent);
      if (row === undefined || isFinal(row) || seen.has(dependent)) continue;
      seen.add(dependent);
      rest.push(dependent);
    }
  return seen.size;
}

/** The task itself, and those whose part it is. */
function* wholesOf(taskId: string, tasks: Tasks): Iterable<string> {
  yield taskId;
  for (const [whole, { parts }] of tasks) if (parts.includes(taskId)) yield* wholesOf(whole, tasks);
}

/** The delegation that gets a place at its expert next: in the order in which they came. */
export function nextDelegation({ delegations, rules }: OrchestrationContext): string | undefined {
  const rows = [...delegations].sort(([, one], [, other]) => one.number - other.number);
  const running = new Map<string, number>();
  for (const [, { expert, isGranted }] of rows)
    if (isGranted) running.set(expert, (running.get(expert) ?? 0) + 1);
  return rows.find(
    ([, { expert, isGranted }]) =>
      !isGranted && (running.get(expert) ?? 0) < (rules?.experts[expert] ?? 1),
  )?.[0];
}
