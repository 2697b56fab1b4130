/** Chance that a seed decides: the same seed, the same throws. */

export class Dice {
  #state: number;

  constructor(seed: string) {
    let hash = 0x811c9dc5;
    for (const letter of seed) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
    this.#state = hash | 0;
  }

  /** From 0 up to, and without, 1. */
  share(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number below `below`. */
  below(below: number): number {
    return Math.floor(this.share() * below);
  }

  /** True so often. */
  isLucky(share: number): boolean {
    return this.share() < share;
  }

  pick<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }
}
