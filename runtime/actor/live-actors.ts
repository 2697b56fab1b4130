/**
 * Live actors: those kept in memory beside their records.
 *
 * There are two generations: an actor that is used moves to the young one; when that is half the
 * limit, idle actors left in the old one are let go, and the young one becomes the old one. An
 * actor that has something to do is never let go, so the limit can be passed by as many as are
 * busy.
 */

import { type Actor, isIdle } from './actor.ts';

/** One actor in this many that were busy has to be new before it is worth looking at all again. */
const ADDED_SHARE = 4;

export class LiveActors {
  #young = new Map<string, Actor>();
  #old = new Map<string, Actor>();
  readonly #generationMax: number;
  /** Busy actors that the last sweep met, and actors added since then. */
  #busyCount = 0;
  #addedCount = 0;

  constructor(liveActorsMax: number) {
    this.#generationMax = Math.max(1, liveActorsMax >> 1);
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Finds an actor and keeps it young. */
  get(address: string): Actor | undefined {
    const young = this.#young.get(address);
    if (young !== undefined) return young;
    const old = this.#old.get(address);
    if (old === undefined) return undefined;
    this.#old.delete(address);
    this.add(old);
    return old;
  }

  /** Finds an actor and leaves it as old as it is. */
  peek(address: string): Actor | undefined {
    return this.#young.get(address) ?? this.#old.get(address);
  }

  add(actor: Actor): void {
    this.#addedCount += 1;
    const isFull = this.#young.size >= this.#generationMax;
    // Where hardly anything can be let go, looking at all of them for each new one would take for ever.
    if (isFull && this.#addedCount * ADDED_SHARE >= this.#busyCount) this.#sweep();
    this.#young.set(actor.address, actor);
  }

  delete(address: string): void {
    if (!this.#young.delete(address)) this.#old.delete(address);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }

  *[Symbol.iterator](): Iterator<Actor> {
    yield* this.#young.values();
    yield* this.#old.values();
  }

  #sweep(): void {
    const next = new Map<string, Actor>();
    for (const actor of this.#old.values()) if (!isIdle(actor)) next.set(actor.address, actor);
    this.#old = this.#young;
    this.#young = next;
    this.#busyCount = next.size;
    this.#addedCount = 0;
  }
}
