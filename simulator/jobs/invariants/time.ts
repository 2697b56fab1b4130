/**
 * Time limits of a job: it is never found to have run out of time too early, nor for a reason that is untrue.
 *
 * Each deadline is worked out a second time, from what the job was told, and held against true time as far
 * as the clocks of the nodes allow. That it is found in time is in time-limits.ts.
 */

import type { JobContext } from '../../../machines/jobs/job.ts';
import type { JobsInvariant } from '../facts.ts';
import { type Account, type Accounts, isAcceptance } from './reading-accounts.ts';
import { localVerdict } from './reading-deadlines.ts';
import { type JobStep, jobsOf, PerActor, watching } from './reading-jobs.ts';
import { areAllOver } from './reading-standings.ts';

/** TO-1. Also of a job whose timeouts only watch; that it was found overdue is all that is read from its record. */
export const neverOverdueEarly: JobsInvariant = {
  id: 'TO-1',
  kind: 'safety',
  says: 'A datacenter finds the time budget of a job used up only after its timeout and all its extensions have passed since it was accepted.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    /** When each job was accepted, in true time; unknown where that turn was not seen. */
    const acceptedAt = new PerActor<JobContext, { at: number | undefined }>(() => ({
      at: undefined,
    }));
    const job = (step: JobStep): void => {
      const { before, after, record } = step;
      const { was } = jobs.accounts.take(step);
      const accepted = acceptedAt.of(step);
      if (isAcceptance(step)) accepted.at = jobs.clocks.trueTime(record);
      if (localVerdict(before, after)?.reason !== 'overall' || was === undefined) return;
      verdict.exercised();
      const due = jobs.accounts.overallDue(was);
      const sum = sumOf(was, jobs.accounts);
      if (record.takenAt <= due)
        verdict.broken(
          `${record.address} is overdue ${due - record.takenAt} ms early: ${sum}`,
          record,
        );
      if (accepted.at === undefined) return;
      const elapsedMs = jobs.clocks.trueTime(record) - accepted.at;
      const leastMs = was.timeoutMs + jobs.accounts.creditMs(was);
      const slackMs = jobs.clocks.slackMs(facts.epsilonMs, after.leaderFence);
      if (elapsedMs <= leastMs - slackMs)
        verdict.broken(
          `${record.address} is overdue after ${elapsedMs} of ${leastMs} ms: ${sum}`,
          record,
        );
    };
    return watching(jobs, { job, forget: (place) => acceptedAt.forget(place) });
  },
};

/** What the deadline of a job is made of, for people. */
export function sumOf(account: Account, accounts: Accounts): string {
  const { baseAt, timeoutMs, holdUntil, movedBy } = account;
  const hold = holdUntil === 0 ? '' : `, held until ${holdUntil}`;
  return `since ${baseAt}, budget ${timeoutMs} ms, credit ${accounts.creditMs(account)} ms${hold}, last moved by ${movedBy}`;
}

/** TO-2. The first half of the sentence is by the leader's own clock, as all of a threshold is. */
export const stuckMeansNoProgress: JobsInvariant = {
  id: 'TO-2',
  kind: 'safety',
  says: 'A job is found stuck only when its leader has heard of no progress for the whole threshold, an attempt was out all that time, and the leader has led for the grace.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const job = (step: JobStep): void => {
      const { before, after, record } = step;
      const { was, now } = jobs.accounts.take(step);
      if (localVerdict(before, after)?.reason !== 'stuck' || was === undefined) return;
      verdict.exercised();
      const { address, takenAt } = record;
      const sinceMs = takenAt - now.lastProgressAt;
      if (sinceMs <= was.stuckThresholdMs)
        verdict.broken(
          `${address} is stuck though it got further ${sinceMs} ms ago, expected more than ${was.stuckThresholdMs} ms, last by ${now.lastProgressBy}`,
          record,
        );
      if (takenAt <= now.graceUntil)
        verdict.broken(`${address} is stuck within the grace of a new leader`, record);
      // What begins or ends an attempt is progress: one that is out now was out for the threshold.
      if (!jobs.accounts.isStuckPossible(was))
        verdict.broken(`${address} is stuck while no attempt is out`, record);
    };
    return watching(jobs, { job });
  },
};

