/**
 * Deadlines of jobs are found to have passed soon after they have: never late once all is well.
 *
 * What is well: the faults of the run are over, a manager of the datacenter (or the gate) is up and
 * connected, and has had the time to become the leader. A deadline that passed while that was not so
 * is found within the repair period and an election after it is.
 */

import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { Verdict, Watcher } from '../../invariants.ts';
import type { JobsFacts, JobsInvariant } from '../facts.ts';
import type { Account } from './reading-accounts.ts';
import { isAccepted, isDetected, localVerdict } from './reading-deadlines.ts';
import type { GateTurn } from './reading-gate.ts';
import { JobsOfGates } from './reading-gate-messages.ts';
import {
  electionMs,
  healedAtMs,
  isInCore,
  LATENESS_MS,
  RETRY_MAX_MS,
  reunionMs,
  roundTripMs,
} from './reading-healed.ts';
import { budgetEnd, isHeardRunning } from './reading-heard-jobs.ts';
import { type JobStep, type Jobs, jobsOf, watching } from './reading-jobs.ts';
import type { Standing } from './reading-steps.ts';
import { followTurns, together } from './reading-turns.ts';

/** TO-7. When it was due is by what was told; that it was found, or not yet, is what is judged. */
export const overdueIsFound: JobsInvariant = {
  id: 'TO-7',
  kind: 'liveness',
  says: 'A job whose time budget is used up is found overdue within a second by a stable leader or gate, and within a repair period and an election after faults.',
  watch: (facts, verdict) => watchLimit('overall', facts, verdict),
};

/** TO-8, judged alike. What the gate makes of it is up to its quorum. */
export const stuckIsFound: JobsInvariant = {
  id: 'TO-8',
  kind: 'liveness',
  says: 'A job without progress for longer than its threshold while an attempt is out is found stuck within a second by a stable leader, and within a repair period and an election after faults.',
  watch: (facts, verdict) => watchLimit('stuck', facts, verdict),
};

type Reason = 'overall' | 'stuck';

function watchLimit(reason: Reason, facts: JobsFacts, verdict: Verdict): Watcher {
  const jobs = jobsOf(facts);
  const healed = healedAtMs(facts);
  const job = (step: JobStep): void => {
    const { was } = jobs.accounts.take(step);
    const { before, after, record, hasGap } = step;
    if (healed === null || was === undefined || localVerdict(before, after)?.reason !== reason)
      return;
    if (hasGap || !isInCore(facts, record.place)) return;
    const lateMs = record.takenAt - readyAt(reason, was, jobs);
    // What was due while something was wrong is looked at when the run is over.
    if (record.atMs - lateMs < calmAtMs(facts, healed)) return;
    verdict.exercised();
    if (lateMs > LATENESS_MS)
      verdict.broken(`${record.address} is found ${reason} ${lateMs} ms late`, record);
  };
  const end = (endedAtMs: number): void => {
    if (healed === null) return;
    for (const standing of jobs.jobs.standing())
      checkOpenJob(reason, standing, jobs, { facts, healed, verdict, endedAtMs });
  };
  const datacenters = watching(jobs, { job }, { end });
  return reason === 'stuck' || healed === null
    ? datacenters
    : together(datacenters, watchGates(jobs, facts, healed, verdict));
}

/** From when the leader could have found it, by its own clock. */
function readyAt(reason: Reason, was: Account, { accounts }: Jobs): number {
  const due = reason === 'overall' ? accounts.overallDue(was) : accounts.stuckDue(was);
  return Math.max(due, was.ledSince ?? 0);
}

/** From then on nothing is left of the faults: no pause between two tries, no frame on its way. */
function calmAtMs(facts: JobsFacts, healed: number): number {
  return facts.isFaultFree ? healed : healed + electionMs(facts) + RETRY_MAX_MS;
}

