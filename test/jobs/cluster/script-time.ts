/**
 * The time of a script: zero is when it begins, and everything happens on one simulated clock.
 *
 * Guarantees: what a script does at a moment it does before anything of the cluster that is
 * due then and was scheduled later, and one step of the clock is settled before the next. An
 * action that fails makes the run fail, at the latest when it ends. What takes real time and does not
 * end fails with its name, and does not hang.
 */

import { SimulatedClock } from '../../../simulator/world/clock.ts';

/** Captured before anybody fakes them. A turn lets every promise that can settle do so. */
const { setImmediate: nextTurn } = globalThis;
const realMs = performance.now.bind(performance);

/** Whatever takes real time is over by then, on the busiest machine; what is not will never be. */
const BUSY_MAX_MS = 20_000;

/** What simulated time has to wait for, because it takes real time. */
export interface RealWork {
  readonly isBusy: boolean;
  /** What is under way, for an error that somebody has to understand. */
  readonly underWay: string;
}

export class ScriptTime {
  readonly clock = new SimulatedClock();
  #zero = this.clock.now();
  readonly #failures: unknown[] = [];
  readonly #work: readonly RealWork[];

  readonly #busyMaxMs: number;

  constructor(work: readonly RealWork[] = [], busyMaxMs = BUSY_MAX_MS) {
    this.#work = work;
    this.#busyMaxMs = busyMaxMs;
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
    if (this.#work.length === 0) return;
    const since = realMs();
    for (let quiet = 0; quiet < 2; quiet += 1) {
      const busy = this.#work.filter(({ isBusy }) => isBusy);
      if (busy.length > 0) {
        quiet = -1;
        if (realMs() - since > this.#busyMaxMs) throw new Error(neverEnds(busy));
      }
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

function neverEnds(work: readonly RealWork[]): string {
  const what = work.map(({ underWay }) => underWay).join('; ');
  return `Simulated time stands still, for what does not end: ${what}.`;
}
