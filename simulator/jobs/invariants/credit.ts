/** Credit of a job: each extension counts once and stays, unless its worker is lost. */

import type { JobContext } from '../../../machines/jobs/job.ts';
import type { HistoryRecord } from '../../history.ts';
import type { Verdict } from '../../invariants.ts';
import type { JobsInvariant } from '../facts.ts';
import type { Account, Accounts } from './reading-accounts.ts';
import { localVerdict, overallDeadline } from './reading-deadlines.ts';
import { type JobStep, type Jobs, jobsOf, PerActor, watching } from './reading-jobs.ts';
import type { TurnRecord } from './reading-steps.ts';
import { sumOf } from './time.ts';

type SentRecord = Extract<HistoryRecord, { readonly type: 'sent' }>;

interface Credited {
  readonly type: string;
  readonly creditId: string;
  readonly workerId: string;
  readonly grantMs: number;
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

/**
 * TO-6. The deadline in the record is what is judged, by what the job took. A takeover moves deadlines
 * together with the clock that they are on: that is FO-1's and FO-3's.
 */
export const deadlineOnlyFallsForLostWorkers: JobsInvariant = {
  id: 'TO-6',
  kind: 'safety',
  says: 'The time budget of a job is what it was accepted with, what it was granted and what people gave; it only shrinks when a worker with credit is lost, and nothing fires within one check period after that.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const { accounts } = jobs;
    /** Until when nothing may fire, in true time. */
    const holds = new PerActor<JobContext, { untilMs: number }>(() => ({ untilMs: 0 }));
    const job = (step: JobStep): void => {
      const { before, after, record } = step;
      const { was, now } = accounts.take(step);
      const hold = holds.of(step);
      if (before === undefined || was === undefined) return;
      if (localVerdict(before, after) !== undefined) {
        const slackMs = jobs.clocks.slackMs(facts.epsilonMs, after.leaderFence);
        if (
          jobs.clocks.trueTime(record) <= hold.untilMs - slackMs ||
          record.takenAt <= was.holdUntil
        )
          verdict.broken(`${record.address} times out while that is put off`, record);
      }
      if (now.holdUntil > was.holdUntil)
        hold.untilMs = jobs.clocks.trueTime(record) + facts.config.checkIntervalMs;
      if (before.endedAt !== null || after.endedAt !== null) return;
      const dueAt = accounts.overallDue(now);
      if (dueAt !== accounts.overallDue(was)) verdict.exercised();
      const offMs = overallDeadline(after) - dueAt;
      if (offMs !== 0)
        verdict.broken(
          `${record.address} has ${Math.abs(offMs)} ms ${offMs > 0 ? 'more' : 'less'} than it was given: ${sumOf(now, accounts)}`,
          record,
        );
      else if (now.holdUntil !== after.holdUntil)
        verdict.broken(
          `${record.address} is held until ${after.holdUntil}, expected ${now.holdUntil}`,
          record,
        );
    };
    return watching(jobs, { job, forget: (place) => holds.forget(place) });
  },
};

/** TO-6 of what it waits for: the deadlines of a turn follow it. */
export const waitsForWhatItWasTold: JobsInvariant = {
  id: 'TO-15',
  kind: 'safety',
  says: 'A job waits for the end of its time budget and for that of its progress, or once it has reported for its fallback; each is where its terms, its credit, its holds, its progress and the word of its gate put it, and nothing else moves it.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const { accounts } = jobs;
    let last: JobStep | undefined;
    const job = (step: JobStep): void => {
      accounts.take(step);
      last = step;
    };
    const timers = (waits: TimersRecord): void => {
      const step = last;
      last = undefined;
      if (step === undefined || step.record.address !== waits.address) return;
      const { record } = step;
      const { now } = accounts.take(step);
      for (const [region, dueAt] of deadlinesOf(record.state, now, accounts)) {
        verdict.exercised();
        const timer = waits.timers.find(({ id }) => id.includes(region));
        // What has passed already is found in the same moment, whatever it was armed for.
        const isPast = dueAt < record.takenAt && (timer?.dueAt ?? Infinity) <= record.takenAt;
        if (timer?.dueAt === dueAt + 1 || isPast) continue;
        verdict.broken(
          `${waits.address} waits in ${region} for ${timer?.dueAt}, it is due after ${dueAt}: ${sumOf(now, accounts)}, progress at ${now.lastProgressAt} by ${now.lastProgressBy}`,
          record,
        );
      }
    };
    const turn = (): void => {
      last = undefined;
    };
    return watching(jobs, { turn, job }, { timers });
  },
};

type TimersRecord = Extract<HistoryRecord, { readonly type: 'timers' }>;

/** What a job waits for in that state, by the part of the chart that waits. */
function* deadlinesOf(
  state: string,
  account: Account,
  accounts: Accounts,
): Generator<readonly [region: string, dueAt: number]> {
  if (state.includes('"reported"')) yield ['.reported.', accounts.fallbackDue(account)];
  if (!state.includes('"tracking"')) return;
  yield ['.tracking.overallLimit.', accounts.overallDue(account)];
  if (accounts.isStuckPossible(account))
    yield ['.tracking.stuckLimit.', accounts.stuckDue(account)];
}
