/**
 * Table of a job's workflows: which depend on which, and how each stands, one letter each.
 */

import { knob } from '../../../runtime/base/knob.ts';
import type { WorkflowChanged } from '../messages/local.ts';
import type { FailureReason, WorkflowState } from '../words.ts';
import { tableOf, viewOf, type WorkflowTable } from './table.ts';

/**
 * `w` waits for what it depends on · `a` asks for a worker · `p` asks again, or will after a pause
 * `d` dispatched · `r` running · `q` is stopping · `k` can never begin, because of a parent
 * `s` succeeded ■ · `f` failed for good ■ · `c` cancelled ■
 *
 * As a capital: it was told that it is over, and has not said so yet.
 */
const WAITING = 'w';
const ASKING = 'a';
const ASKING_AGAIN = 'p';
const STOPPING = 'q';
const DOOMED = 'k';
const SUCCEEDED = 's';
const FAILED = 'f';
const CANCELLED = 'c';

/** Workflows of one lane of a job that may ask at a time, where its rules do not say. */
const READY_MAX = 16;

/** Workflows of one job that may be told at a time that they are over: a turn that tells ten thousand takes long. */
const UNHEARD_MAX = knob('workflowsUnheardMax', 256);

export function newTable(
  ids: readonly string[],
  dependsOn: Readonly<Record<string, readonly number[]>>,
  lanes?: readonly number[],
): WorkflowTable {
  const fixed = { ids, dependsOn, ...(lanes !== undefined && { lanes }) };
  return tableOf({ ...fixed, standing: WAITING.repeat(ids.length) });
}

function letterOf({ state, final }: WorkflowChanged): string {
  switch (state as WorkflowState) {
    case 'PENDING':
    case 'FAILED_READY_FOR_RETRY':
    case 'FAILED_CANCELING_DEPENDENTS':
      return ASKING_AGAIN;
    case 'DISPATCHED':
      return 'd';
    case 'RUNNING':
      return 'r';
    case 'COMPLETED':
    case 'AGGREGATED':
      return SUCCEEDED;
    case 'FAILED':
      return final ? FAILED : ASKING_AGAIN;
    case 'CANCELLING':
      return STOPPING;
    case 'CANCELLED':
      return CANCELLED;
  }
}

/** State of a workflow as the job knows it, in the words of a workflow. */
export function stateIn(table: WorkflowTable, workflowId: string): WorkflowState {
  const view = viewOf(table);
  switch (view.letterAt(view.placeOf(workflowId) ?? -1)?.toLowerCase()) {
    case 'd':
      return 'DISPATCHED';
    case 'r':
      return 'RUNNING';
    case STOPPING:
      return 'CANCELLING';
    case SUCCEEDED:
      return 'COMPLETED';
    case FAILED:
      return 'FAILED';
    case CANCELLED:
      return 'CANCELLED';
    default:
      return 'PENDING';
  }
}

/**
 * Table after a change. What has come to its end stays there, and what was told stays told until it
 * stops.
 */
export function withChange(table: WorkflowTable, event: WorkflowChanged): WorkflowTable {
  const view = viewOf(table);
  const index = view.placeOf(event.workflowId) ?? -1;
  const before = view.letterAt(index);
  if (before === undefined || isTerminal(before)) return table;
  const letter = letterOf(event);
  const isHeard = !isTold(before) || letter === STOPPING || isTerminal(letter);
  return view.with(table, [index], () => (isHeard ? letter : letter.toUpperCase()));
}

const isTerminal = (letter: string): boolean =>
  letter === SUCCEEDED || letter === FAILED || letter === CANCELLED;

const isTold = (letter: string): boolean => letter < 'a';

/** Those that have still to begin, or to begin again. */
export const waitingIn = (table: WorkflowTable): number =>
  viewOf(table).count(WAITING + ASKING + ASKING_AGAIN);

export const hasAttemptOut = (table: WorkflowTable): boolean => viewOf(table).count('dr') > 0;

/** Nothing of the job runs, and something waits for a worker. */
export const isQueued = (table: WorkflowTable): boolean =>
  !hasAttemptOut(table) && viewOf(table).count(ASKING + ASKING_AGAIN) > 0;

const areAll = (table: WorkflowTable, letters: string): boolean =>
  viewOf(table).count(letters) === viewOf(table).ids.length;

export const hasSucceeded = (table: WorkflowTable): boolean => areAll(table, SUCCEEDED);

export const isOver = (table: WorkflowTable): boolean =>
  areAll(table, SUCCEEDED + FAILED + CANCELLED);

/**
 * True when no workflow of a job that has ended can start any more. One that still waits is not told
 * to begin.
 */
export const isQuelled = (table: WorkflowTable): boolean => viewOf(table).count('aprdAPRD') === 0;

/**
 * Those that may wait for an answer, or for the end of a pause. No more than are told of an end at a
 * time: the others only wait longer.
 */
export const withShortLimits = (table: WorkflowTable): readonly string[] =>
  idsOf(table, foundIn(viewOf(table).standing, /[apdq]/gi, UNHEARD_MAX.value));

export const hasFailure = (table: WorkflowTable): boolean => viewOf(table).count(FAILED) > 0;

