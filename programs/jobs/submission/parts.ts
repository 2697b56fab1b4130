/**
 * Parts of a submission: parts that each fit into one message.
 *
 * The length of a workflow shows only in its JSON, and sixteen mebibytes of that take a while: it is
 * measured in portions.
 */

import { PAGE_ENTRIES_MAX } from '../../../machines/jobs/messages/fields.ts';
import { knob } from '../../../runtime/base/knob.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import { inPortions, type PortionSize } from '../jobs-service/portions.ts';

const PART_ENTRIES = knob('submissionPartEntries', PAGE_ENTRIES_MAX);
/** Size that a part may have beside the rest of its message. */
const PAGE_LENGTH_MAX = knob('submissionPartLengthMax', 128 * 1024);
/**
 * Weight that is measured at a time, by what makes a workflow long: its payload, and what it depends
 * on.
 */
const MEASURED_AT_ONCE = knob('lengthMeasuredAtOnce', 256 * 1024);
const BASE_LENGTH = 256;
const DEPENDENCY_LENGTH = 32;

export interface SubmissionPart<TEntry> {
  readonly workflows: readonly TEntry[];
  readonly page: number;
  readonly pages: number;
}

export async function submissionParts<TEntry>(
  clock: Clock,
  workflows: readonly TEntry[],
): Promise<ReadonlyArray<SubmissionPart<TEntry>>> {
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
  await inPortions(clock, workflows, workflowPortion(), (portion) => portion.forEach(put));
  return groups.map((group, index) => ({
    workflows: group,
    page: index + 1,
    pages: groups.length,
  }));
}

/** Number of workflows that are looked at before others in the process have their turn. */
export function workflowPortion(): PortionSize<unknown> {
  return { max: MEASURED_AT_ONCE.value, weigh };
}

/** About its length. It may be anything still: nobody has checked it. */
function weigh(workflow: unknown): number {
  const { payload, dependsOn } = (workflow ?? {}) as Record<string, unknown>;
  const dependencies = Array.isArray(dependsOn) ? dependsOn.length : 0;
  return BASE_LENGTH + lengthOf(payload) + DEPENDENCY_LENGTH * dependencies;
}

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0);
