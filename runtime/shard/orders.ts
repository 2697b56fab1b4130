/**
 * Orders about an actor itself, given by the code that embeds the runtime: revive, rearm, moveDeadline, end, forget.
 *
 * An order is a turn like any other: committed under the fence of its node, told in the history. The
 * machine hears nothing of it. What an actor that ends had sent is delivered all the same.
 */

import type { MovedDeadline, Order } from '../actor.ts';
import { type Actor, FORGOTTEN, NOTHING, RUN_AGAIN } from '../actor.ts';
import { RuntimeError } from '../base/errors.ts';
import type { Effect, Tree } from '../statechart.ts';
import { rearm } from './rearm.ts';
import { absent } from './refusals.ts';

/** Error of an order that cannot be carried out on this actor. */
export function orderRefusal(
  actor: Actor,
  { order, deadline }: Pick<Order, 'order' | 'deadline'>,
): RuntimeError | undefined {
  const { address, status, stopReason } = actor;
  if (status === 'unspawned' || (stopReason === FORGOTTEN && order !== 'end'))
    return new RuntimeError('ACTOR_UNKNOWN', `There is no actor ${address}.`, { address });
  if (order === 'end' || order === 'rearm') return status === 'active' ? undefined : absent(actor);
  if (order === 'moveDeadline')
    return status === 'active' ? notArmed(actor, deadline) : absent(actor);
  if (status === 'active') {
    const what = `${address} is active: ${order === 'forget' ? 'end it first' : 'there is nothing to revive'}.`;
    return new RuntimeError('ACTOR_ACTIVE', what, { address });
  }
  if (order === 'forget' || status === 'stopped') return undefined;
  const what = `${address} has come to its own end; spawn it for a new life.`;
  return new RuntimeError('ACTOR_ENDED', what, { address });
}

function notArmed(
  { address, timers }: Actor,
  deadline: MovedDeadline | undefined,
): RuntimeError | undefined {
  if (timers.rows.some(({ id }) => id === deadline?.id)) return undefined;
  const what = `${address} waits for no deadline "${deadline?.id}": it has come, or was cancelled.`;
  return new RuntimeError('OPTION_INVALID', what, { address });
}

/** Carries the order out on an actor in memory and returns what leaves after the commit. */
export function obey(
  actor: Actor,
  { order, deadline }: Pick<Order, 'order' | 'deadline'>,
  at: number,
): readonly Effect[] {
  if (order === 'rearm') {
    rearm(actor, at);
    return NOTHING;
  }
  if (order === 'moveDeadline') {
    if (deadline !== undefined) actor.timers.move(deadline.id, deadline.dueAt);
    return NOTHING;
  }
  actor.tries.clear();
  const { rows } = actor.timers;
  rows.splice(0, rows.length, ...rows.filter(({ id }) => id !== RUN_AGAIN));
  const running = (actor.tree as Tree).runningChildren();
  switch (order) {
    case 'revive':
      actor.status = 'active';
      actor.stopReason = undefined;
      actor.failedAt = [];
      return running;
    case 'end':
      actor.status = 'stopped';
      actor.stopReason = undefined;
      return running.map(({ session }) => ({ type: 'stopChild', session }));
    case 'forget':
      forget(actor);
      return NOTHING;
  }
}

/**
 * Forgets all an actor was. The numbers of what it sent and took stay until nobody could take
 * another life's message for one of them; of an actor that did neither, nothing at all stays.
 */
function forget(actor: Actor): void {
  const { address, kind, outbox, inbox, effects } = actor;
  actor.timers.rows.length = 0;
  actor.input = undefined;
  if (outbox.counter === 0 && inbox.size === 0 && effects.length === 0) {
    actor.status = 'unspawned';
    actor.tree = undefined;
    return;
  }
  const { snapshot, booked } = actor.tree as Tree;
  actor.tree = kind.chart.restore(address, {
    snapshot: { value: snapshot.value, context: {} },
    booked,
  });
  actor.status = 'stopped';
  actor.stopReason = FORGOTTEN;
}
