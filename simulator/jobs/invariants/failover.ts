/** Takeover of a job: a new leader finds what the one before left, and time has gone on meanwhile. */

import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { JobsInvariant } from '../facts.ts';
import { isAcceptance, isTakeover } from './reading-accounts.ts';
import { graceMs, localVerdict } from './reading-deadlines.ts';
import { orderOf } from './reading-decisions.ts';
import { type GateJobStep, type JobStep, jobsOf, PerActor, watching } from './reading-jobs.ts';

/** FO-1. Moments move with the clock: one that is behind the clock before it keeps their age. */
export const takeoverKeepsAll: JobsInvariant = {
  id: 'FO-1',
  kind: 'safety',
  says: 'A new leader goes on with the start, the timeout, the authority, the credit, the reports and the gate contact that were committed last, under a greater fence.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const job = (step: JobStep): void => {
      const { before, after, record } = step;
      if (!isTakeover(step) || before === undefined) return;
      verdict.exercised();
      const wrong = lostOf(before, after, record.takenAt);
      if (after.leaderFence <= before.leaderFence) wrong.push('leaderFence');
      if (wrong.length > 0)
        verdict.broken(
          `${record.address} has another ${wrong.join(', ')} after a takeover`,
          record,
        );
    };
    const gateJob = (step: GateJobStep): void => {
      const { before, after, record } = step;
      if (record.event.type !== 'leadership.acquired' || before === undefined) return;
      verdict.exercised();
      const wrong = lostOfGate(before, after, record.takenAt);
      if (wrong.length > 0)
        verdict.broken(`${record.address} has another ${wrong.join(', ')} after a restart`, record);
    };
    return watching(jobs, { job, gateJob });
  },
};

/** What a takeover leaves as it is. */
const KEPT = [
  'startedAt',
  'timeoutMs',
  'stuckThresholdMs',
  'gateId',
  'failFast',
  'enforce',
  'status',
  'reason',
  'localReason',
  'gateReason',
  'endedAt',
  'digest',
  'longestGapMs',
  'lastExtensionAt',
] as const;

function lostOf(before: JobContext, after: JobContext, takenAt: number): string[] {
  const isOver = before.endedAt !== null;
  // A job whose last workflow was done while nobody led ends with this very turn.
  const kept = after.endedAt !== null && !isOver ? KEPT.filter((name) => !ENDING.has(name)) : KEPT;
  const wrong: string[] = kept.filter((name) => before[name] !== after[name]);
  // Of one that has ended no moment matters any more.
  const shiftMs = isOver ? 0 : Math.min(0, takenAt - before.seenAt);
  for (const name of ['lastProgressAt', 'lastGateContactAt', 'holdUntil'] as const)
    if (after[name] !== aged(before[name], shiftMs)) wrong.push(name);
  const { timeoutReportedAt } = before;
  if (
    after.timeoutReportedAt !==
    (timeoutReportedAt === null ? null : aged(timeoutReportedAt, shiftMs))
  )
    wrong.push('timeoutReportedAt');
  if (before.shadows.length !== after.shadows.length) wrong.push('shadows');
  if (JSON.stringify(before.creditByWorker) !== JSON.stringify(after.creditByWorker))
    wrong.push('creditByWorker');
  if (before.creditIds.join() !== after.creditIds.join()) wrong.push('creditIds');
  if (before.operatorCredits.length !== after.operatorCredits.length) wrong.push('operatorCredits');
  if (orderOf(before.highestDecisionEpoch, after.highestDecisionEpoch) !== 0)
    wrong.push('highestDecisionEpoch');
  return wrong;
}

const ENDING: ReadonlySet<string> = new Set(['status', 'reason', 'endedAt']);

const aged = (moment: number, shiftMs: number): number => (moment === 0 ? 0 : moment + shiftMs);

function lostOfGate(before: GateJobContext, after: GateJobContext, takenAt: number): string[] {
  const wrong: string[] = [];
  const { decision, outcome, terms } = before;
  let latest = Math.max(before.submittedAt, before.bornAt, decision?.at ?? 0);
  for (const { lastSeenAt } of Object.values(before.datacenters))
    latest = Math.max(latest, lastSeenAt);
  const isNew = after.fence > before.fence;
  const behindMs = isNew ? Math.max(0, latest - takenAt) : 0;
  if (after.submittedAt !== before.submittedAt - behindMs) wrong.push('submittedAt');
  if (after.terms.timeoutMs !== terms.timeoutMs) wrong.push('timeoutMs');
  if (after.digest !== before.digest) wrong.push('digest');
  if (decision?.kind !== after.decision?.kind) wrong.push('decision');
  else if (
    decision !== null &&
    after.decision !== null &&
    orderOf(decision.epoch, after.decision.epoch) > 0
  )
    wrong.push('decisionEpoch');
  if (outcome !== null && outcome.status !== after.outcome?.status) wrong.push('outcome');
  return wrong;
}

