/**
 * A submission cut into pages that each fit into one message.
 */

import { PAGE_ENTRIES_MAX } from '../../machines/jobs/messages/fields.ts';

/** What a page may take beside the rest of its message. */
const PAGE_LENGTH_MAX = 128 * 1024;

export interface SubmissionPage<TEntry> {
  readonly workflows: readonly TEntry[];
  readonly page: number;
  readonly pages: number;
}

export function submissionPages<TEntry>(
  workflows: readonly TEntry[],
): ReadonlyArray<SubmissionPage<TEntry>> {
  const groups: TEntry[][] = [[]];
  let length = 0;
  for (const workflow of workflows) {
    const own = JSON.stringify(workflow)?.length ?? 0;
    let group = groups.at(-1) as TEntry[];
    const isFull = group.length >= PAGE_ENTRIES_MAX || length + own > PAGE_LENGTH_MAX;
    if (isFull && group.length > 0) {
      group = [];
      groups.push(group);
      length = 0;
    }
    group.push(workflow);
    length += own;
  }
  return groups.map((group, index) => ({
    workflows: group,
    page: index + 1,
    pages: groups.length,
  }));
}
