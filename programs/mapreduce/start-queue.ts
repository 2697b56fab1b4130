/**
 * Start queue: commands that are to begin, one in a turn of the event loop while each holds this process up.
 *
 * A fork holds it up for milliseconds, on a busy machine for much longer, and attempts often begin by the hundred. So
 * limits that run out meanwhile are decided between two starts. Once a launcher starts them, which is quick, none waits.
 */

import type { Clock } from '../../runtime/ports/clock.ts';

interface Waiting {
  readonly start: () => void;
  readonly resolve: () => void;
  readonly reject: (thrown: unknown) => void;
}

export class StartQueue {
  readonly #clock: Clock;
  readonly #isQuick: () => boolean;
  readonly #waiting = new Map<string, Waiting>();
  /** True from a start until the next turn of the event loop. */
  #hasStarted = false;

  /** `isQuick`: whether a start holds nobody up. */
  constructor(clock: Clock, isQuick: () => boolean) {
    this.#clock = clock;
    this.#isQuick = isQuick;
  }

  /** Starts it now or later. The promise of one that waits settles when it was started, or was dropped. */
  add(key: string, start: () => void): void | Promise<void> {
    if (this.#waiting.size === 0 && (this.#isQuick() || !this.#hasStarted)) {
      this.#rest();
      return start();
    }
    return new Promise((resolve, reject) => {
      this.#waiting.set(key, { start, resolve, reject });
    });
  }

  /** It is not to be started any more. */
  drop(key: string): void {
    this.#waiting.get(key)?.resolve();
    this.#waiting.delete(key);
  }

  #rest(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    this.#clock.defer(() => {
      this.#hasStarted = false;
      this.#next();
    });
  }

  #next(): void {
    for (const [key, { start, resolve, reject }] of this.#waiting) {
      this.#waiting.delete(key);
      this.#rest();
      try {
        start();
        resolve();
      } catch (thrown) {
        reject(thrown);
      }
      if (!this.#isQuick()) return;
    }
  }
}
