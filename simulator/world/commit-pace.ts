/**
 * Time that disks take for a group while nothing is wrong with them.
 *
 * Between handing over and being on disk a node may die. Where nothing goes wrong that makes no
 * difference, so disks take no time there, and runs without faults are quick; a plan can say otherwise.
 */

import type { Delay } from './delay.ts';

interface Paced {
  readonly commitMs?: readonly [minMs: number, maxMs: number];
  readonly nemeses: readonly unknown[];
}

const AT_ONCE = [0, 0] as const;
const AS_REAL = [1, 3] as const;

export function commitMsOf({ commitMs, nemeses }: Paced): readonly [minMs: number, maxMs: number] {
  return commitMs ?? (nemeses.length > 0 ? AS_REAL : AT_ONCE);
}

/** None: a group is on disk when it has been handed over. */
export function commitDelayOf(plan: Paced): { readonly commit?: Delay } {
  const [minMs, maxMs] = commitMsOf(plan);
  return maxMs === 0 ? {} : { commit: { shape: 'uniform', minMs, maxMs } };
}

/** A change of a plan that leaves no faults in it and its disks as they are. */
export function withoutFaults<TPlan extends Paced>(
  plan: TPlan,
): { readonly nemeses: readonly []; readonly commitMs?: readonly [number, number] } {
  const [minMs, maxMs] = commitMsOf(plan);
  return { nemeses: [], ...(maxMs > 0 && { commitMs: [minMs, maxMs] }) };
}
