/**
 * Extensions as a worker's health decides them, counted from what happened and not from its record.
 *
 * Guarantees: grants are counted for each attempt since it was placed, or since a worker that was
 * suspect was heard again; nothing else begins the count anew. After turns that nobody saw the
 * record is believed.
 */

import type { ExtensionAnswer, ExtensionRequested } from '../../machines/jobs/messages/worker.ts';
import type { WorkerHealthContext } from '../../machines/jobs/worker-health.ts';
import type { Watcher } from '../invariant.ts';
import { eventOf, followTurns, type Seen, type TakenTurn } from './reading-turns.ts';

export type HealthTurn = TakenTurn<WorkerHealthContext>;

/** What an attempt was granted so far. */
export interface Granted {
  readonly grants: number;
  readonly sumMs: number;
  /** At the last grant; null when it was not said then. */
  readonly progress: number;
  readonly completedItems: number | null;
}

export interface Grant {
  readonly turn: HealthTurn;
  readonly before: Seen<WorkerHealthContext>;
  readonly request: ExtensionRequested;
  readonly answer: ExtensionAnswer;
  /** Before this grant. */
  readonly soFar: Granted | undefined;
}

/** What a worker's health did with a request in this turn; undefined when it repeated an answer. */
export function decisionIn({ record, context, before }: HealthTurn): ExtensionAnswer | undefined {
  const request = eventOf<ExtensionRequested>(record, 'extension.requested');
  if (request === undefined || before === undefined) return undefined;
  const { requestId } = request;
  const pending = context.pending.at(-1)?.answer;
  if (pending?.requestId === requestId && context.grantCount > before.context.grantCount)
    return pending;
  const answer = context.answers.at(-1);
  return answer?.requestId === requestId && answer !== before.context.answers.at(-1)
    ? isNew(answer, before.context.answers)
    : undefined;
}

/** A record that was read anew has the same answers as other objects. */
function isNew(
  answer: ExtensionAnswer,
  known: readonly ExtensionAnswer[],
): ExtensionAnswer | undefined {
  return known.some(({ requestId }) => requestId === answer.requestId) ? undefined : answer;
}

export const isTrusted = (state: string): boolean => state.startsWith('{"trusted"');

/** Hears of every grant whose turn and the one before it were seen. */
export function followGrants(hear: (grant: Grant) => void): Watcher {
  const counts = new Map<string, Map<string, Granted>>();
  return followTurns<WorkerHealthContext>('worker-health', {
    took(turn) {
      const { record, before } = turn;
      const count = counts.get(record.address) ?? new Map<string, Granted>();
      counts.set(record.address, count);
      const request = eventOf<ExtensionRequested>(record, 'extension.requested');
      const answer = request === undefined ? undefined : decisionIn(turn);
      if (request !== undefined && before !== undefined && answer?.granted === true) {
        const soFar = count.get(request.operationId);
        hear({ turn, before, request, answer, soFar });
        count.set(request.operationId, grown(soFar, request, answer));
      }
      recount(count, turn);
    },
    forgot: (address) => counts.delete(address),
  });
}

function grown(
  soFar: Granted | undefined,
  { currentProgress, completedItems }: ExtensionRequested,
  { extensionMs }: ExtensionAnswer,
): Granted {
  return {
    grants: (soFar?.grants ?? 0) + 1,
    sumMs: (soFar?.sumMs ?? 0) + extensionMs,
    progress: Number(currentProgress),
    completedItems: completedItems ?? null,
  };
}

/** What begins anew after this turn. */
function recount(count: Map<string, Granted>, { context, before, record }: HealthTurn): void {
  if (before === undefined) {
    believe(count, context);
    return;
  }
  const isHeardAgain = before.state === 'suspect' && record.event.type !== 'leadership.acquired';
  const hasRecovered = isHeardAgain && isTrusted(record.state);
  if (hasRecovered || context.registration !== before.context.registration) count.clear();
  for (const operationId of count.keys())
    if (context.operations[operationId] === undefined) count.delete(operationId);
}

function believe(count: Map<string, Granted>, { operations, rules }: WorkerHealthContext): void {
  count.clear();
  for (const [operationId, operation] of Object.entries(operations)) {
    const { grants = 0, grantedProgress = 0, grantedItems = null } = operation;
    if (grants === 0) continue;
    const { baseDeadlineMs, minGrantMs } = rules;
    const sumMs = sumOf(grants, baseDeadlineMs, minGrantMs);
    count.set(operationId, {
      grants,
      sumMs,
      progress: grantedProgress,
      completedItems: grantedItems,
    });
  }
}

/** The n-th grant of one attempt, first is 0. */
export const grantMs = (n: number, baseMs: number, minMs: number): number =>
  Math.max(minMs, Math.floor(baseMs / 2 ** n));

/** The first so many grants of one attempt together. */
export function sumOf(grants: number, baseMs: number, minMs: number): number {
  let sumMs = 0;
  for (let n = 0; n < grants; n += 1) sumMs += grantMs(n, baseMs, minMs);
  return sumMs;
}
