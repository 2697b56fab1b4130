/**
 * Newcomers: connections from which nothing whole has come yet, in the order in which they came.
 *
 *   arrived ─▶ silent ─whole head─▶ left to its server
 *                └─ too long, or oldest where there are too many ─▶ cut off
 *
 * Guarantees: silent connections lock nobody out: where one is too many, one that has been silent
 * for long makes room for the newest; of the same address where that has too many, else of the one
 * that has most, so that a storm from few addresses does not touch the others. None is waited for
 * longer than the limit. Each costs the same, however many there are, and all of them one task of
 * the clock.
 */

import type { Cancel, Clock } from '../ports/clock.ts';

export interface NewcomerLimits {
  readonly max: number;
  readonly perAddressMax: number;
  /** Time that a connection may be silent. */
  readonly silentMs: number;
}

/** Enough to find one of a storm among the oldest. */
const LOOKED_AT = 16;

interface Newcomer {
  readonly address: string;
  readonly endsAt: number;
  readonly cutOff: () => void;
}

export class Newcomers {
  readonly #clock: Clock;
  readonly #limits: NewcomerLimits;
  readonly #all = new Set<Newcomer>();
  readonly #byAddress = new Map<string, Set<Newcomer>>();
  #cancelLook: Cancel | undefined;

  constructor(clock: Clock, limits: NewcomerLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get size(): number {
    return this.#all.size;
  }

  /** The function that comes back says that it is silent no more, or gone. `cutOff` is called at most once, and never after that. */
  arrived(address: string, cutOff: () => void): () => void {
    const { max, perAddressMax, silentMs } = this.#limits;
    const newcomer: Newcomer = { address, endsAt: this.#clock.now() + silentMs, cutOff };
    this.#all.add(newcomer);
    const neighbours = this.#byAddress.get(address) ?? new Set();
    this.#byAddress.set(address, neighbours.add(newcomer));
    if (neighbours.size > perAddressMax) this.cutOffOldest(address);
    else if (this.#all.size > max) this.cutOffOldest();
    this.#look();
    return () => this.#leave(newcomer);
  }

  /** Number of silent connections of one address. */
  ofAddress(address: string): number {
    return this.#byAddress.get(address)?.size ?? 0;
  }

  /** Cuts off the oldest `count` connections of one address, or of all. */
  cutOffOldest(address?: string, count = 1): void {
    for (let left = count; left > 0; left -= 1) {
      const [oldest] =
        address === undefined ? [this.#mostCrowded()] : (this.#byAddress.get(address) ?? []);
      if (oldest === undefined) return;
      this.#cutOff(oldest);
    }
  }

  /** Finds, among the oldest few, the connection whose address has most. */
  #mostCrowded(): Newcomer | undefined {
    let found: Newcomer | undefined;
    let looks = LOOKED_AT;
    for (const newcomer of this.#all) {
      if (found === undefined || this.ofAddress(newcomer.address) > this.ofAddress(found.address))
        found = newcomer;
      looks -= 1;
      if (looks === 0) break;
    }
    return found;
  }

  #cutOff(newcomer: Newcomer): void {
    this.#leave(newcomer);
    newcomer.cutOff();
  }

  #leave(newcomer: Newcomer): void {
    if (!this.#all.delete(newcomer)) return;
    const neighbours = this.#byAddress.get(newcomer.address);
    neighbours?.delete(newcomer);
    if (neighbours?.size === 0) this.#byAddress.delete(newcomer.address);
  }

  /** Plans a look at the time limit of the oldest connection; later ones have longer. */
  #look(): void {
    if (this.#cancelLook !== undefined) return;
    const [oldest] = this.#all;
    if (oldest === undefined) return;
    this.#cancelLook = this.#clock.schedule(oldest.endsAt, () => {
      this.#cancelLook = undefined;
      const now = this.#clock.now();
      for (const newcomer of this.#all) {
        if (newcomer.endsAt > now) break;
        this.#cutOff(newcomer);
      }
      this.#look();
    });
  }
}
