/**
 * What extensions do to the deadline of a job: each counts once and stays, unless its worker is lost.
 */

import type { JobContext } from '../../machines/jobs/job.ts';
import type { HistoryRecord } from '../history.ts';
import type { Verdict } from '../invariant.ts';
import type { JobsInvariant } from '../jobs/facts.ts';
import { creditOf, localVerdict, overallDeadline } from './reading-deadlines.ts';
import { type JobStep, type Jobs, jobsOf, PerActor, watching } from './reading-jobs.ts';
import { isTakeover } from './reading-progress.ts';
import type { TurnRecord } from './reading-steps.ts';

type SentRecord = Extract<HistoryRecord, { readonly type: 'sent' }>;

interface Credited {
  readonly type: string;
  readonly creditId: string;
  readonly workerId: string;
  readonly grantMs: number;
}

interface Lost {
  readonly workerId: string;
}

/** What `worker-health` has said to workers, newest last. */
interface Answers {
  readonly answers: ReadonlyArray<{ readonly requestId: string; readonly granted: boolean }>;
}

/**
 * TO-4. By order and not by a common commit: the worker hears of its grant when every job concerned
 * has it on disk, or did not want it because it was decided.
 */
export const grantIsCreditedFirst: JobsInvariant = {
  id: 'TO-4',
  kind: 'safety',
  says: 'A grant that its worker was told of is in the credit of every job concerned, unless the job had reported or ended before.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    /** The jobs that each grant was sent to, and the answers that each worker's health last had. */
    const concerned = new Map<string, Set<string>>();
    const answered = new Map<string, Answers['answers']>();
    const job = (step: JobStep): void => {
      if (step.record.event.type !== 'extension.credited') return;
      checkCredit(step, verdict);
      const { creditId } = step.record.event as Credited;
      concerned.get(creditId)?.delete(step.record.address);
    };
    const turn = (record: TurnRecord): void => {
      if (record.kind !== 'worker-health' || record.context === undefined) return;
      const { answers } = record.context as Answers;
      const before = answered.get(record.address);
      if (before === answers) return;
      answered.set(record.address, answers);
      const last = answers.at(-1);
      if (last?.granted !== true || last.requestId === before?.at(-1)?.requestId) return;
      const open = concerned.get(last.requestId);
      if (open === undefined) return;
      concerned.delete(last.requestId);
      verdict.exercised();
      for (const address of open)
        if (!isSettledInStore(jobs, address, last.requestId))
          verdict.broken(`${address} has not heard of a grant that its worker was told of`, record);
    };
    const sent = ({ event, to }: SentRecord): void => {
      if (event.type !== 'extension.credited') return;
      const { creditId } = event as Credited;
      const known = concerned.get(creditId) ?? new Set();
      concerned.set(creditId, known.add(to));
    };
    return watching(jobs, { job, turn, forget: () => concerned.clear() }, { sent });
  },
};

/** The credit after a grant is the credit before and the grant, or it is void. */
function checkCredit({ before, after, record }: JobStep, verdict: Verdict): void {
  if (before === undefined) return;
  const { creditId, workerId, grantMs } = record.event as Credited;
  const isVoid = before.timeoutReportedAt !== null || before.endedAt !== null;
  const isKnown = before.creditIds.includes(creditId);
  const had = before.creditByWorker[workerId] ?? 0;
  const wanted = isVoid || isKnown ? had : had + grantMs;
  const has = after.creditByWorker[workerId] ?? 0;
  verdict.exercised();
  if (has !== wanted)
    verdict.broken(
      `${record.address} credits ${workerId} with ${has} instead of ${wanted} ms`,
      record,
    );
}

/** Its turn may have been seen by nobody. */
function isSettledInStore({ jobs }: Jobs, address: string, creditId: string): boolean {
  const stored = jobs.stored(address);
  if (stored === undefined || stored.creditIds.includes(creditId)) return true;
  return stored.timeoutReportedAt !== null || stored.endedAt !== null;
}

/** TO-6. A takeover moves deadlines together with the clock that they are on: that is FO-1's and FO-3's. */
export const deadlineOnlyFallsForLostWorkers: JobsInvariant = {
  id: 'TO-6',
  kind: 'safety',
  says: 'The time budget of a job only shrinks when a worker with credit is lost, and nothing fires within one check period after that.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    /** Until when nothing may fire, in true time. */
    const holds = new PerActor<JobContext, { untilMs: number }>(() => ({ untilMs: 0 }));
    const job = (step: JobStep): void => {
      const { before, after, record } = step;
      const hold = holds.of(step);
      if (before === undefined) return;
      if (localVerdict(before, after) !== undefined) {
        const slackMs = jobs.clocks.slackMs(facts.epsilonMs, after.leaderFence);
        if (
          jobs.clocks.trueTime(record) <= hold.untilMs - slackMs ||
          record.takenAt <= before.holdUntil
        )
          verdict.broken(`${record.address} times out while that is put off`, record);
      }
      if (isUntouched(before, after) || isTakeover(step) || record.event.type === 'job.assembled')
        return;
      verdict.exercised();
      if (isLoss(step)) {
        const { checkIntervalMs } = before.rules;
        hold.untilMs = jobs.clocks.trueTime(record) + checkIntervalMs;
        if (after.holdUntil !== record.takenAt + checkIntervalMs)
          verdict.broken(`${record.address} does not put off what it lost credit for`, record);
      } else if (
        overallDeadline(after) < overallDeadline(before) ||
        creditOf(after) < creditOf(before)
      ) {
        verdict.broken(`${record.address} has less time after ${record.event.type}`, record);
      }
    };
    return watching(jobs, { job, forget: (place) => holds.forget(place) });
  },
};

/** Nothing that the deadline is made of has changed. */
function isUntouched(before: JobContext, after: JobContext): boolean {
  return (
    before.creditByWorker === after.creditByWorker &&
    before.operatorCredits === after.operatorCredits &&
    before.holdUntil === after.holdUntil &&
    before.baseAt === after.baseAt &&
    before.timeoutMs === after.timeoutMs
  );
}

/** A worker with credit is lost, and nothing is decided yet. */
function isLoss({ before, record }: JobStep): boolean {
  if (record.event.type !== 'worker.lost' || before === undefined) return false;
  const { workerId } = record.event as unknown as Lost;
  return before.creditByWorker[workerId] !== undefined && before.timeoutReportedAt === null;
}
