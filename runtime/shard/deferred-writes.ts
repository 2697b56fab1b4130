/**
 * Deferred writes: changes of actors between turns, by receipts that came and effects that are
 * finished.
 *
 * Guarantees: a change is written with the actor's next turn, or by `write` when nothing else is to
 * do, or enough has come together. Losing one costs a repetition that is refused as such, never a
 * message. This file knows nothing of leases and mailboxes.
 */

import type { Actor, LiveActors } from '../actor.ts';
import { knob } from '../base/knob.ts';
import type { Turns } from './turn.ts';

/** Senders that a crowded inbox could forget once they are written, however busy the node is: its record carries them until then. */
const QUITS_MAX = knob('quitsMax', 128);

export class Bookkeeping {
  readonly #live: LiveActors;
  readonly #turns: Turns;
  /** Actors that are ahead of their records. */
  readonly #dirty = new Set<Actor>();
  /** Senders that owe a receiver nothing any more, and whose records do not say so yet. */
  #quits = 0;

  constructor(live: LiveActors, turns: Turns) {
    this.#live = live;
    this.#turns = turns;
  }

  get isEmpty(): boolean {
    return this.#dirty.size === 0;
  }

  /** True when it should be written although there is other work. */
  get isOverdue(): boolean {
    return this.#quits >= QUITS_MAX.value;
  }

  touch(actor: Actor): void {
    actor.isDirty = true;
    this.#dirty.add(actor);
  }

  /** A message of `sender` to `to` was taken. */
  settled(sender: Actor, to: string): void {
    this.touch(sender);
    const isLast = sender.outbox.lane(to) === undefined;
    if (isLast && this.#live.peek(to)?.inbox.isCrowded === true) this.#quits += 1;
  }

  /** Adds everything to the group that is being filled. */
  write(): void {
    for (const actor of this.#dirty) if (actor.isDirty) this.#turns.write(actor);
    this.#dirty.clear();
    this.#quits = 0;
  }

  /** The actor goes back to its record: what this one knew beyond it is not so. */
  forget(actor: Actor): void {
    this.#dirty.delete(actor);
    actor.isDirty = true;
  }

  clear(): void {
    this.#dirty.clear();
    this.#quits = 0;
  }
}
