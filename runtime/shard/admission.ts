/**
 * Admission of messages to a turn: those of a mailbox that are not a repetition, not too early, and
 * for an actor that is there.
 *
 * The others are settled here: at once, or with the group being filled where the reason against
 * them is not durable yet. One that was never sent, because the turn that said it was refused by the store, is
 * dropped. A message that is admitted has its watermark in the inbox.
 */

import type { Actor, Commits, IsSameLife, Message, Turn } from '../actor.ts';
import { emptyTurn } from '../actor.ts';
import type { RuntimeError } from '../base/errors.ts';
import type { RuntimeLimits } from '../base/limits.ts';
import type { Metrics } from '../base/metrics.ts';
import { SPAWN_EVENT } from '../machine.ts';
import { absent, childEnded, early, exists, tooManySenders } from './refusals.ts';

export interface AdmissionServices {
  readonly place: string;
  readonly limits: RuntimeLimits;
  readonly commits: Commits;
  readonly metrics: Metrics;
  /** True if a sender is here and has numbered its messages on since: see `Shard.#isSameLife`. */
  readonly isSameLife: IsSameLife;
  /** True if nothing of a sender to a receiver here can come any more: see `Shard.#owesNothing`. */
  owesNothing(sender: string, to: string): boolean;
  /** Hears of a question that has to wait for nothing to be durable. */
  asked(question: Turn): void;
}

/**
 * Decides if a turn is taken for the message; what only asks goes on without one. `write` adds the actor's
 * record to the group without one.
 */
export function admit(
  actor: Actor,
  item: Message,
  at: number,
  services: AdmissionServices,
  write: (actor: Actor) => void,
): boolean {
  const { limits, commits, metrics, isSameLife, owesNothing } = services;
  const { counter, after, event, origin } = item;
  if (origin?.isForgotten === true && !origin.isDurable(counter)) return false;
  const from = counter > 0 ? item.from : undefined;
  const isSpawn = event.type === SPAWN_EVENT;
  const performer = performerOf(actor, item);
  // A watermark that is not durable is kept however long the store takes: its message is still to be acknowledged.
  const forgottenUntil = Math.min(at - limits.dedupRetentionMs, commits.oldestAt - 1);
  if (from !== undefined) actor.inbox.expire(from, forgottenUntil, isSameLife);
  const isCopy = from !== undefined && actor.inbox.has(from, counter);
  if (isCopy && performer === undefined) {
    // The first one may still wait for its commit: nobody hears of it before.
    commits.filling.turns.push(emptyTurn(actor, item, at));
    return false;
  }
  if (isSpawn ? isOver(actor) : actor.status !== 'active') {
    // An end that is not durable yet may still be taken back.
    if (actor.group === undefined) refuse(item, absent(actor), metrics);
    else commits.filling.turns.push(emptyTurn(actor, item, at, absent(actor)));
    return false;
  }
  // What only asks may do so twice: its watermark is for the order of what follows, and need not be stored.
  if (isCopy) return ask(actor, item, at, services, performer);
  if (from !== undefined && actor.inbox.isEarly(from, counter, after)) {
    refuse(item, early(actor), metrics);
    return false;
  }
  if (actor.inbox.isCrowded) actor.inbox.sweep((sender) => owesNothing(sender, actor.address));
  if (from !== undefined && !actor.inbox.take(from, counter, after, at, services)) {
    refuse(item, tooManySenders(actor, limits.sendersMax), metrics);
    return false;
  }
  if (item.session !== undefined && actor.tree?.hasMember(item.session) !== true) {
    refuse(item, childEnded(actor, event.type), metrics);
    return false;
  }
  if (isSpawn && actor.status === 'active') {
    const { mustBeNew } = event as { mustBeNew?: boolean };
    // The watermark is written all the same: the message must not spawn once this life is over.
    if (from !== undefined) write(actor);
    commits.filling.turns.push(
      emptyTurn(actor, item, at, mustBeNew === true ? exists(actor) : undefined),
    );
    return false;
  }
  return performer === undefined || ask(actor, item, at, services, performer);
}

/** Finds the performer that answers the message, where it only asks. What is for a child is for its machine. */
function performerOf({ kind }: Actor, { session, event }: Message): string | undefined {
  return session === undefined ? kind.questions.get(event.type) : undefined;
}

/** Lets a question go on at once, or after what its actor has taken before it, or its own turn, is durable. */
function ask(
  actor: Actor,
  item: Message,
  at: number,
  { asked, commits }: AdmissionServices,
  question: string | undefined,
): false {
  const turn = { ...emptyTurn(actor, item, at), question };
  if (item.origin?.isDurable(item.counter) === false) commits.filling.turns.push(turn);
  else if (actor.group === undefined) asked(turn);
  else actor.group.turns.push(turn);
  return false;
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
