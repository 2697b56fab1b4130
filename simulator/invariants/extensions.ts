/** What workers are granted, how often, and what they are answered. */

import type { ExtensionAnswer, ExtensionRequested } from '../../machines/jobs/messages/worker.ts';
import type { WorkerHealthContext } from '../../machines/jobs/worker-health.ts';
import type { Verdict, Watcher } from '../invariant.ts';
import type { JobsInvariant } from '../jobs/facts.ts';
import {
  decisionIn,
  followGrants,
  type Grant,
  grantMs,
  type HealthTurn,
  isTrusted,
  sumOf,
} from './reading-grants.ts';
import { TrustOfWorkers } from './reading-trust.ts';
import { eventOf, followTurns, together } from './reading-turns.ts';

/** An invariant about every single grant; `judge` says what is wrong with one. */
function aboutGrants(
  id: string,
  says: string,
  judge: (grant: Grant) => string | undefined,
): JobsInvariant {
  return {
    id,
    kind: 'safety',
    says,
    watch: (_, verdict) =>
      followGrants((grant) => {
        verdict.exercised();
        const what = judge(grant);
        if (what === undefined) return;
        const { record } = grant.turn;
        verdict.broken(`${record.address}, ${grant.request.operationId}: ${what}`, record);
      }),
  };
}

export const halvesEachGrant = aboutGrants(
  'EX-1',
  'Grant n of one attempt, first is 0, is the base deadline divided by 2 n times, rounded down, and never below the smallest grant.',
  ({ answer, soFar, turn }) => {
    const { baseDeadlineMs, minGrantMs } = turn.context.rules;
    const expected = grantMs(soFar?.grants ?? 0, baseDeadlineMs, minGrantMs);
    return answer.extensionMs === expected
      ? undefined
      : `granted ${answer.extensionMs} ms instead of ${expected} ms`;
  },
);

export const boundsAllGrants = aboutGrants(
  'EX-2',
  'All grants of one attempt together are at most the sum of as many grants as it may have.',
  ({ answer, soFar, turn }) => {
    const { baseDeadlineMs, minGrantMs, maxExtensions } = turn.context.rules;
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
    return followTurns<WorkerHealthContext>('worker-health', {
      took(turn) {
        const { record, before } = turn;
        const request = eventOf<ExtensionRequested>(record, 'extension.requested');
        const answer = request === undefined ? undefined : decisionIn(turn);
        const known = trust.of(turn);
        if (request !== undefined && before !== undefined && known !== undefined) {
          const lateMs = record.takenAt - known.untilMs;
          const isStrange = before.context.operations[request.operationId] === undefined;
          const isSuspect = lateMs > 0 || !isTrusted(before.state);
          if (isSuspect || isStrange) verdict.exercised();
          if (answer?.granted === true && (isSuspect || isStrange))
            verdict.broken(
              `${record.address}, ${request.operationId}: granted ${answer.extensionMs} ms to a worker that is ${before.state}, heard ${record.takenAt - known.heardAt} ms ago, granted ${known.grantedMs} ms since; ${isStrange ? 'it does not have the attempt' : `${lateMs} ms after its deadline`}`,
              record,
            );
        }
        trust.take(turn, answer);
      },
      forgot: (address) => trust.forget(address),
    });
  },
};

export const answersWhatIsTrue: JobsInvariant = {
  id: 'EX-6',
  kind: 'safety',
  says: 'A grant moves the deadline by exactly what it says, to a time that is still to come; a denial moves nothing; and either answer tells the true deadline and how many extensions are left.',
  watch: (_, verdict) =>
    followTurns<WorkerHealthContext>('worker-health', {
      took(turn) {
        const { record, context, before } = turn;
        const request = eventOf<ExtensionRequested>(record, 'extension.requested');
        const answer = request === undefined ? undefined : decisionIn(turn);
        if (request === undefined || before === undefined || answer === undefined) return;
        verdict.exercised();
        const broken = (what: string) => verdict.broken(`${record.address} ${what}`, record);
        const was = before.context;
        const { takenAt } = record;
        const { operationId } = request;
        const grants = was.operations[operationId]?.grants ?? 0;
        if (context.deadline !== was.deadline + answer.extensionMs)
          broken(
            `moved its deadline by ${context.deadline - was.deadline} ms, not ${answer.extensionMs}`,
          );
        if (answer.deadlineInMs !== Math.max(0, context.deadline - takenAt))
          broken(`told ${answer.deadlineInMs} ms, it is ${context.deadline - takenAt}`);
        const left = context.rules.maxExtensions - grants - (answer.granted ? 1 : 0);
        if (answer.remainingExtensions !== Math.max(0, left))
          broken(`told ${answer.remainingExtensions} extensions, ${left} are left`);
        if (answer.granted && context.deadline <= takenAt) broken('granted a time that is over');
        if (answer.granted || record.state === 'evicted') return;
        const isSame =
          context.grantCount === was.grantCount &&
          context.pending.length === was.pending.length &&
          (context.operations[operationId]?.grants ?? 0) === grants;
        if (answer.extensionMs !== 0 || !isSame) broken('denied and changed something');
      },
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
      (state === 'evicted' && before.state !== 'evicted');
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
            const isThere = before.context.operations[request.operationId] !== undefined;
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
