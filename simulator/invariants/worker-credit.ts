/** Whose deadlines an extension moves: of each job that the worker runs, once, and while it lives. */

import type { JobContext } from '../../machines/jobs/job.ts';
import type { ProgressReported } from '../../machines/jobs/messages/gate.ts';
import type {
  CreditAnswered,
  ExtensionCredited,
  MessageRefused,
  WorkerLost,
} from '../../machines/jobs/messages/local.ts';
import type { ExtensionRequested } from '../../machines/jobs/messages/worker.ts';
import type { WorkerHealthContext } from '../../machines/jobs/worker-health.ts';
import type { Verdict, Watcher } from '../invariant.ts';
import type { JobsInvariant } from '../jobs/facts.ts';
import { decisionIn, followGrants, type HealthTurn } from './reading-grants.ts';
import { eventOf, followTurns, type TakenTurn, together } from './reading-turns.ts';

type JobTurn = TakenTurn<JobContext>;

const jobIn = (operationId: string): string => operationId.slice(0, operationId.indexOf('/'));

/** Whose credit is in a message from a job or to it. */
const jobAt = (address: string): string =>
  address.slice(address.indexOf('/') + 1, address.lastIndexOf('@'));

export const limitsCredit: JobsInvariant = {
  id: 'EX-3',
  kind: 'safety',
  says: 'No attempt is granted more extensions than it may have, and what workers are granted moves the deadline of a job by no more than its cap, over all attempts and workers together.',
  watch: (_, verdict) =>
    together(
      followGrants(({ soFar, turn, request }) => {
        verdict.exercised();
        const grants = (soFar?.grants ?? 0) + 1;
        const { record, context } = turn;
        if (grants > context.rules.maxExtensions)
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
  watch: (_, verdict) => together(tellsTheRightJobs(verdict), countsOnce(verdict)),
};

function tellsTheRightJobs(verdict: Verdict): Watcher {
  const credited: string[] = [];
  return followTurns<WorkerHealthContext>('worker-health', {
    took: () => {
      credited.length = 0;
    },
    said({ event, to }) {
      if (event.type === 'extension.credited') credited.push(jobAt(to));
    },
    over(turn) {
      const { record, before } = turn;
      const request = eventOf<ExtensionRequested>(record, 'extension.requested');
      if (credited.length === 0 && request === undefined) return;
      if (before === undefined) return;
      const isGrant = request !== undefined && decisionIn(turn)?.granted === true;
      if (isGrant) verdict.exercised();
      const expected = isGrant ? runningJobs(before.context, request.operationId) : [];
      if (String(credited.sort()) !== String(expected))
        verdict.broken(`${record.address} credited [${credited}], not [${expected}]`, record);
    },
  });
}

/** The jobs with an attempt that the worker has taken, and the one that asks. */
function runningJobs({ operations }: WorkerHealthContext, operationId: string): string[] {
  const jobs = new Set([jobIn(operationId)]);
  for (const [id, { heartbeatSeq }] of Object.entries(operations))
    if (heartbeatSeq !== undefined) jobs.add(jobIn(id));
  return [...jobs].sort();
}

function countsOnce(verdict: Verdict): Watcher {
  const applied = new Map<string, Set<string>>();
  return followTurns<JobContext>('job', {
    took(turn) {
      const { record, context, before } = turn;
      const credit = eventOf<ExtensionCredited>(record, 'extension.credited');
      const known = applied.get(record.address) ?? new Set<string>();
      applied.set(record.address, known);
      if (before === undefined) for (const id of context.creditIds) known.add(id);
      if (credit === undefined || before === undefined) return;
      verdict.exercised();
      const isCounted = !isDecided(before.context) && !known.has(credit.creditId);
      const was = before.context.creditByWorker[credit.workerId] ?? 0;
      const is = context.creditByWorker[credit.workerId] ?? 0;
      const risen = isCounted ? credit.grantMs : 0;
      if (is - was !== risen)
        verdict.broken(`${record.address} counts ${is - was} ms of a grant, not ${risen}`, record);
      if (isCounted) known.add(credit.creditId);
    },
    said({ event }, { record, before }) {
      if (event.type !== 'credit.answered' || before === undefined) return;
      const { answer } = event as CreditAnswered;
      if (answer !== (isDecided(before.context) ? 'void' : 'applied'))
        verdict.broken(`${record.address} answered a credit with ${answer}`, record);
    },
    forgot: (address) => applied.delete(address),
  });
}

/** More time does not help it any more. */
const isDecided = ({ timeoutReportedAt, endedAt }: JobContext): boolean =>
  timeoutReportedAt !== null || endedAt !== null;

export const removesOnlyTheLost: JobsInvariant = {
  id: 'CL-4',
  kind: 'safety',
  says: 'When a worker is lost, each job that has credit of it and is not decided loses exactly that credit and fires nothing for a while; credit goes in no other way.',
  watch: (_, verdict) => together(dropsCredit(verdict), tellsCreditedJobs(verdict)),
};

function dropsCredit(verdict: Verdict): Watcher {
  return followTurns<JobContext>('job', {
    took(turn) {
      const { record, context, before } = turn;
      const lost = eventOf<WorkerLost>(record, 'worker.lost');
      if (before === undefined) return;
      const was = before.context;
      if (lost === undefined && was.creditByWorker === context.creditByWorker) return;
      const gone = lost !== undefined && !isDecided(was) ? lost.workerId : undefined;
      const broken = (what: string) => verdict.broken(`${record.address} ${what}`, record);
      for (const [workerId, creditMs] of Object.entries(was.creditByWorker)) {
        const left = context.creditByWorker[workerId] ?? 0;
        if (workerId === gone) {
          verdict.exercised();
          if (workerId in context.creditByWorker) broken(`keeps ${left} ms of ${workerId}`);
          if (context.holdUntil !== record.takenAt + context.rules.checkIntervalMs)
            broken(`is not held after it lost ${workerId}`);
        } else if (left < creditMs) broken(`lost ${creditMs - left} ms of ${workerId}`);
      }
      const risen = risenWithout(turn);
      if (risen !== undefined) broken(`got credit of ${risen} by ${record.event.type}`);
    },
  });
}

/** A worker whose credit has risen without a grant. */
function risenWithout({ record, context, before }: JobTurn): string | undefined {
  const credited = eventOf<ExtensionCredited>(record, 'extension.credited');
  for (const [workerId, creditMs] of Object.entries(context.creditByWorker)) {
    const was = before?.context.creditByWorker[workerId] ?? 0;
    if (creditMs > was && workerId !== credited?.workerId) return workerId;
  }
  return undefined;
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
      if (event.type === 'extension.credited') credited.get(record.address)?.add(jobAt(to));
      if (event.type === 'worker.lost' && to.startsWith('job/')) told.push(jobAt(to));
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
  return isReplaced || (record.state === 'evicted' && before.state !== 'evicted');
}

/** A job that wants to hear of no loss any more. */
function settledIn(event: { readonly type: string }): string | undefined {
  const { answer, jobId } = event as CreditAnswered;
  if (event.type === 'credit.closed') return jobId;
  if (event.type === 'credit.answered' && answer === 'void') return jobId;
  if (event.type !== 'message.refused') return undefined;
  const refused = event as MessageRefused;
  return refused.event.type === 'extension.credited' ? jobAt(refused.to) : undefined;
}
