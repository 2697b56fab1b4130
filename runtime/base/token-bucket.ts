/**
 * Token bucket: a rate with a burst of its window. What was not used in the last second, or minute, may be
 * used at once.
 *
 * The clock is asked only when the bucket runs dry, so a sender far below its rate costs one
 * subtraction.
 */

import type { Clock } from '../ports/clock.ts';

export class Bucket {
  readonly #clock: Clock;
  readonly #perWindow: number;
  readonly #windowMs: number;
  #left: number;
  #filledAt: number;

  constructor(clock: Clock, perWindow: number, windowMs = 1_000) {
    this.#clock = clock;
    this.#perWindow = perWindow;
    this.#windowMs = windowMs;
    this.#left = perWindow;
    this.#filledAt = clock.now();
  }

  /** False when that much is more than the rate allows; then nothing is taken. */
  take(amount: number): boolean {
    if (amount > this.#left) this.#fill();
    if (amount > this.#left) return false;
    this.#left -= amount;
    return true;
  }

  /** True when nothing was taken for its window: a new bucket would be the same. */
  get isFull(): boolean {
    this.#fill();
    return this.#left === this.#perWindow;
  }

  #fill(): void {
    const now = this.#clock.now();
    const gained = ((now - this.#filledAt) / this.#windowMs) * this.#perWindow;
    this.#left = Math.min(this.#perWindow, this.#left + gained);
    this.#filledAt = now;
  }
}
