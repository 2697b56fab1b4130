/**
 * The last turns of actors that are looked at again and again: of a history that is known already only what came
 * since is read.
 */

import { knob } from '../../runtime/base/knob.ts';
import type { TurnLine } from '../protocol.ts';

/** Actors whose turns are kept; a page watches one. */
const ACTORS_MAX = knob('inspectorRecentActors', 32);
const TURNS_KEPT = 100;

export class RecentTurns {
  readonly #read: (address: string, limit: number) => readonly TurnLine[];
  readonly #kept = new Map<string, readonly TurnLine[]>();

  /** `read`: the last turns of an actor, oldest first. */
  constructor(read: (address: string, limit: number) => readonly TurnLine[]) {
    this.#read = read;
  }

  /** The last turns of an actor that has taken `count` turns, oldest first. */
  of(address: string, count: number): readonly TurnLine[] {
    const before = this.#kept.get(address) ?? [];
    const last = before.at(-1)?.turn ?? 0;
    const news = count - last;
    const turns =
      before.length === 0 || news < 0 || news >= TURNS_KEPT
        ? this.#read(address, TURNS_KEPT)
        : this.#joined(address, before, last, news);
    this.#kept.delete(address);
    this.#kept.set(address, turns);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > ACTORS_MAX.value && oldest !== undefined) this.#kept.delete(oldest);
    return turns;
  }

  clear(): void {
    this.#kept.clear();
  }

  #joined(
    address: string,
    before: readonly TurnLine[],
    last: number,
    news: number,
  ): readonly TurnLine[] {
    const [known, ...rows] = this.#read(address, news + 1).filter(({ turn }) => turn >= last);
    // Another life of the actor counts its turns from one.
    if (known?.turn !== last || known.at !== before.at(-1)?.at)
      return this.#read(address, TURNS_KEPT);
    if (rows.length === 0) return before;
    return [...before, ...rows].slice(-TURNS_KEPT);
  }
}
