/** Extensions that workers are granted, how often, and the answers that they get. */

import type {
  ExtensionAnswer,
  ExtensionRequested,
} from '../../../machines/jobs/messages/worker.ts';
import type { WorkerHealthContext } from '../../../machines/jobs/worker-health.ts';
import type { Verdict, Watcher } from '../../invariants.ts';
import type { JobsFacts, JobsInvariant } from '../facts.ts';
import { decisionIn, followGrants, followRequests, type Grant } from './reading-grants.ts';
import { TrustOfWorkers } from './reading-trust.ts';
import { eventOf, followTurns, together } from './reading-turns.ts';
import {
  grantMs,
  type HealthTurn,
  HeldWorkers,
  isEvicted,
  isTrusted,
  sumOf,
} from './reading-workers.ts';

/**
 * An invariant about every single grant; `judge` says what is wrong with one, by what the attempt was granted
 * before and by the configuration. The answer in the record is what is judged; that its worker hears it is EX-7's.
 */
function aboutGrants(
  id: string,
  says: string,
  judge: (grant: Grant, config: JobsFacts['config']) => string | undefined,
): JobsInvariant {
  return {
    id,
    kind: 'safety',
    says,
    watch: (facts, verdict) =>
      followGrants(facts, (grant) => {
        verdict.exercised();
        const what = judge(grant, facts.config);
        if (what === undefined) return;
        const { record } = grant.turn;
        verdict.broken(`${record.address}, ${grant.request.operationId}: ${what}`, record);
      }),
  };
}

export const halvesEachGrant = aboutGrants(
  'EX-1',
  'Grant n of one attempt, first is 0, is the base deadline divided by 2 n times, rounded down, and never below the smallest grant.',
  ({ answer, soFar }, { baseDeadlineMs, minGrantMs }) => {
    const expected = grantMs(soFar?.grants ?? 0, baseDeadlineMs, minGrantMs);
    return answer.extensionMs === expected
      ? undefined
      : `granted ${answer.extensionMs} ms instead of ${expected} ms`;
  },
);

export const boundsAllGrants = aboutGrants(
  'EX-2',
  'All grants of one attempt together are at most the sum of as many grants as it may have.',
  ({ answer, soFar }, { baseDeadlineMs, minGrantMs, maxExtensions }) => {
    const sumMs = (soFar?.sumMs ?? 0) + answer.extensionMs;
    const most = sumOf(maxExtensions, baseDeadlineMs, minGrantMs);
    return sumMs <= most ? undefined : `granted ${sumMs} ms in all, at most ${most} ms`;
  },
);

export const needsMoreProgress = aboutGrants(
  'EX-4',
  'A grant is made for a progress from 0 to 1; every one after the first for strictly more than at the last one, counted in items where both say them.',
  ({ request, soFar }) => {
    const { currentProgress, completedItems } = request;
    if (typeof currentProgress !== 'number' || !(currentProgress >= 0 && currentProgress <= 1))
      return `granted for a progress of ${String(currentProgress)}`;
    if (soFar === undefined) return undefined;
    const { progress, completedItems: items } = soFar;
    const hasRisen =
      completedItems !== undefined && items !== null
        ? completedItems > items
        : currentProgress > progress;
    return hasRisen ? undefined : `granted at ${currentProgress}, the last time at ${progress}`;
  },
);

/** Requests that must not be granted are what it is about: a worker that is alive asks every time. */
export const grantsToTheLiving: JobsInvariant = {
  id: 'EX-5',
  kind: 'safety',
  says: 'A grant is made to a worker that is trusted, for an attempt that it has, and not after its deadline.',
  watch: (facts, verdict) => {
    const trust = new TrustOfWorkers(facts);
    const held = new HeldWorkers(facts.config);
    const workers = followTurns<WorkerHealthContext>('worker-health', {
      took(turn) {
        const { record, before } = turn;
        const request = eventOf<ExtensionRequested>(record, 'extension.requested');
        const answer = request === undefined ? undefined : decisionIn(turn);
        const known = trust.of(turn.record.address);
        if (request !== undefined && before !== undefined && known !== undefined) {
          const lateMs = record.takenAt - known.untilMs;
          const isStrange = held.of(record.address)?.attempts.has(request.operationId) !== true;
          const isSuspect = lateMs > 0 || !isTrusted(before.state);
          if (isSuspect || isStrange) verdict.exercised();
          if (answer?.granted === true && (isSuspect || isStrange))
            verdict.broken(
              `${record.address}, ${request.operationId}: granted ${answer.extensionMs} ms to a worker that is ${before.state}, heard ${record.takenAt - known.heardAt} ms ago, granted ${known.grantedMs} ms since; ${isStrange ? 'it does not have the attempt' : `${lateMs} ms after its deadline`}`,
              record,
            );
        }
        trust.take(turn, answer);
        held.take(turn, answer);
      },
      forgot(address) {
        trust.forget(address);
        held.forget(address);
      },
    });
    return together(workers, { turn: (record) => trust.hear(record) });
  },
};

