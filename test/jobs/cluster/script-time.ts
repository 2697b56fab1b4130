/**
 * The time of a script: zero is when it begins, and everything happens on one simulated clock.
 *
 * Guarantees: what a script does at a moment it does before anything of the cluster that is
 * due then and was scheduled later, and one step of the clock is settled before the next. An
 * action that fails makes the run fail, at the latest when it ends.
 */

import { SimulatedClock } from '../../../simulator/clock.ts';

/** Captured before anybody fakes it: lets every promise that can settle do so. */
const { setImmediate: nextTurn } = globalThis;

export class ScriptTime {
  readonly clock = new SimulatedClock();
  #zero = this.clock.now();
  readonly #failures: unknown[] = [];
  readonly #isBusy: (() => boolean) | undefined;

  /** `isBusy`: something takes real time, and simulated time has to wait for it. */
  constructor(isBusy?: () => boolean) {
    this.#isBusy = isBusy;
  }

  /** Milliseconds since the script began; below zero before that. */
  now(): number {
    return this.sinceBegin(this.clock.now());
  }

  sinceBegin(at: number): number {
    return at - this.#zero;
  }

  /** The script begins now, or so long ago. */
  begin(agoMs = 0): void {
    this.#zero = this.clock.now() - agoMs;
  }

  at(atMs: number, action: () => unknown): void {
    const due = this.#zero + atMs;
    if (due < this.clock.now())
      throw new RangeError(`It is ${this.now()} ms already; nothing can happen at ${atMs} ms.`);
    this.clock.schedule(due, () => this.#watch(async () => action()));
  }

  async runUntil(atMs: number): Promise<void> {
    const endsAt = this.#zero + atMs;
    await this.#settle();
    while (this.clock.step(endsAt)) await this.#drain();
    this.clock.advanceTo(endsAt);
    await this.#settle();
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  runFor(durationMs: number): Promise<void> {
    return this.runUntil(this.now() + durationMs);
  }

  /** Lets time pass until it is true. @throws {Error} when it is not within `limitMs`. */
  async until(what: string, isTrue: () => boolean, limitMs = 60_000): Promise<void> {
    const endsAt = this.clock.now() + limitMs;
    await this.#settle();
    while (!isTrue()) {
      if (!this.clock.step(endsAt))
        throw new Error(`Within ${limitMs} ms it did not happen: ${what}.`);
      await this.#drain();
    }
  }

  /** Lets time pass until a promise has settled. */
  async during<T>(promise: Promise<T>, limitMs = 60_000): Promise<T> {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    promise.then(end, end);
    await this.until('a call returns', () => isOver, limitMs);
    return promise;
  }

  #watch(action: () => Promise<unknown>): void {
    action().catch((thrown) => this.#failures.push(thrown));
  }

  /** Lets every promise settle, and every disk: what it has done may begin something new a moment later. */
  async #drain(): Promise<void> {
    await drain();
    if (this.#isBusy === undefined) return;
    for (let quiet = 0; quiet < 2; quiet += 1) {
      if (this.#isBusy()) quiet = -1;
      await drain();
    }
  }

  async #settle(): Promise<void> {
    do await this.#drain();
    while (this.clock.runDue());
  }
}

function drain(): Promise<void> {
  return new Promise((resolve) => nextTurn(resolve));
}
