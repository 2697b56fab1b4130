/** Reader of a job's table of its workflows, read from its rows: the ids, and a letter for each. */

import type { WorkflowTable } from '../../../machines/jobs/job/table.ts';
import { Table } from '../../../runtime/machine.ts';

export interface WorkflowLetters {
  readonly ids: readonly string[];
  readonly standing: string;
}

/** Reads a table, or one as it stands in a record. */
export function workflowsIn(table: WorkflowTable): WorkflowLetters {
  const rows = Table.of<unknown>(table);
  const letters = [...rows].filter(([key]) => key.startsWith('standing/'));
  return {
    ids: rows.get('ids') as readonly string[],
    standing: letters.map(([, row]) => row).join(''),
  };
}