/** Judged by the deadline and the grants as the worker's words and the answers before make them. */
export const answersWhatIsTrue: JobsInvariant = {
  id: 'EX-6',
  kind: 'safety',
  says: 'A grant moves the deadline by exactly what it says, to a time that is still to come; a denial moves nothing; and either answer tells the true deadline and how many extensions are left.',
  watch: (facts, verdict) =>
    followRequests(facts, ({ turn, before, request, answer, worker }) => {
      if (answer === undefined) return;
      verdict.exercised();
      const { record, context } = turn;
      const broken = (what: string) => verdict.broken(`${record.address} ${what}`, record);
      const grants = worker.attempts.get(request.operationId)?.granted?.grants ?? 0;
      const deadline = worker.deadline + answer.extensionMs;
      if (context.deadline !== deadline)
        broken(`has its deadline ${context.deadline - deadline} ms later than it should be`);
      const leftMs = Math.max(0, deadline - record.takenAt);
      if (answer.deadlineInMs !== leftMs) broken(`told ${answer.deadlineInMs} ms, it is ${leftMs}`);
      const left = Math.max(0, facts.config.maxExtensions - grants - (answer.granted ? 1 : 0));
      if (answer.remainingExtensions !== left)
        broken(`told ${answer.remainingExtensions} extensions, ${left} are left`);
      if (answer.granted && deadline <= record.takenAt) broken('granted a time that is over');
      if (answer.granted || isEvicted(record.state)) return;
      const was = before.context;
      const isSame =
        context.grantCount === was.grantCount && context.pending.length === was.pending.length;
      if (answer.extensionMs !== 0 || !isSame) broken('denied and changed something');
    }),
};

const isSameAnswer = (one: ExtensionAnswer, other: ExtensionAnswer): boolean =>
  one.granted === other.granted &&
  one.extensionMs === other.extensionMs &&
  one.deadlineInMs === other.deadlineInMs &&
  one.remainingExtensions === other.remainingExtensions &&
  one.denialReason === other.denialReason;

/** What each worker was answered, by request, since it registered last. */
class Answers {
  readonly #byWorker = new Map<string, Map<string, ExtensionAnswer>>();

  find(address: string, requestId: string): ExtensionAnswer | undefined {
    return this.#byWorker.get(address)?.get(requestId);
  }

  forget(address: string): void {
    this.#byWorker.delete(address);
  }

  take({ record, context, before }: HealthTurn, decided: ExtensionAnswer | undefined): void {
    const { address, state } = record;
    const isOther =
      before === undefined ||
      before.context.registration !== context.registration ||
      (isEvicted(state) && !isEvicted(before.state));
    if (isOther) this.forget(address);
    const answers = this.#byWorker.get(address) ?? new Map<string, ExtensionAnswer>();
    this.#byWorker.set(address, answers);
    if (decided !== undefined) answers.set(decided.requestId, decided);
  }
}

export const answersTheSame: JobsInvariant = {
  id: 'EX-7',
  kind: 'safety',
  says: 'A request for an extension is decided once: however often it comes, it counts once, and has the same answer for as long as its attempt is there.',
  watch: (_, verdict) => {
    const answers = new Answers();
    /** All decisions about each request, of which workers hear one. */
    const decisions = new Map<string, readonly ExtensionAnswer[]>();
    return together(
      followTurns<WorkerHealthContext>('worker-health', {
        took(turn) {
          const { record, context, before } = turn;
          const request = eventOf<ExtensionRequested>(record, 'extension.requested');
          const decided = request === undefined ? undefined : decisionIn(turn);
          if (request !== undefined && before !== undefined) {
            const { requestId } = request;
            const known = answers.find(record.address, requestId);
            const counted = context.grantCount - before.context.grantCount;
            verdict.exercised();
            const isThere = before.context.operations.has(request.operationId);
            if (known !== undefined && ((decided !== undefined && isThere) || counted !== 0))
              verdict.broken(`${record.address} decided ${requestId} a second time`, record);
            if (counted > 1) verdict.broken(`${record.address} counted ${requestId} twice`, record);
          }
          answers.take(turn, decided);
          if (decided === undefined) return;
          const { requestId } = decided;
          decisions.set(requestId, [...(decisions.get(requestId) ?? []), decided]);
        },
        forgot: (address) => answers.forget(address),
      }),
      told(decisions, verdict),
    );
  },
};

/** What handlers were answered is what was decided. */
function told(
  decisions: ReadonlyMap<string, readonly ExtensionAnswer[]>,
  verdict: Verdict,
): Watcher {
  const heard = new Map<string, ExtensionAnswer>();
  return {
    work(record) {
      if (record.change !== 'answered') return;
      const answer = record.about as ExtensionAnswer;
      const { requestId } = answer;
      const first = heard.get(requestId);
      const possible = first === undefined ? decisions.get(requestId) : [first];
      heard.set(requestId, answer);
      if (possible !== undefined && !possible.some((decided) => isSameAnswer(decided, answer)))
        verdict.broken(`${requestId} was answered otherwise than it was decided`, record);
    },
  };
}
