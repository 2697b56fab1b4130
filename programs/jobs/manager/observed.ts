/**
 * Observed durations of a datacenter's jobs, as far as their records are still kept.
 */

import { idOf } from '../../../machines/jobs/addresses.ts';
import { knob } from '../../../runtime/base/knob.ts';
import { allRows } from '../jobs-service/all-rows.ts';
import type { ObservedJob } from '../recommend.ts';
import { type ManagerNode, readJob } from './node.ts';

/** Jobs looked at: enough for a percentile, and read in a moment. */
const OBSERVED_MAX = knob('jobsObservedMax', 2_000);

/** Completed ones only: how long others would have taken nobody knows. */
export function observedJobs(node: ManagerNode): readonly ObservedJob[] {
  const observed: ObservedJob[] = [];
  for (const { address } of allRows(node.runtime, {
    kind: 'job',
    status: 'done',
    state: 'completed',
  })) {
    const jobId = idOf(address);
    const job = readJob(node, jobId);
    if (job?.endedAt == null) continue;
    const { endedAt, baseAt, longestGapMs } = job;
    observed.push({ elapsedMs: endedAt - baseAt, longestGapMs });
    if (observed.length >= OBSERVED_MAX.value) break;
  }
  return observed;
}
