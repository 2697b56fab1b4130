/** What can be wrong with a submission, and where: the words that its sender is told. */

import type { WorkflowSpec } from '../../machines/jobs/messages/client.ts';

export interface Breach {
  readonly field: string;
  readonly detail: string;
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

/** Names twice, names that nobody has, and circles. */
export function findWrongDependency(workflows: readonly WorkflowSpec[]): Breach | undefined {
  const byId = new Map(workflows.map((workflow) => [workflow.id, workflow]));
  if (byId.size < workflows.length) {
    const seen = new Set<string>();
    const index = workflows.findIndex(({ id }) => seen.size === seen.add(id).size);
    return { field: `workflows[${index}].id`, detail: 'is there twice' };
  }
  const waiting = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  for (const [index, { id, dependsOn }] of workflows.entries()) {
    waiting.set(id, new Set(dependsOn).size);
    for (const parent of new Set(dependsOn)) {
      if (!byId.has(parent))
        return { field: `workflows[${index}].dependsOn`, detail: 'names no workflow of the job' };
      const known = dependents.get(parent);
      if (known === undefined) dependents.set(parent, [id]);
      else known.push(id);
    }
  }
  const free = [...waiting].filter(([, count]) => count === 0).map(([id]) => id);
  for (const id of free) {
    for (const dependent of dependents.get(id) ?? []) {
      const left = (waiting.get(dependent) as number) - 1;
      waiting.set(dependent, left);
      if (left === 0) free.push(dependent);
    }
  }
  if (free.length === workflows.length) return undefined;
  const index = workflows.findIndex(({ id }) => (waiting.get(id) as number) > 0);
  return { field: `workflows[${index}].dependsOn`, detail: 'is part of a circle' };
}