/** FO-2. */
export const takeoverHappensOnce: JobsInvariant = {
  id: 'FO-2',
  kind: 'safety',
  says: 'Being told twice of one leadership changes a job once.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const risen = new PerActor<JobContext, { term: number }>(() => ({ term: 0 }));
    const job = (step: JobStep): void => {
      const { before, after, record, stateBefore } = step;
      const known = risen.of(step);
      if (record.event.type !== 'leadership.acquired' || before === undefined) return;
      if (stateBefore === 'assembling') return;
      verdict.exercised();
      const isRepeated = after.term <= Math.max(before.term, known.term);
      known.term = Math.max(known.term, after.term);
      if (!isRepeated) return;
      const { leaderFence, term, stuckGraceUntil, baseAt } = before;
      const isSame =
        after.leaderFence === leaderFence &&
        after.term === term &&
        after.stuckGraceUntil === stuckGraceUntil &&
        after.baseAt === baseAt;
      if (!isSame) verdict.broken(`${record.address} is taken over twice under ${term}`, record);
    };
    return watching(jobs, { job, forget: (place) => risen.forget(place) });
  },
};

/** FO-3. Until it ends: of a job that has ended no figure decides anything. */
export const elapsedNeverFalls: JobsInvariant = {
  id: 'FO-3',
  kind: 'safety',
  says: 'The elapsed time of a job never falls over any chain of leaders, and is true as far as their clocks are.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const accepted = new PerActor<JobContext, { at: number | undefined }>(() => ({
      at: undefined,
    }));
    const job = (step: JobStep): void => {
      const { before, after, record, stateBefore } = step;
      const known = accepted.of(step);
      if (isAcceptance(step)) known.at = jobs.clocks.trueTime(record);
      if (before === undefined || before.endedAt !== null || stateBefore === 'assembling') return;
      const had = before.seenAt - before.baseAt;
      const has = after.seenAt - after.baseAt;
      if (has < had)
        verdict.broken(`${record.address} is ${has} ms old and was ${had} ms old`, record);
      if (!isTakeover(step)) return;
      verdict.exercised();
      if (known.at === undefined) return;
      const trueMs = jobs.clocks.trueTime(record) - known.at;
      const offMs = Math.abs(record.takenAt - after.baseAt - trueMs);
      if (offMs > jobs.clocks.slackMs(facts.epsilonMs, after.leaderFence) + ROUNDING_MS)
        verdict.broken(`${record.address} is ${offMs} ms off after a takeover`, record);
    };
    return watching(jobs, { job, forget: (place) => accepted.forget(place) });
  },
};

/** Clocks tell whole milliseconds. */
const ROUNDING_MS = 2;

/** FO-4. */
export const leaderlessTimeCounts: JobsInvariant = {
  id: 'FO-4',
  kind: 'safety',
  says: 'Time without a leader counts for the time budget of a job, and a new leader finds nobody stuck before its grace is over.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const job = (step: JobStep): void => {
      const { ledSince } = jobs.accounts.take(step).now;
      const { before, after, record } = step;
      if (before === undefined || before.endedAt !== null) return;
      const { takenAt, address } = record;
      if (isTakeover(step)) {
        verdict.exercised();
        const elapsedMs = takenAt - after.baseAt;
        const leastMs = takenAt - before.startedAt;
        if (elapsedMs < leastMs)
          verdict.broken(
            `${address} does not count the time without a leader: ${elapsedMs} ms have passed, expected ${leastMs} ms since ${before.startedAt}`,
            record,
          );
        const left = after.stuckGraceUntil - takenAt;
        if (left < graceMs(before))
          verdict.broken(
            `${address} has ${left} ms of grace under its new leader, expected ${graceMs(before)} ms`,
            record,
          );
      } else if (ledSince !== undefined && localVerdict(before, after)?.reason === 'stuck') {
        verdict.exercised();
        if (takenAt <= ledSince + graceMs(before))
          verdict.broken(
            `${address} is stuck ${takenAt - ledSince} ms after a takeover, expected more than ${graceMs(before)} ms`,
            record,
          );
      }
    };
    return watching(jobs, { job });
  },
};
