/**
 * When a job may be found to have run out of time: never early, and for a reason that is true.
 *
 * Each deadline is worked out a second time, and held against true time as far as the clocks of the
 * nodes allow. That it is found in time is in time-limits.ts.
 */

import type { JobContext } from '../../machines/jobs/job.ts';
import type { JobsInvariant } from '../jobs/facts.ts';
import { creditOf, isStuckPossible, localVerdict, overallDeadline } from './reading-deadlines.ts';
import { type JobStep, jobsOf, PerActor, watching } from './reading-jobs.ts';
import { ProgressOfJobs } from './reading-progress.ts';

/** TO-1. Also of a job whose timeouts only watch. */
export const neverOverdueEarly: JobsInvariant = {
  id: 'TO-1',
  kind: 'safety',
  says: 'A datacenter finds the time budget of a job used up only after its timeout and all its extensions have passed since it was accepted.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    /** When each job was accepted, in true time; unknown where that turn was not seen. */
    const acceptedAt = new PerActor<JobContext, { at: number | undefined; movedBy: string }>(
      () => ({
        at: undefined,
        movedBy: 'its acceptance',
      }),
    );
    const job = (step: JobStep): void => {
      const { before, stateBefore, after, record } = step;
      const accepted = acceptedAt.of(step);
      if (record.event.type === 'job.assembled' && stateBefore === 'assembling')
        accepted.at = jobs.clocks.trueTime(record);
      if (before !== undefined && overallDeadline(before) !== overallDeadline(after))
        accepted.movedBy = wordsOf(step);
      if (localVerdict(before, after)?.reason !== 'overall' || before === undefined) return;
      verdict.exercised();
      const due = overallDeadline(before);
      if (record.takenAt <= due)
        verdict.broken(
          `${record.address} is overdue ${due - record.takenAt} ms early: ${sumOf(before)}, last moved by ${accepted.movedBy}`,
          record,
        );
      if (accepted.at === undefined) return;
      const elapsedMs = jobs.clocks.trueTime(record) - accepted.at;
      const leastMs = before.timeoutMs + creditOf(before);
      const slackMs = jobs.clocks.slackMs(facts.epsilonMs, before.leaderFence);
      if (elapsedMs <= leastMs - slackMs)
        verdict.broken(
          `${record.address} is overdue after ${elapsedMs} of ${leastMs} ms: ${sumOf(before)}, last moved by ${accepted.movedBy}`,
          record,
        );
    };
    return watching(jobs, { job, forget: (place) => acceptedAt.forget(place) });
  },
};

/** What the deadline of a job is made of, for people. */
function sumOf(context: JobContext): string {
  const { baseAt, timeoutMs, holdUntil } = context;
  const hold = holdUntil === 0 ? '' : `, held until ${holdUntil}`;
  return `since ${baseAt}, budget ${timeoutMs} ms, credit ${creditOf(context)} ms${hold}`;
}

/** The message of a step: what it was, whose, and when it was taken. */
function wordsOf({ record }: JobStep): string {
  const { event, from = 'itself', takenAt } = record;
  return `${event.type} of ${from} at ${takenAt}`;
}

/** TO-2. The first half of the sentence is by the leader's own clock, as all of a threshold is. */
export const stuckMeansNoProgress: JobsInvariant = {
  id: 'TO-2',
  kind: 'safety',
  says: 'A job is found stuck only when its leader has heard of no progress for the whole threshold, an attempt was out all that time, and the leader has led for the grace.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const progress = new ProgressOfJobs();
    const job = (step: JobStep): void => {
      const { before, after, record } = step;
      const { lastAt, lastBy, graceUntil } = progress.take(step);
      if (localVerdict(before, after)?.reason !== 'stuck' || before === undefined) return;
      verdict.exercised();
      const { address, takenAt } = record;
      const sinceMs = takenAt - lastAt;
      if (sinceMs <= before.stuckThresholdMs)
        verdict.broken(
          `${address} is stuck though it got further ${sinceMs} ms ago, expected more than ${before.stuckThresholdMs} ms, last by ${lastBy}`,
          record,
        );
      if (takenAt <= graceUntil)
        verdict.broken(`${address} is stuck within the grace of a new leader`, record);
      // What begins or ends an attempt is progress: one that is out now was out for the threshold.
      if (!isStuckPossible(before))
        verdict.broken(`${address} is stuck while no attempt is out`, record);
    };
    return watching(jobs, { job, forget: (place) => progress.forget(place) });
  },
};

