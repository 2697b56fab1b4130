/** Check that the numbers that must only rise did. */

import type { LogRecord } from './log-book.ts';
import { placeOf } from './process-cluster.ts';

/** Fences that fell: of the leases of places, and of the leaders that jobs know. */
export function fallenFences(records: readonly LogRecord[]): readonly string[] {
  const last = new Map<string, number>();
  const fallen: string[] = [];
  for (const { node, event, fields } of records) {
    const { fence, leaderFence, jobId } = fields;
    const isLease = event === 'node.hosting';
    const number = isLease ? fence : event === 'leader.acquired' ? leaderFence : undefined;
    if (typeof number !== 'number') continue;
    const key = isLease ? placeOf(node) : `${String(jobId)}@${placeOf(node)}`;
    const before = last.get(key) ?? 0;
    if (isLease ? number <= before : number < before)
      fallen.push(`the fence of ${key} was ${before} and is ${number} under ${node}`);
    last.set(key, number);
  }
  return fallen;
}
