/**
 * Storage of a job's table of its workflows within its record.
 *
 * What never changes is in rows of its own, and the letters are in rows of some workflows each, so that a turn
 * writes as much in a job of ten thousand as in one of ten. It is read as a `WorkflowView`; what the letters
 * mean is said in workflows.ts.
 */

import { knob } from '../../../runtime/base/knob.ts';
import { Table } from '../../../runtime/machine.ts';

export type WorkflowTable = Table<unknown>;

export interface WorkflowView {
  readonly ids: readonly string[];
  /** Dependencies by place in `ids`; what depends on nothing is left out. */
  readonly dependsOn: Readonly<Record<string, readonly number[]>>;
  /**
   * Lanes by place in `ids`: equal numbers want equal cores for the same handler; left out where all
   * do.
   */
  readonly lanes?: readonly number[];
  readonly standing: string;
}

/** Letters in one row: records rely on it. */
const ROW_LETTERS = knob('workflowsPerRow', 64);

export function tableOf({ standing, ...fixed }: WorkflowView): WorkflowTable {
  return standingAt(Table.of<unknown>(fixed), standing);
}

/** Views of tables read before; a table never changes. */
const views = new WeakMap<object, WorkflowView>();

/** View of a table, or of one as it stands in a record. */
export function viewOf(table: WorkflowTable | Readonly<Record<string, unknown>>): WorkflowView {
  const known = views.get(table);
  if (known !== undefined) return known;
  const rows = Table.of(table);
  const lanes = rows.get('lanes') as WorkflowView['lanes'];
  const letters = Array.from(rows.entries(STANDING)).filter(([key]) => key.startsWith(STANDING));
  const view: WorkflowView = {
    ids: rows.get('ids') as WorkflowView['ids'],
    dependsOn: rows.get('dependsOn') as WorkflowView['dependsOn'],
    ...(lanes !== undefined && { lanes }),
    standing: letters.map(([, row]) => row).join(''),
  };
  views.set(table, view);
  return view;
}

/** Prefix of the rows with letters; a number follows. */
const STANDING = 'standing/';

/** Table with other letters; the same table where none is another. */
export function standingAt(table: WorkflowTable, standing: string): WorkflowTable {
  const { value: length } = ROW_LETTERS;
  let changed = table;
  for (let start = 0; start < standing.length; start += length) {
    const key = `${STANDING}${String(start).padStart(8, '0')}`;
    changed = changed.with(key, standing.slice(start, start + length));
  }
  return changed;
}
