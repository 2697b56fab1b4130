/**
 * Tasks of a plan: what is to be done, by whom, and after what.
 */

import type { PlannedTask } from '../../../machines/agents/orchestration.ts';
import type { Field } from '../../../reading/field.ts';
import { amountsOf } from './limits.ts';
import { ID_PATTERN, ID_WORDS, PRIORITY, TASKS_MAX, TIMEOUTS } from './words.ts';

const KEYS = {
  id: true,
  prompt: true,
  agent: true,
  dependsOn: false,
  priority: false,
  timeouts: false,
  budget: false,
} as const;

export function readTasks(
  field: Field | undefined,
  agents: readonly string[],
  drivers: readonly string[],
): readonly PlannedTask[] {
  if (field === undefined) return [];
  const names = [...agents, ...drivers];
  const seen = new Set<string>();
  const places = new Map<string, Field>();
  const tasks = field.list((each) => {
    const task = readTask(each, names);
    if (task === undefined) return undefined;
    if (seen.has(task.taskId)) each.wrong(`there are two tasks "${task.taskId}"`);
    seen.add(task.taskId);
    places.set(task.taskId, each);
    return task;
  }, TASKS_MAX);
  if (tasks === undefined) return [];
  if (field.items().length === 0) field.wrong('must have a task');
  for (const { taskId, dependsOn } of tasks)
    for (const each of dependsOn)
      if (!seen.has(each))
        places.get(taskId)?.wrong(`depends on "${each}", and there is no such task`);
  const cycle = cycleIn(tasks);
  if (cycle !== undefined)
    places.get(cycle[0] as string)?.wrong(`dependsOn cycle: ${cycle.join(' -> ')}`);
  return tasks;
}

function readTask(field: Field, agents: readonly string[]): PlannedTask | undefined {
  const record = field.record(KEYS);
  const taskId = record?.id?.text(ID_PATTERN, ID_WORDS);
  const prompt = record?.prompt?.textWhere(() => true, 'a text');
  const agent = record?.agent?.name(agents, 'an agent');
  if (record === undefined || taskId === undefined || prompt === undefined || agent === undefined)
    return undefined;
  const { min, max } = TIMEOUTS.AGENT_TIMEOUT;
  const limits = record.timeouts?.record({ AGENT_TIMEOUT: false });
  return {
    taskId,
    priority: record.priority?.whole(PRIORITY) ?? 0,
    dependsOn:
      record.dependsOn?.list((each) => each.textWhere(() => true, 'a task'), TASKS_MAX) ?? [],
    plan: {
      prompt,
      agent,
      limitMs: limits?.AGENT_TIMEOUT?.duration({ min, max }) ?? null,
      budget: amountsOf(record.budget),
    },
  };
}

/** The first cycle of dependencies, from a task back to itself. */
function cycleIn(tasks: readonly PlannedTask[]): readonly string[] | undefined {
  const dependsOn = new Map(tasks.map((each) => [each.taskId, each.dependsOn]));
  const finished = new Set<string>();
  for (const { taskId } of tasks) {
    const path: string[] = [taskId];
    const rest: Array<Iterator<string>> = [iteratorOf(dependsOn, taskId)];
    while (rest.length > 0) {
      const next = rest.at(-1)?.next();
      if (next?.done !== false) {
        finished.add(path.pop() as string);
        rest.pop();
        continue;
      }
      const at = path.indexOf(next.value);
      if (at >= 0) return [...path.slice(at), next.value];
      if (finished.has(next.value)) continue;
      path.push(next.value);
      rest.push(iteratorOf(dependsOn, next.value));
    }
  }
  return undefined;
}

const iteratorOf = (
  dependsOn: ReadonlyMap<string, readonly string[]>,
  taskId: string,
): Iterator<string> => (dependsOn.get(taskId) ?? [])[Symbol.iterator]();
