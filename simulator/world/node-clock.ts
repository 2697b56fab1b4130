/**
 * The clock of one node on a simulated clock: it may be off, too fast, slow, stopped, or dead.
 *
 * Guarantees, besides those of every clock: it is as far ahead as it was made and runs at the pace
 * of the clock below it but for its drift, which may change at any moment; it neither jumps nor goes
 * back. Tasks of one moment run as given, whatever order the clock below draws for those of other
 * nodes. While it is paused none of its tasks runs; what came due runs afterwards, in the order in
 * which it did, as in a process that was stopped. While it is slow every task takes its time and the
 * next one has to wait for it. Once it has ended nothing of it runs any more.
 *
 * A step of the wall clock is not seen here: a node reads the wall when it starts.
 */

import { Heap, type HeapItem, OUTSIDE } from '../../runtime/base/heap.ts';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';

/** What a task takes, on average, of a process that is not slow. */
const TASK_MS = 0.1;
/** A clock that gains or loses as much as this is no clock any more. */
const DRIFT_PPM_MAX = 500_000;

interface Task extends HeapItem {
  readonly run: () => void;
  /** Takes back its turn on the clock below. */
  cancel: Cancel;
}

export class NodeClock implements Clock {
  readonly #below: Clock;
  readonly #tasks = new Heap<Task>();
  #nextOrder = 0;
  /** This node's time at a moment of the clock below, and how fast it runs since. */
  #baseAt: number;
  #baseBelowAt: number;
  #rate = 1;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #slowUntil = Number.NEGATIVE_INFINITY;
  #slowness = 1;
  /** While it is slow: when the task before is done. */
  #busyUntil = Number.NEGATIVE_INFINITY;
  #hasEnded = false;

  /** `skewMs`: how far it is ahead of the clock below when it starts. */
  constructor(below: Clock, skewMs = 0, driftPpm = 0) {
    this.#below = below;
    this.#baseBelowAt = below.now();
    this.#baseAt = this.#baseBelowAt + Math.floor(skewMs);
    if (driftPpm !== 0) this.drift(driftPpm);
  }

  now(): number {
    return this.#timeAt(this.#below.now());
  }

  /** @throws {RangeError} when `atMs` is not a finite number. */
  schedule(atMs: number, run: () => void): Cancel {
    if (!Number.isFinite(atMs)) {
      throw new RangeError(`A task's moment must be a finite number, got ${atMs}.`);
    }
    const task: Task = { run, position: OUTSIDE, cancel: () => {} };
    if (this.#hasEnded) return task.cancel;
    this.#tasks.push(task, atMs, this.#nextOrder++);
    this.#giveTurn(task, this.#belowAt(atMs));
    return () => {
      if (task.position === OUTSIDE) return;
      this.#tasks.remove(task);
      task.cancel();
    };
  }

  defer(task: () => void): void {
    this.schedule(this.now(), task);
  }

  /** Runs nothing for so long; a pause that is over later holds. */
  pause(durationMs: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#below.now() + durationMs);
  }

  /** For so long the process takes `factor` times as long for everything it does. */
  slow(factor: number, durationMs: number): void {
    if (!(factor >= 1)) throw new RangeError(`Slow is a factor of 1 or more, not ${factor}.`);
    this.#slowness = factor;
    this.#slowUntil = this.#below.now() + durationMs;
  }

  /**
   * From now on it gains this many millionths; below zero it loses them.
   *
   * @throws {RangeError} when that is no number, or so large that it would hardly run.
   */
  drift(ppm: number): void {
    if (!(Math.abs(ppm) <= DRIFT_PPM_MAX)) {
      throw new RangeError(`Drift is at most ${DRIFT_PPM_MAX} ppm, not ${ppm}.`);
    }
    const belowAt = this.#below.now();
    this.#baseAt = this.#exactAt(belowAt);
    this.#baseBelowAt = belowAt;
    this.#rate = 1 + ppm / 1_000_000;
    if (ppm === 0) this.#baseAt = Math.floor(this.#baseAt);
    // All tasks are kept, and each is due at another moment of the clock below.
    this.#tasks.retain((task) => {
      task.cancel();
      this.#giveTurn(task, this.#belowAt(this.#tasks.keyOf(task)));
      return true;
    });
  }

  /** As when the process dies: no task runs any more. */
  end(): void {
    this.#hasEnded = true;
    this.#tasks.retain((task) => {
      task.cancel();
      return false;
    });
  }

  #giveTurn(task: Task, belowAt: number): void {
    task.cancel = this.#below.schedule(belowAt, () => this.#takeTurn(task));
  }

  /**
   * Every task has a turn of its own on the clock below, and whichever turn comes first runs the task
   * that is first here. Turns of one moment are as good as each other.
   */
  #takeTurn(owner: Task): void {
    const belowNow = this.#below.now();
    const freeAt = Math.max(this.#pausedUntil, Math.floor(this.#busyUntil));
    if (belowNow < freeAt) {
      this.#giveTurn(owner, freeAt);
      return;
    }
    const first = this.#tasks.peek();
    // What it was for has run in the turn of a task that was taken back afterwards.
    if (first === undefined || this.#tasks.keyOf(first) > this.now()) return;
    this.#tasks.remove(first);
    if (belowNow < this.#slowUntil) {
      this.#busyUntil = Math.max(this.#busyUntil, belowNow) + this.#slowness * TASK_MS;
    }
    first.run();
  }

  #exactAt(belowAt: number): number {
    return this.#baseAt + (belowAt - this.#baseBelowAt) * this.#rate;
  }

  #timeAt(belowAt: number): number {
    return Math.floor(this.#exactAt(belowAt));
  }

  /** The first moment below at which it is at least `atMs` here. */
  #belowAt(atMs: number): number {
    if (this.#rate === 1) return this.#baseBelowAt + (atMs - this.#baseAt);
    let belowAt = Math.ceil(this.#baseBelowAt + (atMs - this.#baseAt) / this.#rate);
    while (this.#timeAt(belowAt) < atMs) belowAt += 1;
    return belowAt;
  }
}
