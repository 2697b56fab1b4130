/** Choices made by chance, from one stream of it. */

import type { Random } from '../../runtime/ports/random.ts';

export class Chance {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** True so often, of 1. */
  is(probability: number): boolean {
    return this.#random.next() < probability;
  }

  /** A whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.#random.next() * (max - min + 1));
  }

  /** From `min` to `max`, every order of magnitude as likely as the next; `min` above 0. */
  scaled(min: number, max: number): number {
    const drawn = Math.exp(Math.log(min) + this.#random.next() * (Math.log(max) - Math.log(min)));
    return Math.min(max, Math.max(min, drawn));
  }

  pick<T>(of: readonly T[]): T {
    if (of.length === 0) throw new Error('There is nothing to choose from.');
    return of[this.whole(0, of.length - 1)] as T;
  }

  /** In proportion to the weights; those of weight 0 never. */
  weighted<T>(of: ReadonlyArray<readonly [T, weight: number]>): T {
    const total = of.reduce((sum, [, weight]) => sum + weight, 0);
    let left = this.#random.next() * total;
    for (const [one, weight] of of) {
      left -= weight;
      if (left < 0 && weight > 0) return one;
    }
    return this.pick(of.filter(([, weight]) => weight > 0))[0];
  }

  /** Each one with that probability, in their order. */
  some<T>(of: readonly T[], probability: number): readonly T[] {
    return of.filter(() => this.is(probability));
  }

  /** In another order. */
  shuffled<T>(of: readonly T[]): T[] {
    const left = [...of];
    const drawn: T[] = [];
    while (left.length > 0) drawn.push(...left.splice(this.whole(0, left.length - 1), 1));
    return drawn;
  }
}
