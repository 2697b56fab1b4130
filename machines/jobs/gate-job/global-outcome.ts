/**
 * Outcome of a job that ran in several datacenters: a pure function of its end in each.
 *
 * Guarantees: neither the order of the ends nor a repetition changes the outcome.
 */

import type { Outcome, Reason } from '../words.ts';

export interface LocalEnd {
  readonly status: Outcome;
  readonly reason: Reason | null;
  readonly gateReason: Reason | null;
}

export interface GlobalEnd {
  readonly status: Outcome;
  readonly reason: Reason | null;
}

/**
 * Order in which a reason stands for all; those after the fourth say nothing of the whole and come
 * last.
 */
const TIMEOUT_ORDER = [
  'overall',
  'datacenterTimeout',
  'allDatacentersStuck',
  'fallback',
  'stuck',
  'global',
] as const;

const FAILURE_ORDER = ['workflowFailed', 'dispatchExhausted', 'noDatacenter'] as const;

/** End of a job that no datacenter took. */
export const NO_DATACENTER: GlobalEnd = { status: 'failed', reason: 'noDatacenter' };

/** `ends` is not empty: without any datacenter the outcome is not a question of ends. */
export function globalOutcome(ends: readonly LocalEnd[]): GlobalEnd {
  const having = (status: Outcome) => ends.filter((end) => end.status === status);
  if (having('completed').length === ends.length) return { status: 'completed', reason: null };
  const timedOut = having('timedOut');
  if (timedOut.length > 0)
    return { status: 'timedOut', reason: firstReason(timedOut, TIMEOUT_ORDER) };
  const failed = having('failed');
  if (failed.length > 0) return { status: 'failed', reason: firstReason(failed, FAILURE_ORDER) };
  return { status: 'cancelled', reason: null };
}

function firstReason(ends: readonly LocalEnd[], order: readonly Reason[]): Reason | null {
  const present = new Set(ends.map(({ reason, gateReason }) => gateReason ?? reason));
  return order.find((reason) => present.has(reason)) ?? null;
}
