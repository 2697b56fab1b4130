/** A job's table with its workflows standing otherwise, one letter each. */

import { tableOf, viewOf, type WorkflowTable } from '../../../machines/jobs/job/table.ts';

export function standingAt(table: WorkflowTable, standing: string): WorkflowTable {
  const { ids, dependsOn, lanes } = viewOf(table);
  return tableOf({ ids, dependsOn, ...(lanes !== undefined && { lanes }), standing });
}
