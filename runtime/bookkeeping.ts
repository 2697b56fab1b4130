/**
 * What changes about actors between turns: receipts that came, marks that are needed no more.
 *
 * Guarantees: it is written with the actor's next turn, or by `write` when nothing else is to do, or
 * enough has come together.
 * Losing it costs a repetition that is refused as one, never a message. It knows nothing of leases
 * and mailboxes.
 */

import type { Actor } from './actor.ts';
import type { Commits } from './commit.ts';
import { knob } from './knob.ts';
import type { LiveActors } from './live-actors.ts';
import type { Turns } from './turn.ts';

/** An inbox with no more senders than this costs nothing worth saving. */
const MARKS_KEPT = knob('marksKept', 16);

/** Marks that wait to be dropped, however busy the node is: records carry them until then. */
const QUITS_MAX = knob('quitsMax', 128);

export class Bookkeeping {
  readonly #live: LiveActors;
  readonly #turns: Turns;
  readonly #commits: Commits;
  /** Actors that are ahead of their records. */
  readonly #dirty = new Set<Actor>();
  /** Senders that owe a receiver here nothing any more, as soon as that is durable. */
  #quits: Array<readonly [sender: Actor, to: string]> = [];

  constructor(live: LiveActors, turns: Turns, commits: Commits) {
    this.#live = live;
    this.#turns = turns;
    this.#commits = commits;
  }

  get isEmpty(): boolean {
    return this.#dirty.size === 0;
  }

  /** True when it should be written although there is other work. */
  get isOverdue(): boolean {
    return this.#quits.length >= QUITS_MAX.value;
  }

  touch(actor: Actor): void {
    actor.isDirty = true;
    this.#dirty.add(actor);
  }

  /**
   * A message of `sender` to `to` was taken. Once the sender durably owes that receiver nothing, no
   * message can come twice (between actors of one place messages stay in the node, each copy is
   * answered before the next is made), so a receiver here that knows many senders drops the mark.
   */
  settled(sender: Actor, to: string): void {
    this.touch(sender);
    if (sender.outbox.lane(to) !== undefined) return;
    if ((this.#live.get(to)?.inbox.size ?? 0) > MARKS_KEPT.value) this.#quits.push([sender, to]);
  }

  /** Adds everything to the group that is being filled. */
  write(): void {
    for (const actor of this.#dirty) if (actor.isDirty) this.#turns.write(actor);
    this.#dirty.clear();
    for (const [sender, to] of this.#quits) {
      // It must be so in what is written now, and still when that is durable.
      if (!this.#owesNothing(sender, to)) continue;
      this.#commits.filling.whenDurable.push(() => {
        if (this.#owesNothing(sender, to)) this.#live.get(to)?.inbox.forget(sender.address);
      });
    }
    this.#quits = [];
  }

  /** The actor goes back to its record: what this one knew beyond it is not so. */
  forget(actor: Actor): void {
    this.#dirty.delete(actor);
    actor.isDirty = true;
  }

  clear(): void {
    this.#dirty.clear();
    this.#quits = [];
  }

  /** One that was let go for its idleness is as its record says. */
  #owesNothing(sender: Actor, to: string): boolean {
    const live = this.#live.get(sender.address);
    if (live === undefined && sender.isDirty) return false;
    return (live ?? sender).outbox.lane(to) === undefined;
  }
}
