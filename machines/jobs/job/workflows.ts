/**
 * A job's table of its workflows: which depend on which, and how each stands, one letter each.
 *
 * The table is in the job's record and is written with each of its turns, so it is kept short.
 */

import type { WorkflowChanged } from '../messages/local.ts';
import type { FailureReason, WorkflowState } from '../words.ts';

export interface WorkflowTable {
  readonly ids: readonly string[];
  /** By place in `ids`; what depends on nothing is left out. */
  readonly dependsOn: Readonly<Record<string, readonly number[]>>;
  readonly standing: string;
}

/**
 * `w` waits for what it depends on · `a` asks for a worker, or will again after a pause
 * `d` dispatched · `r` running · `q` is stopping
 * `s` succeeded ■ · `f` failed for good ■ · `c` cancelled ■
 */
const WAITING = 'w';
const ASKING = 'a';
const STOPPING = 'q';
const SUCCEEDED = 's';
const FAILED = 'f';
const CANCELLED = 'c';

/** Workflows of one job that may ask for a worker at a time. */
const ASKING_MAX = 16;

export function newTable(
  ids: readonly string[],
  dependsOn: Readonly<Record<string, readonly number[]>>,
): WorkflowTable {
  return { ids, dependsOn, standing: WAITING.repeat(ids.length) };
}

function letterOf({ state, final }: WorkflowChanged): string {
  switch (state as WorkflowState) {
    case 'PENDING':
    case 'FAILED_READY_FOR_RETRY':
    case 'FAILED_CANCELING_DEPENDENTS':
      return ASKING;
    case 'DISPATCHED':
      return 'd';
    case 'RUNNING':
      return 'r';
    case 'COMPLETED':
    case 'AGGREGATED':
      return SUCCEEDED;
    case 'FAILED':
      return final ? FAILED : ASKING;
    case 'CANCELLING':
      return STOPPING;
    case 'CANCELLED':
      return CANCELLED;
  }
}

/** What has come to its end stays there. */
export function withChange(table: WorkflowTable, event: WorkflowChanged): WorkflowTable {
  const index = table.ids.indexOf(event.workflowId);
  const before = table.standing[index];
  if (before === undefined || isTerminal(before)) return table;
  return withLetters(table, [index], letterOf(event));
}

function withLetters(
  table: WorkflowTable,
  indexes: readonly number[],
  letter: string,
): WorkflowTable {
  const letters = [...table.standing];
  for (const index of indexes) letters[index] = letter;
  return { ...table, standing: letters.join('') };
}

const isTerminal = (letter: string): boolean =>
  letter === SUCCEEDED || letter === FAILED || letter === CANCELLED;

const countOf = ({ standing }: WorkflowTable, letter: string): number =>
  standing.split(letter).length - 1;

export const hasAttemptOut = ({ standing }: WorkflowTable): boolean =>
  standing.includes('d') || standing.includes('r');

/** Nothing of the job runs, and something waits for a worker. */
export const isQueued = (table: WorkflowTable): boolean =>
  !hasAttemptOut(table) && table.standing.includes(ASKING);

export const hasSucceeded = (table: WorkflowTable): boolean => /^s+$/.test(table.standing);

export const isOver = (table: WorkflowTable): boolean => /^[sfc]+$/.test(table.standing);

/** No workflow can start any more. */
export const isQuelled = (table: WorkflowTable): boolean => /^[sfcq]*$/.test(table.standing);

export const hasFailure = (table: WorkflowTable): boolean => table.standing.includes(FAILED);

export const tallyOf = (table: WorkflowTable) => ({
  workflowsTotal: table.ids.length,
  workflowsCompleted: countOf(table, SUCCEEDED),
  workflowsFailed: countOf(table, FAILED),
});

/** Those that may ask for a worker now, the first in the submission first. */
export function letAsk(table: WorkflowTable): {
  readonly table: WorkflowTable;
  readonly ready: readonly string[];
} {
  const room = ASKING_MAX - countOf(table, ASKING);
  const ready: number[] = [];
  for (let index = 0; index < table.ids.length && ready.length < room; index += 1) {
    if (table.standing[index] !== WAITING) continue;
    const parents = table.dependsOn[index] ?? [];
    if (parents.every((parent) => table.standing[parent] === SUCCEEDED)) ready.push(index);
  }
  if (ready.length === 0) return { table, ready: [] };
  const ids = ready.map((index) => table.ids[index] as string);
  return { table: withLetters(table, ready, ASKING), ready: ids };
}

/** All that can never begin because this one has failed, but for what is over anyway. */
export function dependentsOf(table: WorkflowTable, workflowId: string): readonly string[] {
  const children = table.ids.map((): number[] => []);
  for (const [index, parents] of Object.entries(table.dependsOn))
    for (const parent of parents) children[parent]?.push(Number(index));
  const doomed = new Set([table.ids.indexOf(workflowId)]);
  // A set goes on to what is added while it is gone through.
  for (const index of doomed) for (const child of children[index] ?? []) doomed.add(child);
  const isOpen = (index: number): boolean => !isTerminal(table.standing[index] as string);
  const open = [...doomed].slice(1).filter(isOpen);
  return open.map((index) => table.ids[index] as string);
}

/** Those that have not come to their end. */
export const unfinished = ({ ids, standing }: WorkflowTable): readonly string[] =>
  ids.filter((_, index) => !isTerminal(standing[index] as string));

export const failureOf = ({ cause }: WorkflowChanged): FailureReason =>
  cause === 'dispatch' ? 'dispatchExhausted' : 'workflowFailed';