/**
 * TO-3. What each end may be called, and what must have been so: by what its workflows told and by the
 * deadlines of its account. The status and the reason in the record are what is judged.
 */
export const reasonIsTrue: JobsInvariant = {
  id: 'TO-3',
  kind: 'safety',
  says: 'The status and the reason that a job ends with are those of the condition that was true when it ended.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const job = (step: JobStep): void => {
      const { before, after, record } = step;
      const { was, now } = jobs.accounts.take(step);
      if (before === undefined || was === undefined) return;
      const isOverdue = record.takenAt > jobs.accounts.overallDue(now);
      const wrongReport = wrongIn(step, now, isOverdue);
      if (wrongReport !== undefined) verdict.broken(`${record.address} ${wrongReport}`, record);
      if (before.endedAt !== null || after.endedAt === null) return;
      verdict.exercised();
      const wrong = wrongEnd(step, { was, now, isOverdue });
      if (wrong !== undefined)
        verdict.broken(`${record.address} ${after.status}/${after.reason}: ${wrong}`, record);
    };
    return watching(jobs, { job });
  },
};

/** What speaks against a report to the gate; undefined when nothing does, and when there is none. */
function wrongIn(
  { before, after }: JobStep,
  { gateId }: Account,
  isOverdue: boolean,
): string | undefined {
  if (before?.timeoutReportedAt !== null || after.timeoutReportedAt === null) return undefined;
  const { localReason } = after;
  if (gateId === null) return 'reports to no gate';
  if (localReason !== 'overall' && localReason !== 'stuck') return `reports ${localReason}`;
  return localReason === 'stuck' && isOverdue
    ? 'reports stuck though its time is used up'
    : undefined;
}

/** What is known of a job in the step that ends it. */
interface Ending {
  readonly was: Account;
  readonly now: Account;
  /** Its time budget is used up. */
  readonly isOverdue: boolean;
}

/** What speaks against the end of a job; undefined when nothing does. */
function wrongEnd({ stateBefore, after, record }: JobStep, ending: Ending): string | undefined {
  const { status, reason } = after;
  const { standings, gateId } = ending.now;
  const { byId, succeeded, failed, failure } = standings;
  // The event of a turn that was not seen is not known; what was true before it is.
  const { event } = record;
  const counts = `${succeeded} of ${byId.size} have succeeded, ${failed} failed`;
  switch (status) {
    case 'completed':
      if (reason !== null) return 'a completed job has no reason';
      return succeeded === byId.size ? undefined : counts;
    case 'failed':
      if (reason !== (failure ?? 'workflowFailed')) return `its first failure is ${failure}`;
      return failed > 0 && (after.failFast || areAllOver(standings)) ? undefined : counts;
    case 'cancelled':
      if (reason !== null) return 'a cancelled job has no reason';
      if (stateBefore === 'assembling') return undefined;
      if (stateBefore?.includes('"awaitingGate"') && event.type === 'message.refused')
        return undefined;
      return event.type === 'cancel.requested' ? undefined : `it took ${event.type}`;
    case 'timedOut':
      if (!after.enforce && reason !== 'global') return 'its timeouts only watch';
      return gateId === null
        ? wrongLocalEnd(after, ending.isOverdue)
        : wrongGateEnd(after, ending.was, event);
    default:
      return 'that is no end';
  }
}

function wrongLocalEnd(after: JobContext, isOverdue: boolean): string | undefined {
  if (after.reason !== 'overall' && after.reason !== 'stuck') return 'it has no gate';
  if (after.localReason !== after.reason) return `its own reason is ${after.localReason}`;
  return isOverdue === (after.reason === 'overall') ? undefined : 'the time budget comes first';
}

function wrongGateEnd(
  after: JobContext,
  { reportedAt, heldReason }: Account,
  event: { readonly type: string; readonly reason?: string },
): string | undefined {
  if (after.reason === 'fallback')
    return reportedAt === null ? 'it had reported nothing' : undefined;
  if (after.reason !== 'global') return 'its gate decides';
  const said = event.type === 'job.assembled' ? heldReason : event.reason;
  if (event.type !== 'timeout.declared' && said === null) return `it took ${event.type}`;
  return said === after.gateReason ? undefined : `its gate said ${said}`;
}
