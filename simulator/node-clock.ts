/**
 * The clock of one node on a simulated clock: it may be off, stopped, or dead.
 *
 * Guarantees, besides those of every clock: it runs at the pace of the clock below it, so far
 * ahead or behind as it was made. While it is paused none of its tasks runs; what came due
 * runs afterwards, in the order in which it did, as in a process that was stopped. Once it has
 * ended nothing of it runs any more.
 */

import type { Cancel, Clock } from '../runtime/clock.ts';

export class NodeClock implements Clock {
  readonly #below: Clock;
  readonly #skewMs: number;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #hasEnded = false;

  /** `skewMs`: how far it is ahead of the clock below. */
  constructor(below: Clock, skewMs = 0) {
    this.#below = below;
    this.#skewMs = skewMs;
  }

  now(): number {
    return this.#below.now() + this.#skewMs;
  }

  schedule(atMs: number, task: () => void): Cancel {
    let cancel: Cancel = () => {};
    const run = (): void => {
      if (this.#hasEnded) return;
      if (this.#below.now() < this.#pausedUntil)
        cancel = this.#below.schedule(this.#pausedUntil, run);
      else task();
    };
    cancel = this.#below.schedule(atMs - this.#skewMs, run);
    return () => cancel();
  }

  defer(task: () => void): void {
    this.schedule(this.now(), task);
  }

  /** Runs nothing for so long; a pause that is over later holds. */
  pause(durationMs: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#below.now() + durationMs);
  }

  /** As when the process dies: no task runs any more. */
  end(): void {
    this.#hasEnded = true;
  }
}
