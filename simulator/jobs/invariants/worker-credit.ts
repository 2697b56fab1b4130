/**
 * Credit of a worker: an extension moves the deadlines of each job that the worker runs, once, and while it
 * lives.
 */

import { idOf } from '../../../machines/jobs/addresses.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { ProgressReported } from '../../../machines/jobs/messages/gate.ts';
import type {
  CreditAnswered,
  ExtensionCredited,
  MessageRefused,
} from '../../../machines/jobs/messages/local.ts';
import type { ExtensionRequested } from '../../../machines/jobs/messages/worker.ts';
import type { WorkerHealthContext } from '../../../machines/jobs/worker-health.ts';
import type { Verdict, Watcher } from '../../invariants.ts';
import type { JobsFacts, JobsInvariant } from '../facts.ts';
import { decisionIn, followGrants } from './reading-grants.ts';
import { type JobStep, jobsOf, watching } from './reading-jobs.ts';
import { eventOf, followTurns, type SentRecord, together } from './reading-turns.ts';
import { type HealthTurn, type HeldWorker, HeldWorkers, isEvicted } from './reading-workers.ts';

const jobIn = (operationId: string): string => operationId.slice(0, operationId.indexOf('/'));

export const limitsCredit: JobsInvariant = {
  id: 'EX-3',
  kind: 'safety',
  says: 'No attempt is granted more extensions than it may have, and what workers are granted moves the deadline of a job by no more than its cap, over all attempts and workers together.',
  watch: (facts, verdict) =>
    together(
      followGrants(facts, ({ soFar, turn, request }) => {
        verdict.exercised();
        const grants = (soFar?.grants ?? 0) + 1;
        const { record } = turn;
        if (grants > facts.config.maxExtensions)
          verdict.broken(
            `${record.address} granted ${request.operationId} ${grants} times`,
            record,
          );
      }),
      followTurns<JobContext>('job', {
        took() {},
        said({ event }, { record, context }) {
          if (event.type !== 'progress.reported') return;
          const { extensionsMs } = (event as ProgressReported).figures;
          if (extensionsMs > mostMs(context))
            verdict.broken(`${record.address} tells ${extensionsMs} ms of extensions`, record);
        },
        armed({ timers }, { record, context }) {
          if (record.event.type !== 'extension.credited') return;
          verdict.exercised();
          const { baseAt, timeoutMs, holdUntil } = context;
          const latest = Math.max(baseAt + timeoutMs + mostMs(context), holdUntil) + 1;
          const overall = timers.find(({ id }) => id.startsWith('xstate.after.overallLimit.'));
          if (overall !== undefined && overall.dueAt > Math.max(latest, record.takenAt))
            verdict.broken(
              `${record.address} is due ${overall.dueAt - latest} ms too late`,
              record,
            );
        },
      }),
    ),
};

/** The most that a job can be extended by workers, and what a person has given it. */
function mostMs({ rules, timeoutMs, operatorCredits }: JobContext): number {
  let mostByAll = rules.extensionJobCapMs ?? timeoutMs;
  for (const { byMs } of operatorCredits) mostByAll += byMs;
  return mostByAll;
}

export const creditsEachJobOnce: JobsInvariant = {
  id: 'EX-9',
  kind: 'safety',
  says: 'A grant is credited to the job that asks and to each that has a running attempt on the worker, to each once and to no other; one that has reported a timeout or has ended answers that it does not count.',
  watch: (facts, verdict) =>
    together(tellsTheRightJobs(facts, verdict), countsOnce(facts, verdict)),
};

/** Whom a grant goes to, by the attempts that the worker was given and has taken. */
function tellsTheRightJobs({ config }: JobsFacts, verdict: Verdict): Watcher {
  const credited: string[] = [];
  const workers = new HeldWorkers(config);
  let expected: readonly string[] | undefined;
  return followTurns<WorkerHealthContext>('worker-health', {
    took(turn) {
      credited.length = 0;
      const { record, before } = turn;
      const request = eventOf<ExtensionRequested>(record, 'extension.requested');
      const answer = request === undefined ? undefined : decisionIn(turn);
      const worker = workers.of(record.address);
      const isGrant = request !== undefined && worker !== undefined && answer?.granted === true;
      const jobs = isGrant ? runningJobs(worker, request.operationId) : [];
      expected = before === undefined ? undefined : jobs;
      if (isGrant) verdict.exercised();
      workers.take(turn, answer);
    },
    said({ event, to }) {
      if (event.type === 'extension.credited') credited.push(idOf(to));
    },
    over({ record }) {
      if (expected !== undefined && String(credited.sort()) !== String(expected))
        verdict.broken(`${record.address} credited [${credited}], not [${expected}]`, record);
    },
    forgot: (address) => workers.forget(address),
  });
}

/** The jobs with an attempt that the worker has taken, and the job that asks. */
function runningJobs({ attempts }: HeldWorker, operationId: string): readonly string[] {
  const jobs = new Set([jobIn(operationId)]);
  for (const [id, { takenAfter }] of attempts) if (takenAfter !== undefined) jobs.add(jobIn(id));
  return [...jobs].sort();
}

