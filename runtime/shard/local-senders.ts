/**
 * Senders of a shard's own place, as its inboxes ask about them: in memory or in their records, and left where they are.
 */

import { type LiveActors, mayOweMessages, numberedSince } from '../actor.ts';
import { isWholeAddress, placeOf } from '../base/address.ts';
import type { Store } from '../ports/store.ts';

export interface SenderServices {
  readonly place: string;
  readonly live: LiveActors;
  readonly store: Pick<Store, 'load'>;
}

export class LocalSenders {
  readonly #services: SenderServices;

  constructor(services: SenderServices) {
    this.#services = services;
  }

  /**
   * True when an actor of this place durably owes the receiver no message. Then none can come twice:
   * between actors of one place messages stay in the node, and each copy is answered before the next
   * is made.
   */
  owesNothing(sender: string, to: string): boolean {
    if (!this.#isOfPlace(sender)) return false;
    const live = this.#services.live.peek(sender);
    if (live !== undefined)
      return !live.isDirty && live.group === undefined && live.outbox.lane(to) === undefined;
    const text = this.#services.store.load(sender);
    return text === undefined || !mayOweMessages(text);
  }

  /** True of an actor of this place that has sent under the same numbers since before `at`. */
  isSameLife(sender: string, at: number): boolean {
    if (!this.#isOfPlace(sender)) return false;
    const live = this.#services.live.peek(sender);
    const text = live === undefined ? this.#services.store.load(sender) : undefined;
    const since = text === undefined ? live?.outbox.since : numberedSince(text);
    return since !== undefined && since <= at;
  }

  #isOfPlace(sender: string): boolean {
    return isWholeAddress(sender) && placeOf(sender) === this.#services.place;
  }
}
