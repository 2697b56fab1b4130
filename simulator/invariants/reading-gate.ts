/**
 * A gate's record of a job, and its rules said a second time: what the machine must have seen.
 *
 * Written from the specification and not from the machine, so that a mistake of one is not a mistake
 * of both. Comparisons with a deadline are strict.
 */

import type {
  DatacenterRecord,
  Datacenters,
  GateJobContext,
} from '../../machines/jobs/gate-job/record.ts';
import type { GateReason, Outcome, Reason } from '../../machines/jobs/words.ts';
import type { TakenTurn } from './reading-turns.ts';

export type { DatacenterRecord, GateJobContext } from '../../machines/jobs/gate-job/record.ts';
export type GateTurn = TakenTurn<GateJobContext>;

/** It has the job and has not ended it. */
export const isUnderWay = ({ phase }: DatacenterRecord): boolean =>
  phase === 'running' || phase === 'reported';

/** It took the job in time. */
export const isTarget = (record: DatacenterRecord): boolean =>
  isUnderWay(record) || record.phase === 'final';

/** The rules that are due at that moment by what the record says. */
export function dueRules(context: GateJobContext, at: number): ReadonlySet<GateReason> {
  const due = new Set<GateReason>();
  const records = Object.values(context.datacenters);
  if (!records.some(isUnderWay)) return due;
  if (at > overallDeadline(context)) due.add('overall');
  if (isQuorumMet(context, records)) due.add('datacenterTimeout');
  if (records.every((record) => !isAwaited(record) || isWithoutProgress(record, context, at)))
    due.add('allDatacentersStuck');
  return due;
}

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

/** Whoever has not said yet whether it takes the job may still run it, and speaks against an end. */
const isAwaited = (record: DatacenterRecord): boolean =>
  isUnderWay(record) || record.phase === 'asked';

function isQuorumMet(
  { datacenters, terms, rules }: GateJobContext,
  records: readonly DatacenterRecord[],
): boolean {
  let voters = 0;
  let votes = 0;
  for (const record of records) {
    const hasTimedOut = record.phase === 'final' && record.final?.status === 'timedOut';
    if (!hasTimedOut && !isAwaited(record)) continue;
    voters += 1;
    if (hasTimedOut || (record.phase === 'reported' && !isDeferred(record, datacenters)))
      votes += 1;
  }
  switch (terms.datacenterTimeoutQuorum ?? rules?.quorum) {
    case 'all':
      return votes === voters;
    case 'majority':
      return votes * 2 > voters;
    default:
      return votes > 0;
  }
}

function isDeferred(reporter: DatacenterRecord, datacenters: Datacenters): boolean {
  if (reporter.report !== 'overall') return false;
  return Object.values(datacenters).some(
    (other) =>
      other !== reporter && isUnderWay(other) && other.extensionsMs > reporter.extensionsMs,
  );
}

/** It has said so itself, not long ago, and waits for no worker. */
function isWithoutProgress(
  { sinceProgressMs, queued, lastSeenAt }: DatacenterRecord,
  { rules }: GateJobContext,
  at: number,
): boolean {
  if (rules === null || sinceProgressMs === null || queued) return false;
  return sinceProgressMs > rules.allStuckThresholdMs && at - lastSeenAt <= rules.silentAfterMs;
}

export interface End {
  readonly status: Outcome;
  readonly reason: Reason | null;
  readonly gateReason: Reason | null;
}

/** Of several, the first present is the reason of all. */
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
