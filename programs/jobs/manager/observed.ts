/**
 * How long the jobs of a datacenter took, as far as their records are still kept.
 */

import type { ObservedJob } from '../recommend.ts';
import { type ManagerNode, readJob } from './node.ts';

/** Jobs looked at: enough for a percentile, and read in a moment. */
const OBSERVED_MAX = 2_000;

/** Completed ones only: how long others would have taken nobody knows. */
export function observedJobs(node: ManagerNode): readonly ObservedJob[] {
  const observed: ObservedJob[] = [];
  let cursor: string | undefined;
  do {
    const page = node.runtime.query({
      kind: 'job',
      status: 'done',
      state: 'completed',
      limit: 1_000,
      ...(cursor !== undefined && { cursor }),
    });
    for (const { address } of page.actors) {
      const jobId = address.slice(address.indexOf('/') + 1, address.lastIndexOf('@'));
      const job = readJob(node, jobId);
      if (job?.endedAt == null) continue;
      const { endedAt, baseAt, longestGapMs } = job;
      observed.push({ elapsedMs: endedAt - baseAt, longestGapMs });
    }
    cursor = page.cursor;
  } while (cursor !== undefined && observed.length < OBSERVED_MAX);
  return observed;
}
