/**
 * Frontier: the situations that were found and not looked at, in the order in which they will be.
 *
 * The first come as they were found, so that a small machine is explored breadth first, by shortest ways. In a
 * large one that would end among neighbours of the beginning: there come those first that were found by
 * something new, and then the state that was looked at least.
 */

import { textOf } from './observation.ts';

/** Situations that are looked at in the order in which they were found. */
const BREADTH_FIRST = 200;

interface Stated {
  readonly snapshot: { readonly value: unknown } | undefined;
}

interface Kin<T> {
  looked: number;
  readonly waiting: T[];
}

interface Found<T> {
  readonly kin: Kin<T>;
  readonly one: T;
  /** What led to it was the first of its kind. */
  readonly isPromising: boolean;
}

export class Frontier<T extends Stated> {
  /** By the state that they have. */
  readonly #kins = new Map<string, Kin<T>>();
  #early: Array<Found<T>> = [];
  readonly #promising: Array<Found<T>> = [];
  #looked = 0;

  add(one: T, isPromising: boolean): void {
    const state = textOf(one.snapshot?.value ?? null);
    const kin = this.#kins.get(state) ?? { looked: 0, waiting: [] };
    this.#kins.set(state, kin);
    const found = { kin, one, isPromising };
    if (this.#looked < BREADTH_FIRST) this.#early.push(found);
    else this.#queue(found);
  }

  next(): T | undefined {
    this.#looked += 1;
    if (this.#looked > BREADTH_FIRST) for (const found of this.#early.splice(0)) this.#queue(found);
    const first = this.#early.shift() ?? this.#promising.shift();
    if (first !== undefined) {
      first.kin.looked += 1;
      return first.one;
    }
    let least: Kin<T> | undefined;
    for (const kin of this.#kins.values())
      if (kin.waiting.length > 0 && (least === undefined || kin.looked < least.looked)) least = kin;
    if (least === undefined) return undefined;
    least.looked += 1;
    return least.waiting.shift();
  }

  #queue(found: Found<T>): void {
    if (found.isPromising) this.#promising.push(found);
    else found.kin.waiting.push(found.one);
  }
}
