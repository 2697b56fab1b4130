/**
 * Entrance to the mailboxes of a shard: what may reach an actor, and what is refused with the reason.
 *
 * Guarantees: an event that the kind of its receiver does not know, or whose sender that kind does not admit, enters no
 * mailbox; each message is settled once with why it was refused.
 */

import { type Actor, aged, type Message, unspawned } from '../actor.ts';
import { RuntimeError } from '../base/errors.ts';
import type { RuntimeLimits } from '../base/limits.ts';
import type { Metrics } from '../base/metrics.ts';
import { SPAWN_EVENT } from '../machine.ts';
import type { ProvedPeer } from '../ports/transport.ts';
import { notHosted, type Population } from './population.ts';

/**
 * Checks that a message must pass: nothing when it comes from inside, or as an event, or by its sender on
 * another node too.
 */
export type Checks = 'none' | 'event' | 'sender';

export interface EntranceServices {
  readonly place: string;
  readonly limits: RuntimeLimits;
  readonly metrics: Metrics;
  readonly population: Population;
  /** An actor has something to do. */
  ready(actor: Actor): void;
}

export class Entrance {
  readonly #services: EntranceServices;

  constructor(services: EntranceServices) {
    this.#services = services;
  }

  /** Puts a message into the actor's mailbox, or settles it with the reason why not. */
  accept(
    address: string,
    message: Message,
    checks: Checks,
    /** Peer that handed it over, where that is proved. */
    peer: ProvedPeer | undefined,
  ): void {
    const { limits, metrics } = this.#services;
    metrics.offered += 1;
    try {
      const isChecked =
        checks === 'none' || (checks === 'sender' && this.#admits(address, message, peer));
      const actor = this.#receiverOf(address, message);
      if (!isChecked) actor.kind.checkEvent(message.event, address);
      const { mailbox } = actor;
      const { mailboxMax } = limits;
      const isFull = mailbox.sizeFor(message) >= mailboxMax;
      if (isFull && !(message.isHint && mailbox.replaceHint(message))) {
        const what = `The mailbox of ${address} is full (${mailboxMax} messages waiting). Slow the sender down or raise mailboxMax.`;
        throw new RuntimeError('MAILBOX_FULL', what, { address });
      }
      if (!isFull) mailbox.push(aged(message));
      this.#services.ready(actor);
    } catch (thrown) {
      metrics.refuse(thrown instanceof RuntimeError ? thrown.code : 'INTERNAL');
      message.settle?.(thrown as Error);
    }
  }

  /** True when the kind chooses its senders, and this one passed with its event; false when it does not choose. */
  #admits(
    address: string,
    { from, counter, event }: Message,
    peer: ProvedPeer | undefined,
  ): boolean {
    const { population } = this.#services;
    if (!population.isHosting) return false;
    const kind = population.kindOf(address);
    if (kind.options.admit === undefined) return false;
    kind.checkEvent(event, address);
    // A copy of what was taken is no new message, even if the kind would refuse it now; a question is answered again.
    const isCopy =
      counter > 0 &&
      !kind.questions.has(event.type) &&
      population.find(address)?.inbox.has(from as string, counter) === true;
    if (!isCopy) kind.checkSender({ to: address, from, event, peer });
    return true;
  }

  /** The actor a message is for; a new one when the message spawns it. */
  #receiverOf(address: string, message: Message): Actor {
    const { population, place } = this.#services;
    if (!population.isHosting) throw notHosted(place);
    const found = population.find(address);
    if (found !== undefined) return found;
    const kind = population.kinds.of(address);
    if (message.event.type !== SPAWN_EVENT)
      throw new RuntimeError('ACTOR_UNKNOWN', `There is no actor ${address}.`, { address });
    const actor = unspawned(address, kind);
    population.enter(actor);
    return actor;
  }
}