/** TO-3. What each end may be called, and what must have been so before the turn that brought it. */
export const reasonIsTrue: JobsInvariant = {
  id: 'TO-3',
  kind: 'safety',
  says: 'The status and the reason that a job ends with are those of the condition that was true when it ended.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const failures = new PerActor<JobContext, { first: string | null }>(() => ({ first: null }));
    const job = (step: JobStep): void => {
      const { before, after, record } = step;
      const failure = failures.of(step);
      if (before === undefined) return;
      if (step.hasGap) failure.first = before.failure;
      failure.first ??= failureIn(step);
      checkReported(step, (what) => verdict.broken(what, record));
      if (before.endedAt !== null || after.endedAt === null) return;
      verdict.exercised();
      const wrong = wrongEnd(step, failure.first);
      if (wrong !== undefined)
        verdict.broken(`${record.address} ${after.status}/${after.reason}: ${wrong}`, record);
    };
    return watching(jobs, { job, forget: (place) => failures.forget(place) });
  },
};

interface TakenEvent {
  readonly type: string;
  readonly reason?: string;
  readonly state?: string;
  readonly final?: boolean;
  readonly cause?: string | null;
  readonly workflowId?: string;
  readonly to?: string;
}

/** Why a workflow has failed for good with this step, unless one before it did: those that depended on it do not count. */
function failureIn({ before, record }: JobStep): string | null {
  const { type, state, final, cause, workflowId = '', to = '' } = record.event as TakenEvent;
  if (before === undefined || before.endedAt !== null) return null;
  const { ids, standing } = before.table;
  const isOpen = (id: string): boolean => /[^sfc]/.test(standing[ids.indexOf(id)] ?? 's');
  if (type === 'message.refused' && to.startsWith('workflow/')) {
    const id = to.slice(to.lastIndexOf('/') + 1, to.lastIndexOf('@'));
    return isOpen(id) ? 'workflowFailed' : null;
  }
  if (type !== 'workflow.changed' || state !== 'FAILED' || final !== true) return null;
  if (cause === 'parentFailed' || !isOpen(workflowId)) return null;
  return cause === 'dispatch' ? 'dispatchExhausted' : 'workflowFailed';
}

function checkReported({ before, after, record }: JobStep, broken: (what: string) => void): void {
  if (before?.timeoutReportedAt !== null || after.timeoutReportedAt === null) return;
  if (after.gateId === null) broken(`${record.address} reports to no gate`);
  if (after.localReason !== 'overall' && after.localReason !== 'stuck')
    broken(`${record.address} reports ${after.localReason}`);
  if (after.localReason === 'stuck' && record.takenAt > overallDeadline(after))
    broken(`${record.address} reports stuck though its time is used up`);
}

/** What speaks against the end of a job; undefined when nothing does. */
function wrongEnd({ before, stateBefore, after, record }: JobStep, failure: string | null) {
  const { status, reason, table, gateId } = after;
  // The event of a turn that was not seen is not known; what was true before it is.
  const event = record.event as TakenEvent;
  switch (status) {
    case 'completed':
      if (reason !== null) return 'a completed job has no reason';
      return /^s+$/.test(table.standing) ? undefined : `its workflows are ${table.standing}`;
    case 'failed':
      if (reason !== (failure ?? 'workflowFailed')) return `its first failure is ${failure}`;
      if (after.failFast && table.standing.includes('f')) return undefined;
      return /^[sfc]*f[sfc]*$/.test(table.standing)
        ? undefined
        : `its workflows are ${table.standing}`;
    case 'cancelled':
      if (reason !== null) return 'a cancelled job has no reason';
      if (stateBefore === 'assembling') return undefined;
      if (stateBefore?.includes('"awaitingGate"') && event.type === 'message.refused')
        return undefined;
      return event.type === 'cancel.requested' ? undefined : `it took ${event.type}`;
    case 'timedOut':
      if (!after.enforce && reason !== 'global') return 'its timeouts only watch';
      return gateId === null
        ? wrongLocalEnd(after, record.takenAt)
        : wrongGateEnd(before, after, event);
    default:
      return 'that is no end';
  }
}

function wrongLocalEnd(after: JobContext, takenAt: number): string | undefined {
  if (after.reason !== 'overall' && after.reason !== 'stuck') return 'it has no gate';
  if (after.localReason !== after.reason) return `its own reason is ${after.localReason}`;
  const isOverdue = takenAt > overallDeadline(after);
  return isOverdue === (after.reason === 'overall') ? undefined : 'the time budget comes first';
}

function wrongGateEnd(
  before: JobContext | undefined,
  after: JobContext,
  event: TakenEvent,
): string | undefined {
  if (after.reason === 'fallback')
    return before?.timeoutReportedAt === null ? 'it had reported nothing' : undefined;
  if (after.reason !== 'global') return 'its gate decides';
  if (event.type !== 'timeout.declared') return `it took ${event.type}`;
  return event.reason === after.gateReason ? undefined : `its gate said ${event.reason}`;
}
