/**
 * A submission cut into pages that each fit into one message.
 *
 * How long a workflow is shows only in its JSON, and sixteen mebibytes of that take a while: it is
 * measured in portions.
 */

import { PAGE_ENTRIES_MAX } from '../../machines/jobs/messages/fields.ts';
import type { Clock } from '../../runtime/clock.ts';
import { knob } from '../../runtime/knob.ts';
import { inPortions } from './portions.ts';

const PART_ENTRIES = knob('submissionPartEntries', PAGE_ENTRIES_MAX);
/** What a page may take beside the rest of its message. */
const PAGE_LENGTH_MAX = knob('submissionPartLengthMax', 128 * 1024);
/** Workflows measured at a time, each of 64 KiB at most where it is kept to. */
const MEASURED_AT_ONCE = knob('workflowsMeasuredAtOnce', 64);

export interface SubmissionPage<TEntry> {
  readonly workflows: readonly TEntry[];
  readonly page: number;
  readonly pages: number;
}

export async function submissionPages<TEntry>(
  clock: Clock,
  workflows: readonly TEntry[],
): Promise<ReadonlyArray<SubmissionPage<TEntry>>> {
  const groups: TEntry[][] = [[]];
  let length = 0;
  const put = (workflow: TEntry): void => {
    const own = JSON.stringify(workflow)?.length ?? 0;
    let group = groups.at(-1) as TEntry[];
    const isFull = group.length >= PART_ENTRIES.value || length + own > PAGE_LENGTH_MAX.value;
    if (isFull && group.length > 0) {
      group = [];
      groups.push(group);
      length = 0;
    }
    group.push(workflow);
    length += own;
  };
  const measured = { max: MEASURED_AT_ONCE.value, weigh: () => 1 };
  await inPortions(clock, workflows, measured, (portion) => portion.forEach(put));
  return groups.map((group, index) => ({
    workflows: group,
    page: index + 1,
    pages: groups.length,
  }));
}
