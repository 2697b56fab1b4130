/**
 * Edits of limits: what a recommendation changes in the file of a workflow, and the file with it.
 *
 * Only limits that the policy of the file uses, and never what a step states for itself. A file that somebody else has
 * changed since its last run is left alone: the recommendation was made for what ran.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceDurably } from '../runs.ts';
import type { About } from './plan.ts';
import type { Recommendation } from './recommendation.ts';
import { hashOf } from './run.ts';
import type { StoredRun } from './stored-runs.ts';
import { type Edit, edited, type MapSection, parseWorkflow, WorkflowError } from './workflow.ts';

export interface LimitChange {
  /** `map.timeout_config.agent_timeout_secs`. */
  readonly path: string;
  /** Null where it stood nowhere. */
  readonly from: number | null;
  readonly to: number;
}

export interface LimitEdits {
  readonly file: string;
  readonly text: string;
  readonly changes: readonly LimitChange[];
}

/** Hashes of files as they were written here, so that these changes are known from those of others. */
const WRITTEN = 'written-limits.json';
const CONFIG = ['map', 'timeout_config'];

/** What changes in the file that the last of these runs came from. @throws {WorkflowError} */
export function editsFor(
  data: string,
  run: StoredRun,
  recommendations: readonly Recommendation[],
): LimitEdits {
  const { workflowFile: file, workflowHash } = run.context.about as unknown as About;
  if (file === null)
    throw new WorkflowError(`Run ${run.context.runId} came from no file that could be written`, '');
  if (!existsSync(file)) throw new WorkflowError('Invalid workflow: there is no such file', file);
  const before = readFileSync(file, 'utf8');
  const { map } = parseWorkflow(before, file);
  const changes = changesIn(map, recommendations);
  const hash = hashOf(before);
  if (changes.length > 0 && hash !== workflowHash && hash !== writtenIn(data)[file])
    throw new WorkflowError(`${file} was changed since run ${run.context.runId}`, file);
  const edits = changes.map(({ path, to }): Edit => ({ path: path.split('.'), value: to }));
  const text = edited(before, edits);
  parseWorkflow(text, file);
  return { file, text, changes };
}

/** Writes them in one piece. */
export function writeEdits(data: string, { file, text }: LimitEdits): void {
  const known = JSON.stringify({ ...writtenIn(data), [file]: hashOf(text) });
  replaceDurably(join(data, WRITTEN), known);
  replaceDurably(file, text);
}

function writtenIn(data: string): Readonly<Record<string, string>> {
  const path = join(data, WRITTEN);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>) : {};
}

function changesIn(map: MapSection, all: readonly Recommendation[]): readonly LimitChange[] {
  const changes: LimitChange[] = [];
  const change = (path: readonly string[], fromMs: number | null, key: string): void => {
    const found = all.find((each) => each.key === key);
    const to = found?.mark === null ? found.recommendedSecs : null;
    const from = fromMs === null ? null : fromMs / 1_000;
    if (to !== null && from !== to) changes.push({ path: path.join('.'), from, to });
  };
  if (map.timeout.policy !== 'per_command' || map.agentTimeoutMs !== null)
    for (const path of map.agentLimitPaths) change(path, map.agentTimeoutMs, 'agent');
  for (const key of usedKeys(map)) {
    const stated = map.timeout.commandTimeouts.find((each) => each.key === key);
    change([...CONFIG, 'command_timeouts', key], stated?.ms ?? null, key);
  }
  return changes;
}

/**
 * Keys of commands' limits that the policy uses: under `hybrid` those that stand there and fit a step, under
 * `per_command` one for each step, by its type where no other step has that.
 */
function usedKeys({ template, timeout }: MapSection): readonly string[] {
  if (timeout.policy === 'per_agent') return [];
  const keys = new Set<string>();
  for (const [index, { type, timeoutMs }] of template.entries()) {
    if (timeoutMs !== null) continue;
    const own = `${type}_${index}`;
    const stands = (key: string): boolean =>
      timeout.commandTimeouts.some((each) => each.key === key);
    const isAlone = template.filter((step) => step.type === type).length === 1;
    if (stands(own)) keys.add(own);
    else if (timeout.policy === 'hybrid') {
      if (stands(type)) keys.add(type);
    } else keys.add(isAlone ? type : own);
  }
  return [...keys];
}
