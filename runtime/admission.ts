/**
 * Which messages a turn is taken for: those of a mailbox that are not a repetition, not too
 * early, and for somebody who is there.
 *
 * The others are settled here: at once, or with the group being filled where what speaks
 * against them is not durable yet. A message that is admitted has its mark in the inbox.
 */

import type { Actor } from './actor.ts';
import type { Commits } from './commit.ts';
import type { RuntimeError } from './errors.ts';
import { SPAWN_EVENT } from './machine.ts';
import type { Message } from './mailbox.ts';
import type { Metrics } from './metrics.ts';
import type { RuntimeLimits } from './options.ts';
import { absent, childEnded, early, exists, tooManySenders } from './refusals.ts';
import { emptyTurn } from './turn-result.ts';

export interface AdmissionServices {
  readonly limits: RuntimeLimits;
  readonly commits: Commits;
  readonly metrics: Metrics;
  /** Whether nothing of a sender to a receiver here can come any more: see `Shard.#owesNothing`. */
  owesNothing(sender: string, to: string): boolean;
}

/** Whether a turn is taken for the message. `write` adds the actor's record to the group without one. */
export function admit(
  actor: Actor,
  item: Message,
  at: number,
  { limits, commits, metrics, owesNothing }: AdmissionServices,
  write: (actor: Actor) => void,
): boolean {
  const { counter, after, event } = item;
  const from = counter > 0 ? item.from : undefined;
  const isBirth = event.type === SPAWN_EVENT;
  if (from !== undefined) actor.inbox.expire(from, at, limits.dedupRetentionMs);
  if (from !== undefined && actor.inbox.has(from, counter)) {
    // The first one may still wait for its commit: nobody hears of it before.
    commits.filling.turns.push(emptyTurn(actor, item, at));
    return false;
  }
  if (isBirth ? isOver(actor) : actor.status !== 'active') {
    // An end that is not durable yet may still be taken back.
    if (actor.group === undefined) refuse(item, absent(actor), metrics);
    else commits.filling.turns.push(emptyTurn(actor, item, at, absent(actor)));
    return false;
  }
  if (from !== undefined && actor.inbox.isEarly(from, counter, after)) {
    refuse(item, early(actor), metrics);
    return false;
  }
  if (actor.inbox.isCrowded) actor.inbox.sweep((sender) => owesNothing(sender, actor.address));
  if (from !== undefined && !actor.inbox.take(from, counter, after, at, limits)) {
    refuse(item, tooManySenders(actor, limits.sendersMax), metrics);
    return false;
  }
  if (item.session !== undefined && actor.tree?.hasMember(item.session) !== true) {
    refuse(item, childEnded(actor, event.type), metrics);
    return false;
  }
  if (isBirth && actor.status === 'active') {
    const { mustBeNew } = event as { mustBeNew?: boolean };
    // The mark is written all the same: the message must not give birth once this life is over.
    if (from !== undefined) write(actor);
    commits.filling.turns.push(
      emptyTurn(actor, item, at, mustBeNew === true ? exists(actor) : undefined),
    );
    return false;
  }
  return true;
}

/** True of an actor that has ended and begins no further life. */
function isOver({ status, kind }: Actor): boolean {
  return kind.options.livesOnce === true && (status === 'done' || status === 'stopped');
}

/** Settles a message that no turn takes. */
export function refuse(item: Message, refusal: RuntimeError, metrics: Metrics): void {
  metrics.refuse(refusal.code);
  item.settle?.(refusal);
}
