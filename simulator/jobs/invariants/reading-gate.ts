/**
 * A gate's record of a job, and how a job ends that ended so in its datacenters.
 *
 * Written from the specification and not from the machine, so that a mistake of one is not a mistake
 * of both. Comparisons with a deadline are strict.
 */

import type { DatacenterRecord } from '../../../machines/jobs/datacenter/context.ts';
import type { GateJobContext } from '../../../machines/jobs/gate-job/context.ts';
import type { Outcome, Reason } from '../../../machines/jobs/words.ts';
import type { TakenTurn } from './reading-turns.ts';

export type { DatacenterRecord } from '../../../machines/jobs/datacenter/context.ts';
export type { GateJobContext } from '../../../machines/jobs/gate-job/context.ts';
export type GateTurn = TakenTurn<GateJobContext>;

/** It has the job and has not ended it. */
export const isUnderWay = ({ run }: DatacenterRecord): boolean =>
  run === 'running' || run === 'reported';

/** It took the job in time. */
export const isTarget = (record: DatacenterRecord): boolean =>
  isUnderWay(record) || record.run === 'final';

/** The budget and the largest credit of those that still run it, and nobody's hold. */
export function overallDeadline({ submittedAt, terms, datacenters }: GateJobContext): number {
  let extensionsMs = 0;
  let holdUntil = 0;
  for (const record of Object.values(datacenters)) {
    if (!isUnderWay(record)) continue;
    extensionsMs = Math.max(extensionsMs, record.extensionsMs);
    holdUntil = Math.max(holdUntil, record.holdUntil);
  }
  return Math.max(submittedAt + terms.timeoutMs + extensionsMs, holdUntil);
}

export interface End {
  readonly status: Outcome;
  readonly reason: Reason | null;
  readonly gateReason: Reason | null;
}

/** Reasons in order: the first that is present is the reason of all. */
const TIMEOUT_REASONS: readonly Reason[] = [
  'overall',
  'datacenterTimeout',
  'allDatacentersStuck',
  'fallback',
];
const STATUSES: readonly Outcome[] = ['timedOut', 'failed', 'cancelled'];

/** How a job ends that ended so in its datacenters; a set of reasons where the specification orders none. */
export function outcomeOf(ends: readonly End[]): {
  readonly status: Outcome;
  readonly reasons: ReadonlySet<Reason | null>;
} {
  const status = STATUSES.find((one) => ends.some((end) => end.status === one)) ?? 'completed';
  if (status === 'completed' || status === 'cancelled') return { status, reasons: new Set([null]) };
  const present = new Set(
    ends
      .filter((end) => end.status === status)
      .map(({ reason, gateReason }) => gateReason ?? reason),
  );
  const first =
    status === 'timedOut' ? TIMEOUT_REASONS.find((reason) => present.has(reason)) : undefined;
  return { status, reasons: first === undefined ? present : new Set([first]) };
}
