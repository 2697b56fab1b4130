/**
 * The deadlines of a job, worked out from its record a second time.
 *
 * It is the arithmetic of the specification and shares nothing with that of the machines, so that a
 * fault in theirs is none in ours.
 */

import type { JobContext } from '../../../machines/jobs/job.ts';
import { workflowsIn } from './reading-workflows.ts';

/** What extensions add: those of workers up to the cap, and all that people gave. */
export function creditOf({
  creditByWorker,
  operatorCredits,
  rules,
  timeoutMs,
}: JobContext): number {
  let sum = 0;
  let greatest = 0;
  for (const worker in creditByWorker) {
    const grant = creditByWorker[worker] ?? 0;
    sum += grant;
    if (grant > greatest) greatest = grant;
  }
  const ofWorkers = rules.extensionAggregation === 'max' ? greatest : sum;
  const cap = rules.extensionJobCapMs === null ? timeoutMs : rules.extensionJobCapMs;
  let ofPeople = 0;
  for (const { byMs } of operatorCredits) ofPeople += byMs;
  return Math.min(ofWorkers, cap) + ofPeople;
}

/** The last moment at which the time budget is not used up. */
export function overallDeadline(context: JobContext): number {
  const { baseAt, timeoutMs, holdUntil } = context;
  return Math.max(baseAt + timeoutMs + creditOf(context), holdUntil);
}

/** An attempt of the job is dispatched or running, or it need not be. */
export function isStuckPossible({ table, rules }: JobContext): boolean {
  return rules.stuckWhileQueued || /[dr]/.test(workflowsIn(table).standing);
}

/** How long a new leader watches before it finds a job stuck. */
export function graceMs({ stuckThresholdMs, rules }: JobContext): number {
  return Math.min(stuckThresholdMs, 2 * rules.reportIntervalMs);
}

/** It has been accepted: before that there is nothing to be late for. */
export const isAccepted = (state: string): boolean => state !== 'assembling';

/** The first thing that a deadline of this datacenter led to, if there was any. */
export function isDetected({ timeoutReportedAt, endedAt, shadows }: JobContext): boolean {
  return timeoutReportedAt !== null || endedAt !== null || shadows.length > 0;
}

/** What a turn found to be due: why, and when by its node's clock. */
export interface LocalVerdict {
  readonly reason: 'overall' | 'stuck';
  readonly kind: 'ended' | 'reported' | 'shadowed';
}

/** The deadline that was found to have passed in a turn, if one was. */
export function localVerdict(
  before: JobContext | undefined,
  after: JobContext,
): LocalVerdict | undefined {
  if (before === undefined) return undefined;
  if (after.timeoutReportedAt !== null && before.timeoutReportedAt === null)
    return verdict('reported', after.localReason);
  if (after.shadows.length > before.shadows.length)
    return verdict('shadowed', after.shadows.at(-1)?.reason);
  if (after.endedAt !== null && before.endedAt === null && after.status === 'timedOut')
    return verdict('ended', after.reason);
  return undefined;
}

function verdict(
  kind: LocalVerdict['kind'],
  reason: string | null | undefined,
): LocalVerdict | undefined {
  return reason === 'overall' || reason === 'stuck' ? { kind, reason } : undefined;
}
