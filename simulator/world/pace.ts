/**
 * Lets a simulated clock run while asynchronous code runs on it.
 *
 * Guarantees: one step of the clock is settled before the next, every promise that can settle
 * included, so nothing depends on how fast the machine is. What was asked for at a moment and fails
 * makes the run fail.
 */

import type { SimulatedClock } from './clock.ts';
import type { Outside } from './sealed.ts';

/** Steps between two turns of the rest of the process. */
const BREATHE_EVERY = 5_000;

export class Pace {
  readonly #clock: SimulatedClock;
  readonly #outside: Outside;
  readonly #failures: unknown[] = [];
  /** Steps of the clock so far. */
  steps = 0;

  constructor(clock: SimulatedClock, outside: Outside) {
    this.#clock = clock;
    this.#outside = outside;
  }

  /** Does something at a moment of the clock; what it returns is awaited as time goes on. */
  at(at: number, action: () => unknown): void {
    this.#clock.schedule(at, () => this.watch(action));
  }

  /** A failure of it makes the run fail. */
  watch(action: () => unknown): void {
    const run = async (): Promise<unknown> => action();
    run().catch((thrown) => this.#failures.push(thrown));
  }

  /** Runs everything due by `endsAt`, or until `isOver`. True when it was over before. */
  async runUntil(endsAt: number, isOver: () => boolean = () => false): Promise<boolean> {
    const { drained, breathe } = this.#outside;
    await drained();
    while (!isOver()) {
      if (!this.#clock.step(endsAt)) {
        this.#clock.advanceTo(endsAt);
        await drained();
        this.#rethrow();
        return isOver();
      }
      this.steps += 1;
      await drained();
      this.#rethrow();
      if (this.steps % BREATHE_EVERY === 0) await breathe();
    }
    return true;
  }

  /** Lets time pass until a promise has settled. @throws {Error} when it does not within `limitMs`. */
  async during<T>(promise: Promise<T>, limitMs = 60_000): Promise<T> {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    promise.then(end, end);
    const endsAt = this.#clock.now() + limitMs;
    if (await this.runUntil(endsAt, () => isOver)) return promise;
    throw new Error(`A call did not return within ${limitMs} simulated ms.`);
  }

  #rethrow(): void {
    if (this.#failures.length > 0) throw this.#failures[0];
  }
}