/** What the job was granted, each grant once; the ledger in its record and its answer are what is judged. */
function countsOnce(facts: JobsFacts, verdict: Verdict): Watcher {
  const jobs = jobsOf(facts);
  let isVoid: boolean | undefined;
  const job = (step: JobStep): void => {
    const { before, after, record } = step;
    const { was, now } = jobs.accounts.take(step);
    isVoid = was === undefined ? undefined : was.reportedAt !== null || before?.endedAt !== null;
    if (record.event.type !== 'extension.credited' || was === undefined) return;
    verdict.exercised();
    const { workerId } = record.event as ExtensionCredited;
    const hasMs = after.creditByWorker[workerId] ?? 0;
    const dueMs = now.creditByWorker[workerId] ?? 0;
    if (hasMs !== dueMs)
      verdict.broken(`${record.address} counts ${hasMs} ms of ${workerId}, not ${dueMs}`, record);
  };
  const turn = (): void => {
    isVoid = undefined;
  };
  const sent = (record: SentRecord): void => {
    const { event, from } = record;
    if (event.type !== 'credit.answered' || isVoid === undefined || !from.startsWith('job/'))
      return;
    const { answer } = event as CreditAnswered;
    if (answer !== (isVoid ? 'void' : 'applied'))
      verdict.broken(`${from} answered a credit with ${answer}`, record);
  };
  return watching(jobs, { turn, job }, { sent });
}

/** The ledger in the record is what is judged, by the grants and the losses that the job heard of. */
export const removesOnlyTheLost: JobsInvariant = {
  id: 'CL-4',
  kind: 'safety',
  says: 'When a worker is lost, each job that has credit of it and is not decided loses exactly that credit and fires nothing for a while; credit goes in no other way.',
  watch: (facts, verdict) => together(keepsItsLedger(facts, verdict), tellsCreditedJobs(verdict)),
};

function keepsItsLedger(facts: JobsFacts, verdict: Verdict): Watcher {
  const jobs = jobsOf(facts);
  const job = (step: JobStep): void => {
    const { before, after, record } = step;
    const { was, now } = jobs.accounts.take(step);
    if (was === undefined || before === undefined || before.endedAt !== null) return;
    const broken = (what: string) => verdict.broken(`${record.address} ${what}`, record);
    const isLoss = now.holdUntil !== was.holdUntil && record.event.type === 'worker.lost';
    if (isLoss) verdict.exercised();
    const workers = new Set([
      ...Object.keys(after.creditByWorker),
      ...Object.keys(now.creditByWorker),
    ]);
    for (const workerId of workers) {
      const hasMs = after.creditByWorker[workerId] ?? 0;
      const dueMs = now.creditByWorker[workerId] ?? 0;
      if (hasMs !== dueMs)
        broken(`has ${hasMs} ms of ${workerId} after ${record.event.type}, it was given ${dueMs}`);
    }
    if (isLoss && after.holdUntil !== now.holdUntil)
      broken(`is held until ${after.holdUntil} after a loss, expected ${now.holdUntil}`);
  };
  return watching(jobs, { job });
}

/** Jobs that a registration's grants went to, and that still want to hear of its loss. */
function tellsCreditedJobs(verdict: Verdict): Watcher {
  const credited = new Map<string, Set<string>>();
  let told: string[] = [];
  return followTurns<WorkerHealthContext>('worker-health', {
    took({ record, context, before }) {
      told = [];
      if (before === undefined) credited.set(record.address, new Set(context.creditedJobs));
      const gone = settledIn(record.event);
      if (gone !== undefined) credited.get(record.address)?.delete(gone);
    },
    said({ event, to }, { record }) {
      if (event.type === 'extension.credited') credited.get(record.address)?.add(idOf(to));
      if (event.type === 'worker.lost' && to.startsWith('job/')) told.push(idOf(to));
    },
    over(turn) {
      const jobs = credited.get(turn.record.address);
      if (jobs === undefined || !isLoss(turn)) return;
      for (const jobId of jobs)
        if (!told.includes(jobId))
          verdict.broken(
            `${turn.record.address} did not tell ${jobId} that it is lost`,
            turn.record,
          );
      jobs.clear();
    },
    forgot: (address) => credited.delete(address),
  });
}

/** The registration that was is over in this turn. */
export function isLoss({ record, context, before }: HealthTurn): boolean {
  if (before === undefined || before.context.registration === 0) return false;
  const isReplaced = context.registration !== before.context.registration;
  return isReplaced || (isEvicted(record.state) && !isEvicted(before.state));
}

/** A job that wants to hear of no loss any more. */
function settledIn(event: { readonly type: string }): string | undefined {
  const { answer, jobId } = event as CreditAnswered;
  if (event.type === 'credit.closed') return jobId;
  if (event.type === 'credit.answered' && answer === 'void') return jobId;
  if (event.type !== 'message.refused') return undefined;
  const refused = event as MessageRefused;
  return refused.event.type === 'extension.credited' ? idOf(refused.to) : undefined;
}
