/**
 * Deadlines of jobs are found to have passed soon after they have: never late once all is well.
 *
 * What is well: the faults of the run are over, a manager of the datacenter (or the gate) is up and
 * connected, and has had the time to become the leader. A deadline that passed while that was not so
 * is found within the repair period and an election after it is.
 */

import type { GateJobContext } from '../../machines/jobs/gate-job.ts';
import type { JobContext } from '../../machines/jobs/job.ts';
import type { Verdict } from '../invariant.ts';
import type { JobsFacts, JobsInvariant } from '../jobs/facts.ts';
import {
  isAccepted,
  isDetected,
  isStuckPossible,
  localVerdict,
  overallDeadline,
  stuckDeadline,
} from './reading-deadlines.ts';
import { overallDeadline as gateDeadline, isUnderWay } from './reading-gate.ts';
import {
  electionMs,
  healedAtMs,
  isInCore,
  LATENESS_MS,
  RETRY_MAX_MS,
  reunionMs,
  roundTripMs,
} from './reading-healed.ts';
import { type GateJobStep, type JobStep, jobsOf, watching } from './reading-jobs.ts';
import { type Progress, ProgressOfJobs } from './reading-progress.ts';
import type { Standing } from './reading-steps.ts';

/** TO-7. */
export const overdueIsFound: JobsInvariant = {
  id: 'TO-7',
  kind: 'liveness',
  says: 'A job whose time budget is used up is found overdue within a second by a stable leader or gate, and within a repair period and an election after faults.',
  watch: (facts, verdict) => watchLimit('overall', facts, verdict),
};

/** TO-8. What the gate makes of it is up to its quorum. */
export const stuckIsFound: JobsInvariant = {
  id: 'TO-8',
  kind: 'liveness',
  says: 'A job without progress for longer than its threshold while an attempt is out is found stuck within a second by a stable leader, and within a repair period and an election after faults.',
  watch: (facts, verdict) => watchLimit('stuck', facts, verdict),
};

type Reason = 'overall' | 'stuck';

function watchLimit(reason: Reason, facts: JobsFacts, verdict: Verdict) {
  const jobs = jobsOf(facts);
  const progress = new ProgressOfJobs();
  const healed = healedAtMs(facts);
  const job = (step: JobStep): void => {
    const led = progress.take(step);
    const { before, after, record, hasGap } = step;
    if (healed === null || before === undefined || localVerdict(before, after)?.reason !== reason)
      return;
    if (hasGap || !isInCore(facts, record.place)) return;
    const lateMs = record.takenAt - readyAt(reason, before, led);
    // What was due while something was wrong is looked at when the run is over.
    if (record.atMs - lateMs < calmAtMs(facts, healed)) return;
    verdict.exercised();
    if (lateMs > LATENESS_MS)
      verdict.broken(`${record.address} is found ${reason} ${lateMs} ms late`, record);
  };
  const gateJob = (step: GateJobStep): void => {
    if (reason === 'overall' && healed !== null) checkGate(step, facts, healed, verdict);
  };
  const end = (endedAtMs: number): void => {
    if (healed === null) return;
    for (const standing of jobs.jobs.standing())
      checkOpenJob(reason, standing, { facts, healed, verdict, endedAtMs });
    if (reason !== 'overall') return;
    for (const standing of jobs.gateJobs.standing())
      checkOpenGate(standing, { facts, healed, verdict, endedAtMs });
  };
  const forget = (place: string): void => progress.forget(place);
  return watching(jobs, { job, gateJob, forget }, { end });
}

/** From when the leader could have found it, by its own clock. */
function readyAt(reason: Reason, before: JobContext, { ledSince = 0 }: Progress): number {
  const due = reason === 'overall' ? overallDeadline(before) : stuckDeadline(before);
  return Math.max(due, ledSince);
}

/** From then on nothing is left of the faults: no pause between two tries, no frame on its way. */
function calmAtMs(facts: JobsFacts, healed: number): number {
  return facts.isFaultFree ? healed : healed + electionMs(facts) + RETRY_MAX_MS;
}

/** Of a gate that has just declared: the message that made the deadline fall may have come late. */
function checkGate(step: GateJobStep, facts: JobsFacts, healed: number, verdict: Verdict): void {
  const { before, after, record, hasGap, stateBefore } = step;
  if (before === undefined || hasGap || after.decision === null || before.decision !== null) return;
  if (after.decision.kind !== 'timeout' || after.decision.reason !== 'overall') return;
  // One that listens after a restart, or has nobody to decide about yet, takes its time.
  if (!stateBefore?.startsWith('{"tracking"') || !isInCore(facts, record.place)) return;
  if (!Object.values(before.datacenters).some(isUnderWay)) return;
  const lateMs = record.takenAt - Math.max(gateDeadline(before), gateDeadline(after));
  if (record.atMs - lateMs < calmAtMs(facts, healed)) return;
  verdict.exercised();
  if (lateMs > LATENESS_MS) verdict.broken(`${record.address} declares ${lateMs} ms late`, record);
}

interface Ending {
  readonly facts: JobsFacts;
  readonly healed: number;
  readonly verdict: Verdict;
  readonly endedAtMs: number;
}

/** Its deadline has passed long ago, and nobody has found that. */
function checkOpenJob(reason: Reason, standing: Standing<JobContext>, ending: Ending): void {
  const { context, state, address, place } = standing;
  const { facts, healed, verdict, endedAtMs } = ending;
  if (!isAccepted(state) || isDetected(context) || !isInCore(facts, place)) return;
  if (reason === 'stuck' && !isStuckPossible(context)) return;
  const due = reason === 'overall' ? overallDeadline(context) : stuckDeadline(context);
  const dueMs = trueMs(due, standing);
  const limitMs = facts.config.checkIntervalMs + electionMs(facts) + LATENESS_MS;
  const lastMs = Math.max(dueMs, healed) + limitMs + RETRY_MAX_MS + 2 * facts.epsilonMs;
  if (dueMs <= endedAtMs) verdict.exercised();
  if (endedAtMs > lastMs)
    verdict.broken(`${address} is not found ${reason}, ${endedAtMs - dueMs} ms after it was due`);
}

function checkOpenGate(standing: Standing<GateJobContext>, ending: Ending): void {
  const { context, address, place } = standing;
  const { facts, healed, verdict, endedAtMs } = ending;
  const { decision, outcome, terms, shadowed, bornAt } = context;
  if (decision !== null || outcome !== null || shadowed !== null || terms.enforce === false) return;
  if (!isInCore(facts, place)) return;
  const { gateCheckIntervalMs, gateDispatchLimitMs } = facts.config;
  const due = Math.max(gateDeadline(context), bornAt + gateDispatchLimitMs);
  const dueMs = trueMs(due, standing);
  const limitMs = gateCheckIntervalMs + reunionMs(facts) + roundTripMs(facts);
  const lastMs = Math.max(dueMs, healed) + limitMs + 2 * facts.epsilonMs;
  if (dueMs <= endedAtMs) verdict.exercised();
  if (endedAtMs > lastMs)
    verdict.broken(`${address} declares nothing, ${endedAtMs - dueMs} ms after it was due`);
}

/** A moment of an actor's own clock in true time, as far as its last turn tells. */
export function trueMs(at: number, { takenAt, atMs }: Standing<unknown>): number {
  return atMs + (at - takenAt);
}