export const tallyOf = (table: WorkflowTable) => ({
  workflowsTotal: viewOf(table).ids.length,
  workflowsCompleted: viewOf(table).count(SUCCEEDED),
  workflowsFailed: viewOf(table).count(FAILED),
});

/** Workflows that ask before their first run, and are to wait again. */
export function letWait(table: WorkflowTable): {
  readonly table: WorkflowTable;
  readonly held: readonly string[];
} {
  const view = viewOf(table);
  const asking = foundIn(view.standing, /a/g, view.standing.length);
  return { table: view.with(table, asking, () => WAITING), held: idsOf(table, asking) };
}

/**
 * Workflows that may ask for a worker now, the first in the submission first: at most `readyMax` of each
 * lane before their first run. Those that ask again hold back nobody: a workflow that waits for one worker
 * keeps no other worker idle.
 */
export function letAsk(
  table: WorkflowTable,
  readyMax: number = READY_MAX,
): {
  readonly table: WorkflowTable;
  readonly ready: readonly string[];
} {
  const view = viewOf(table);
  const { dependsOn, lanes } = view;
  const isFull = lanes === undefined && view.count(ASKING) >= readyMax;
  if (isFull || view.count(WAITING) === 0) return { table, ready: [] };
  const { standing } = view;
  const asking = new Map<number, number>();
  const laneAt = (index: number): number => lanes?.[index] ?? 0;
  const count = (lane: number): number => asking.get(lane) ?? 0;
  for (
    let index = standing.indexOf(ASKING);
    index >= 0;
    index = standing.indexOf(ASKING, index + 1)
  )
    asking.set(laneAt(index), count(laneAt(index)) + 1);
  const ready: number[] = [];
  for (
    let index = standing.indexOf(WAITING);
    index >= 0;
    index = standing.indexOf(WAITING, index + 1)
  ) {
    if (lanes === undefined && count(0) >= readyMax) break;
    const lane = laneAt(index);
    if (count(lane) >= readyMax) continue;
    const parents = dependsOn[index] ?? [];
    if (!parents.every((parent) => standing[parent] === SUCCEEDED)) continue;
    ready.push(index);
    asking.set(lane, count(lane) + 1);
  }
  if (ready.length === 0) return { table, ready: [] };
  return { table: view.with(table, ready, () => ASKING), ready: idsOf(table, ready) };
}

function idsOf(table: WorkflowTable, indexes: readonly number[]): readonly string[] {
  const { ids } = viewOf(table);
  return indexes.map((index) => ids[index] as string);
}

/**
 * Table in which all that can never begin because this one has failed is doomed, but for what is over
 * anyway.
 */
export function withDoomed(table: WorkflowTable, workflowId: string): WorkflowTable {
  const view = viewOf(table);
  const { ids, dependsOn, standing } = view;
  const parentsOf = Object.entries(dependsOn);
  if (parentsOf.length === 0) return table;
  const children = ids.map((): number[] => []);
  for (const [index, parents] of parentsOf)
    for (const parent of parents) children[parent]?.push(Number(index));
  const doomed = new Set([ids.indexOf(workflowId)]);
  // A set goes on to what is added while it is gone through.
  for (const index of doomed) for (const child of children[index] ?? []) doomed.add(child);
  const waiting = [...doomed].filter((index) => standing[index] === WAITING);
  return waiting.length === 0 ? table : view.with(table, waiting, () => DOOMED);
}

/** Dependency that a doomed workflow is told of: one that failed, or never begins either. */
export function failedParentOf(table: WorkflowTable, workflowId: string): string {
  const { ids, dependsOn, standing } = viewOf(table);
  const parents = dependsOn[ids.indexOf(workflowId)] ?? [];
  const failed = parents.find((parent) => standing[parent] === FAILED);
  const doomed = parents.find((parent) => standing[parent]?.toLowerCase() === DOOMED);
  return ids[failed ?? doomed ?? -1] ?? '';
}

/**
 * Those that are to be told now that they are over: the doomed, and once the job has ended all that
 * are left, first those that could still start. The next ones are told when half of these were heard.
 */
export function letStop(
  table: WorkflowTable,
  hasEnded: boolean,
): { readonly table: WorkflowTable; readonly stopped: readonly string[] } {
  const nobody = { table, stopped: [] };
  const view = viewOf(table);
  if (view.count(hasEnded ? 'apdrwk' : DOOMED) === 0) return nobody;
  const room = UNHEARD_MAX.value - view.capitals;
  if (room < UNHEARD_MAX.value / 2) return nobody;
  const { standing } = view;
  const search = hasEnded ? [/[apdr]/g, /[wk]/g] : [/k/g];
  const found = search.flatMap((letters) => foundIn(standing, letters, room)).slice(0, room);
  const told = view.with(table, found, (index) => (standing[index] as string).toUpperCase());
  return { table: told, stopped: idsOf(table, found) };
}

function foundIn(standing: string, letters: RegExp, max: number): readonly number[] {
  const found: number[] = [];
  for (const { index } of standing.matchAll(letters)) {
    if (found.length === max) break;
    found.push(index);
  }
  return found;
}

export const failureOf = ({ cause }: WorkflowChanged): FailureReason =>
  cause === 'dispatch' ? 'dispatchExhausted' : 'workflowFailed';
