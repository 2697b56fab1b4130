/**
 * Marks: the variable in the environment of all that a run starts, by which it is found again when it has left its
 * group, and by a runtime that began after a crash.
 */

import { join } from 'node:path';

export interface Mark {
  readonly name: string;
  readonly value: string;
}

/** `data`: directory of the data, whole. `id` of an attempt, of a delegation, or of a compaction. */
export function markOf(data: string, runId: string, id: string): Mark {
  return { name: 'ESCAPEMENT_ATTEMPT_MARK', value: join(data, runId, id) };
}
