/**
 * What becomes of an actor whose turn failed: back to how it was, and then what the
 * kind's supervision says (skip the event, begin anew, or stop), with a bound on how
 * often. The event itself goes to the undelivered messages with the same commit.
 */

import type { Actor } from './actor.ts';
import type { Effect } from './effect.ts';
import { messageOf, RuntimeError } from './errors.ts';
import type { Item } from './mailbox.ts';
import { decodeRecord } from './record.ts';
import type { Tree } from './statechart.ts';
import type { TimerRow } from './timer-table.ts';
import { type Asked, eventType, NOTHING } from './turn-result.ts';
import type { Undelivered } from './undelivered.ts';

/**
 * Back to the record as last encoded. What is not the turn's stays: what waits for the
 * actor, the marks of its inbox, and the messages and effects that were settled meanwhile.
 */
export function revert(actor: Actor, item: Item, timer: TimerRow | undefined): void {
  if (actor.text === '') {
    actor.status = 'unborn';
    actor.tree = undefined;
    return;
  }
  const stored = decodeRecord(actor.kind, actor.address, actor.text);
  const { tree, status, stopReason, input, turns, timers, term, state } = stored;
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
    effects,
    term,
    state,
  });
  if (timer !== undefined)
    timers.apply({ type: 'cancel', session: timer.session, id: timer.id }, 0);
  if (item.type === 'takeover') actor.term = item.fence;
}

/** Applies the supervision policy; `begin` gives the actor a new tree and returns what that asks for. */
export function supervise(
  actor: Actor,
  item: Item,
  at: number,
  failure: RuntimeError,
  begin: () => Asked,
): Asked {
  const { onFailure, failuresMax, withinMs } = actor.kind.supervision;
  actor.failedAt = [...actor.failedAt.filter((time) => at - time < withinMs), at].slice(
    -failuresMax - 1,
  );
  const isTooOften = actor.failedAt.length > failuresMax;
  if (onFailure === 'skip' && !isTooOften) return leavingOnly(againOf(actor, item));
  const stopping: Effect[] = (actor.tree as Tree)
    .runningChildren()
    .map(({ session }) => ({ type: 'stopChild', session }));
  actor.timers.rows.length = 0;
  const { counter } = actor.outbox;
  if (onFailure === 'restart' && !isTooOften) {
    try {
      const { leaving = NOTHING, sent, pending } = begin();
      return { leaving: [...stopping, ...leaving], sent, pending };
    } catch (thrown) {
      actor.outbox.rollBack(counter);
      actor.stopReason = `it could not begin anew: ${messageOf(thrown)}`;
    }
  }
  actor.timers.rows.length = 0;
  actor.status = 'stopped';
  actor.stopReason ??= `${failure.code}: ${failure.message}`;
  return leavingOnly(stopping);
}

function leavingOnly(leaving: readonly Effect[]): Asked {
  return { leaving, sent: undefined, pending: undefined };
}

/** A child whose end could not be taken still runs by the record, so it runs again. */
function againOf(actor: Actor, item: Item): readonly Effect[] {
  const isEnd =
    item.type === 'childSettled' && (item.result.type === 'done' || item.result.type === 'error');
  if (!isEnd) return NOTHING;
  const running = (actor.tree as Tree).runningChildren();
  return running.filter(({ session }) => session === item.session);
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
      : (timer?.event ?? { type: eventType(item, timer) });
  const from = item.type === 'message' ? item.from : undefined;
  const row = timer ?? (item.type === 'message' ? item.timer : undefined);
  const kept = { to: actor.address, event, from, error: error.toJSON() };
  return row === undefined ? kept : { ...kept, timer: row };
}
