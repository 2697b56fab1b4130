/**
 * A rate with a burst of one second: what was not used in the last second may be used at once.
 *
 * The clock is asked only when the bucket runs dry, so a sender far below its rate costs one
 * subtraction.
 */

import type { Clock } from '../../runtime/clock.ts';

export class Bucket {
  readonly #clock: Clock;
  readonly #perSecond: number;
  #left: number;
  #filledAt: number;

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#left = perSecond;
    this.#filledAt = clock.now();
  }

  /** False when that much is more than the rate allows; then nothing is taken. */
  take(amount: number): boolean {
    if (amount > this.#left) this.#fill();
    if (amount > this.#left) return false;
    this.#left -= amount;
    return true;
  }

  /** True when nothing was taken for a second: a new bucket would be the same. */
  get isFull(): boolean {
    this.#fill();
    return this.#left === this.#perSecond;
  }

  #fill(): void {
    const now = this.#clock.now();
    const gained = ((now - this.#filledAt) / 1_000) * this.#perSecond;
    this.#left = Math.min(this.#perSecond, this.#left + gained);
    this.#filledAt = now;
  }
}
