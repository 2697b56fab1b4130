/**
 * Distribution of what a machine asked for in one turn: deadlines, messages and durable effects into the
 * actor's own tables, the rest among what leaves after the commit.
 */

import type { Actor, OutboxRow, PendingEffect } from '../actor.ts';
import { type Asked, dropRetry, isKept, NOTHING } from '../actor.ts';
import { wholeAddress } from '../base/address.ts';
import { RuntimeError } from '../base/errors.ts';
import type { RuntimeLimits } from '../base/limits.ts';
import type { Effect, Tree } from '../statechart.ts';

/** The whole addresses of what goes through the outbox, checked before anything is applied. */
export function checkSends(
  actor: Actor,
  effects: readonly Effect[],
  { limits, place }: { readonly limits: RuntimeLimits; readonly place: string },
): readonly string[] {
  let addresses: string[] | undefined;
  for (const effect of effects) {
    if (effect.type !== 'send' || effect.to === '') continue;
    const to = wholeAddress(effect.to, place);
    if (!isKept(effect)) continue;
    addresses ??= [];
    addresses.push(to);
  }
  if (addresses === undefined) return NOTHING;
  if (actor.outbox.size + addresses.length <= limits.outboxMax) return addresses;
  const { address, outbox } = actor;
  const what = `${address} has ${outbox.size} unacknowledged messages and would send ${addresses.length} more (outboxMax ${limits.outboxMax}).`;
  throw new RuntimeError('OUTBOX_FULL', what, { address });
}

/** Puts what the machine asked for into the actor's own tables; the rest leaves after the commit. */
export function share(
  actor: Actor,
  effects: readonly Effect[],
  at: number,
  addresses: readonly string[],
  place: string,
): Asked {
  let leaving: Effect[] | undefined;
  let sent: OutboxRow[] | undefined;
  let pending: PendingEffect[] | undefined;
  for (const effect of effects) {
    if (actor.timers.apply(effect, at)) continue;
    if (effect.type === 'send' && effect.to === '') continue;
    if (effect.type === 'stopChild') dropRetry(actor, effect.session);
    if (effect.type === 'send' && isKept(effect)) {
      sent ??= [];
      sent.push(actor.outbox.add(addresses[sent.length] as string, effect.event, at));
    } else if (effect.type === 'action' && actor.kind.isDurable(effect.name)) {
      pending ??= [];
      pending.push({
        id: `${actor.address}#${actor.turns}.${pending.length}.${at}`,
        name: effect.name,
        params: effect.params,
      });
    } else if (effect.type === 'send') {
      leaving ??= [];
      leaving.push({ ...effect, to: wholeAddress(effect.to, place) });
    } else {
      leaving ??= [];
      leaving.push(effect);
    }
  }
  if (pending !== undefined) actor.effects = [...actor.effects, ...pending];
  const { snapshot } = actor.tree as Tree;
  if (snapshot.status !== 'active') {
    actor.status = 'done';
    actor.timers.rows.length = 0;
    actor.tries.clear();
  }
  return { leaving, sent, pending };
}