function watchGates(jobs: Jobs, facts: JobsFacts, healed: number, verdict: Verdict): Watcher {
  const heard = new JobsOfGates(facts);
  /** When each gate could find its job overdue: at its deadline, or at a later message that brought that nearer. */
  const readyAt = new Map<string, number>();
  const gates = followTurns<GateJobContext>('gate-job', {
    took(turn) {
      const { record, before } = turn;
      const { address, takenAt } = record;
      const known = heard.find(address);
      const hadSomebody = [...(known?.datacenters.values() ?? [])].some(isHeardRunning);
      const wasReady = hadSomebody ? (readyAt.get(address) ?? 0) : takenAt;
      const ready = Math.max(budgetEnd(heard.take(turn)), Math.min(takenAt, wasReady));
      readyAt.set(address, ready);
      if (before !== undefined && hadSomebody) checkGate(turn, ready, { facts, healed, verdict });
    },
    forgot(address) {
      heard.forget(address);
      readyAt.delete(address);
    },
  });
  const end = (endedAtMs: number): void => {
    for (const standing of jobs.gateJobs.standing())
      checkOpenGate(standing, heard, { facts, healed, verdict, endedAtMs });
  };
  return together(gates, { end });
}

/** Judges a gate that has just declared, for doing so. */
function checkGate(
  { before, context, record }: GateTurn,
  dueAt: number,
  { facts, healed, verdict }: Omit<Ending, 'endedAtMs'>,
): void {
  const { decision } = context;
  if (decision?.kind !== 'timeout' || before?.context.decision !== null) return;
  // One that listens after a restart takes its time.
  if (decision.reason !== 'overall' || !before.state.startsWith('{"tracking"')) return;
  if (!isInCore(facts, record.place)) return;
  const lateMs = record.takenAt - dueAt;
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
function checkOpenJob(
  reason: Reason,
  standing: Standing<JobContext>,
  { accounts }: Jobs,
  { facts, healed, verdict, endedAtMs }: Ending,
): void {
  const { context, state, address, place } = standing;
  if (!isAccepted(state) || isDetected(context) || !isInCore(facts, place)) return;
  const account = accounts.standing(standing);
  if (reason === 'stuck' && !accounts.isStuckPossible(account)) return;
  const due = reason === 'overall' ? accounts.overallDue(account) : accounts.stuckDue(account);
  const dueMs = trueMs(due, standing);
  const limitMs = facts.config.checkIntervalMs + electionMs(facts) + LATENESS_MS;
  const lastMs = Math.max(dueMs, healed) + limitMs + RETRY_MAX_MS + 2 * facts.epsilonMs;
  if (dueMs <= endedAtMs) verdict.exercised();
  if (endedAtMs > lastMs)
    verdict.broken(`${address} is not found ${reason}, ${endedAtMs - dueMs} ms after it was due`);
}

function checkOpenGate(
  standing: Standing<GateJobContext>,
  heard: JobsOfGates,
  { facts, healed, verdict, endedAtMs }: Ending,
): void {
  const { context, address, place } = standing;
  const { decision, outcome, terms, shadowed, bornAt } = context;
  if (decision !== null || outcome !== null || shadowed !== null || terms.enforce === false) return;
  if (!isInCore(facts, place)) return;
  const { gateCheckIntervalMs, gateDispatchLimitMs } = facts.config;
  const dueAt = budgetEnd(heard.standing(standing));
  const dueMs = trueMs(Math.max(dueAt, bornAt + gateDispatchLimitMs), standing);
  const limitMs = gateCheckIntervalMs + reunionMs(facts) + roundTripMs(facts);
  const lastMs = Math.max(dueMs, healed) + limitMs + 2 * facts.epsilonMs;
  if (dueMs <= endedAtMs) verdict.exercised();
  if (endedAtMs > lastMs)
    verdict.broken(`${address} declares nothing, ${endedAtMs - dueMs} ms after it was due`);
}

/** A moment of an actor's own clock in true time, as far as its last turn tells. */
export function trueMs(
  at: number,
  { takenAt, atMs }: { readonly takenAt: number; readonly atMs: number },
): number {
  return atMs + (at - takenAt);
}
