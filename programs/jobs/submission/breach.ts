/** Breaches of a submission's rules, and where they are: the words that its sender is told. */

import type { WorkflowSpec } from '../../../machines/jobs/messages/client.ts';
import type { Steps } from '../jobs-service/slices.ts';

export interface Breach {
  readonly field: string;
  readonly detail: string;
  /** Each part of it is right, and all of it is too much. */
  readonly isTooLarge?: true;
}

export function breachOf(
  issues: ReadonlyArray<{ readonly path: readonly PropertyKey[]; readonly message: string }>,
  prefix: string,
): Breach {
  const [issue] = issues;
  const path = (issue?.path ?? []).map(String).join('.');
  return {
    field: [prefix, path].filter((part) => part !== '').join('.') || 'body',
    detail: issue?.message ?? 'is not what was expected',
  };
}

/** Names twice, names that nobody has, and circles. A step is a workflow; it weighs its dependencies. */
export function* findWrongDependency(
  workflows: readonly WorkflowSpec[],
): Steps<Breach | undefined> {
  const waiting = new Map<string, number>();
  for (const [index, { id, dependsOn }] of workflows.entries()) {
    if (waiting.size === waiting.set(id, new Set(dependsOn).size).size)
      return { field: `workflows[${index}].id`, detail: 'is there twice' };
    yield 1 + dependsOn.length;
  }
  const dependents = new Map<string, string[]>();
  for (const [index, { id, dependsOn }] of workflows.entries()) {
    for (const parent of new Set(dependsOn)) {
      if (!waiting.has(parent))
        return { field: `workflows[${index}].dependsOn`, detail: 'names no workflow of the job' };
      const known = dependents.get(parent);
      if (known === undefined) dependents.set(parent, [id]);
      else known.push(id);
    }
    yield 1 + dependsOn.length;
  }
  const free = [...waiting].filter(([, count]) => count === 0).map(([id]) => id);
  for (const id of free) {
    const own = dependents.get(id) ?? [];
    for (const dependent of own) {
      const left = (waiting.get(dependent) as number) - 1;
      waiting.set(dependent, left);
      if (left === 0) free.push(dependent);
    }
    yield 1 + own.length;
  }
  if (free.length === workflows.length) return undefined;
  const index = workflows.findIndex(({ id }) => (waiting.get(id) as number) > 0);
  return { field: `workflows[${index}].dependsOn`, detail: 'is part of a circle' };
}
