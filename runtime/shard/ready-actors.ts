/**
 * Ready actors: those that have something to take, in the order of their turns: first those with a deadline
 * that is due, then those with messages, last those that are only to begin new work.
 *
 * Guarantees: among equally urgent ones it is round robin, and an actor that something more urgent reaches
 * moves up. Nobody waits for ever: after a bounded number of turns of more urgent ones the first of those
 * behind has its own. An actor has one place in each queue at most, so all of them are bounded by the actors.
 */

import type { Actor } from '../actor.ts';
import { Queue, TURNS_AHEAD_MAX, type Urgency } from '../actor.ts';

export class ReadyActors {
  /** Queues by urgency. One that has moved up leaves its old place behind, which is passed over. */
  readonly #queues = [new Queue<Actor>(), new Queue<Actor>(), new Queue<Actor>()] as const;
  /** Turns of more urgent ones since the last of its own, by urgency. */
  readonly #passed = [0, 0, 0];
  size = 0;

  /** Number of actors that have a deadline that is due. */
  get dueSize(): number {
    return this.#queues[0].size;
  }

  /** The first of those to take its turn. */
  get firstDue(): Actor | undefined {
    return this.#queues[0].first;
  }

  /** The actor has something to take, or something more urgent than it had. */
  add(actor: Actor): void {
    const { urgency } = actor.mailbox;
    if (actor.readyAs === undefined) this.size += 1;
    else if (actor.readyAs <= urgency) return;
    actor.readyAs = urgency;
    if ((actor.places & (1 << urgency)) !== 0) return;
    actor.places |= 1 << urgency;
    this.#queues[urgency].push(actor);
  }

  /** Takes out the actor whose turn it is. */
  shift(): Actor | undefined {
    const urgency = this.#next();
    if (urgency === undefined) return undefined;
    const actor = this.#queues[urgency].shift() as Actor;
    actor.places &= ~(1 << urgency);
    actor.readyAs = undefined;
    this.size -= 1;
    this.#passed[urgency] = 0;
    for (let behind = urgency + 1; behind < 3; behind += 1)
      if (this.#queues[behind as Urgency].size > 0) (this.#passed[behind] as number) += 1;
    return actor;
  }

  clear(): void {
    for (const queue of this.#queues) {
      for (const actor of queue) {
        actor.readyAs = undefined;
        actor.places = 0;
      }
      queue.clear();
    }
    this.#passed.fill(0);
    this.size = 0;
  }

  /** The queue that is next: one that was passed over for long, or the most urgent. */
  #next(): Urgency | undefined {
    let next: Urgency | undefined;
    for (const urgency of [0, 1, 2] as const) {
      this.#dropOldPlaces(urgency);
      if (this.#queues[urgency].size === 0) continue;
      if (next === undefined || (this.#passed[urgency] as number) >= TURNS_AHEAD_MAX.value)
        next = urgency;
    }
    return next;
  }

  #dropOldPlaces(urgency: Urgency): void {
    const queue = this.#queues[urgency];
    for (
      let { first } = queue;
      first !== undefined && first.readyAs !== urgency;
      { first } = queue
    ) {
      first.places &= ~(1 << urgency);
      queue.shift();
    }
  }
}
