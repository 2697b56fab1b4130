/**
 * Supervision of an actor whose turn failed: it goes back to how it was, and then does what its
 * kind says (skip the event, begin again, or stop), with a bound on how often. The event itself
 * goes to the undelivered messages with the same commit.
 */

import type { Actor, Item, TimerRow, Undelivered } from '../actor.ts';
import {
  type Asked,
  type ChildRetry,
  decodeRecord,
  endedSession,
  eventType,
  hasAttemptsLeft,
  NOTHING,
  planRetry,
} from '../actor.ts';
import { messageOf, RuntimeError } from '../base/errors.ts';
import type { Effect, Tree } from '../statechart.ts';
import { stackOf } from './report.ts';

/**
 * Back to the record as last encoded. What is not the turn's stays: what waits for the
 * actor, the watermarks of its inbox, and the messages and effects that were settled meanwhile.
 */
export function revert(actor: Actor, item: Item, timer: TimerRow | undefined): void {
  if (actor.text === '') {
    actor.status = 'unspawned';
    actor.tree = undefined;
    return;
  }
  const stored = decodeRecord(actor.kind, actor.address, actor.text, () => actor.tables);
  const { tree, status, stopReason, input, turns, timers, tries, term, state } = stored;
  const known = new Set(stored.effects.map(({ id }) => id));
  const effects = actor.effects.filter(({ id }) => known.has(id));
  actor.outbox.rollBack(stored.outbox.counter);
  Object.assign(actor, {
    tree,
    status,
    stopReason,
    input,
    turns,
    timers,
    tries,
    effects,
    term,
    state,
  });
  if (timer !== undefined)
    timers.apply({ type: 'cancel', session: timer.session, id: timer.id }, 0);
  if (item.type === 'takeover') actor.term = item.fence;
}

/** Result of a failure: what is asked for, and the child that is run again, if it was one that failed. */
export interface Supervised extends Asked {
  readonly retry?: ChildRetry | undefined;
}

/** Applies the supervision policy; `begin` gives the actor a new tree and returns what that asks for. */
export function supervise(
  actor: Actor,
  item: Item,
  at: number,
  failure: RuntimeError,
  begin: () => Asked,
): Supervised {
  const { onFailure, failuresMax, withinMs } = actor.kind.supervision;
  actor.failedAt = [...actor.failedAt.filter((time) => at - time < withinMs), at].slice(
    -failuresMax - 1,
  );
  const ended = endedSession(item);
  const isTooOften =
    actor.failedAt.length > failuresMax ||
    (ended !== undefined && !hasAttemptsLeft(actor, ended) && onFailure !== 'stop');
  const failed = ended === undefined ? 0 : (actor.tries.get(ended) ?? 0) + 1;
  if (onFailure === 'skip' && !isTooOften) {
    const retry = ended === undefined ? undefined : planRetry(actor, ended, failed, at, failure);
    return { ...leavingOnly(NOTHING), retry };
  }
  const stopping: Effect[] = (actor.tree as Tree)
    .runningChildren()
    .map(({ session }) => ({ type: 'stopChild', session }));
  const { counter } = actor.outbox;
  if (onFailure === 'restart' && !isTooOften) {
    actor.timers.rows.length = 0;
    actor.tries.clear();
    try {
      const { leaving = NOTHING, sent, pending } = begin();
      const now = failed === 0 ? leaving : pausing(actor, leaving, failed, at, failure);
      return { leaving: [...stopping, ...now], sent, pending };
    } catch (thrown) {
      actor.outbox.rollBack(counter);
      actor.timers.rows.length = 0;
      actor.stopReason = `it could not begin again: ${messageOf(thrown)}`;
    }
  }
  // Its deadlines stay in the record, for one that is revived; none of them comes before.
  actor.status = 'stopped';
  const often = failed > 1 ? ` (tried ${failed} times)` : '';
  actor.stopReason ??= `${failure.code}: ${failure.message}${often}`;
  return leavingOnly(stopping);
}

function leavingOnly(leaving: readonly Effect[]): Asked {
  return { leaving, sent: undefined, pending: undefined };
}

/** An actor that begins again because a child has failed waits with its children as if they were that one. */
function pausing(
  actor: Actor,
  leaving: readonly Effect[],
  failed: number,
  at: number,
  failure: RuntimeError,
): readonly Effect[] {
  return leaving.filter(
    (effect) =>
      effect.type !== 'startChild' ||
      planRetry(actor, effect.session, failed, at, failure) === undefined,
  );
}

/** The failure as the runtime tells it; its own errors stay what they are. */
export function failureOf(
  thrown: unknown,
  actor: Actor,
  item: Item,
  timer: TimerRow | undefined,
): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const { address } = actor;
  const what = `${address} could not take "${eventType(item, timer)}": ${messageOf(thrown)}`;
  return new RuntimeError('TURN_FAILED', what, { address, cause: thrown });
}

/** The event that failed, for the undelivered messages. */
export function undeliveredOf(
  actor: Actor,
  item: Item,
  timer: TimerRow | undefined,
  error: RuntimeError,
): Omit<Undelivered, 'id' | 'at'> {
  const event =
    item.type === 'message' || item.type === 'refusal'
      ? item.event
      : (timer?.event ?? { type: eventType(item, timer), ...resultOf(item) });
  const from = item.type === 'message' ? item.from : undefined;
  const row = timer ?? (item.type === 'message' ? item.timer : undefined);
  const kept = { to: actor.address, event, from, error: error.toJSON(), cause: stackOf(error) };
  if (item.type === 'message' && item.session !== undefined)
    return { ...kept, session: item.session };
  return row === undefined ? kept : { ...kept, timer: row };
}

/** Result of a child that nobody took: with its output it is all that is left of a run. */
function resultOf(item: Item): object {
  if (item.type !== 'childSettled') return {};
  const { result } = item;
  if (result.type === 'error' || result.type === 'stopFailed')
    return { error: messageOf(result.error) };
  return { ...result, type: eventType(item, undefined) };
}
