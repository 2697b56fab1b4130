/**
 * A clock that moves only when told to.
 *
 * Guarantees, besides those of every clock: advancing stops at every task in turn, so a task
 * sees the moment it was due at, and tasks it schedules run within the same advance. A deferred
 * task is due at the present moment, after those that were already. (XState's SimulatedClock
 * jumps straight to the end instead, which hides races between short timers.)
 *
 * With a `tiebreak` chance decides which of the tasks due at one moment runs first, as it does
 * between processes; deferred ones still come after all others, in the order they were given. So
 * this clock no longer keeps the order that a clock promises: it is the clock of a world, and code that
 * needs an order keeps it by itself. A NodeClock does so for its node, a ClockLine for the frames
 * of a connection and the groups of a disk.
 *
 * A caller that runs asynchronous code on it takes one `step` at a time and lets the promises in
 * between settle. Tasks wait in the same heap as the runtime's timers.
 */

import { Heap, type HeapItem, OUTSIDE } from '../../runtime/base/heap.ts';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';
import type { Random } from '../../runtime/ports/random.ts';

export interface SimulatedClockOptions {
  /**
   * The moment at which the clock starts, in whole milliseconds since the epoch.
   *
   * @defaultValue 2026-01-01T00:00:00Z
   */
  readonly startAt?: number;
  /** Draws the order of tasks that are due at the same moment; without it they run as given. */
  readonly tiebreak?: Random;
}

const DEFAULT_START_AT = 1_767_225_600_000;

/** A rank is drawn from this many, and of equal ones the number of the task decides: both fit into 53 bits. */
const RANKS = 2 ** 19;
const TASKS_PER_RANK = 2 ** 33;

interface Task extends HeapItem {
  readonly run: () => void;
}

export class SimulatedClock implements Clock {
  readonly #tasks = new Heap<Task>();
  readonly #tiebreak: Random | undefined;
  #now: number;
  #nextOrder = 0;

  constructor(options: SimulatedClockOptions = {}) {
    this.#now = options.startAt ?? DEFAULT_START_AT;
    this.#tiebreak = options.tiebreak;
  }

  now(): number {
    return this.#now;
  }

  /** @throws {RangeError} when `atMs` is not a finite number. */
  schedule(atMs: number, run: () => void): Cancel {
    if (!Number.isFinite(atMs)) {
      throw new RangeError(`A task's moment must be a finite number, got ${atMs}.`);
    }
    const task: Task = { run, position: OUTSIDE };
    if (this.#tiebreak === undefined) this.#tasks.push(task, atMs, this.#nextOrder++);
    else this.#pushRanked(task, atMs, Math.floor(this.#tiebreak.next() * RANKS));
    return () => {
      if (task.position !== OUTSIDE) this.#tasks.remove(task);
    };
  }

  defer(run: () => void): void {
    if (this.#tiebreak === undefined) this.schedule(this.#now, run);
    else this.#pushRanked({ run, position: OUTSIDE }, this.#now, RANKS);
  }

  /** When the next task is due; in the past when it was scheduled there. */
  nextDueAt(): number | undefined {
    const task = this.#tasks.peek();
    return task && this.#tasks.keyOf(task);
  }

  /** Runs one task that is due by now. False when there is none. */
  runDue(): boolean {
    return this.step(this.#now);
  }

  /** Moves to the next task due by `untilMs` and runs it. False, without moving, when there is none. */
  step(untilMs: number = Number.POSITIVE_INFINITY): boolean {
    const task = this.#tasks.peek();
    if (task === undefined || this.#tasks.keyOf(task) > untilMs) return false;
    // Time is whole: a task due between two milliseconds runs at the second one.
    this.#moveTo(Math.ceil(this.#tasks.keyOf(task)));
    this.#tasks.remove(task);
    task.run();
    return true;
  }

  /**
   * Runs every task due by `atMs`, each at its moment, and stops there.
   *
   * @throws {RangeError} when `atMs` is in the past or not a whole number.
   */
  advanceTo(atMs: number): void {
    if (!Number.isSafeInteger(atMs) || atMs < this.#now) {
      throw new RangeError(`Time goes forward from ${this.#now} in whole ms, not to ${atMs}.`);
    }
    while (this.step(atMs)) {
      // Each step may have added tasks.
    }
    this.#moveTo(atMs);
  }

  advanceBy(durationMs: number): void {
    this.advanceTo(this.#now + durationMs);
  }

  /** What is late, or due within this millisecond, is due at the same moment. */
  #pushRanked(task: Task, atMs: number, rank: number): void {
    const dueAt = Math.max(this.#now, Math.ceil(atMs));
    this.#tasks.push(task, dueAt, rank * TASKS_PER_RANK + this.#nextOrder++);
  }

  /** A task may have advanced the clock itself. */
  #moveTo(atMs: number): void {
    if (atMs > this.#now) this.#now = atMs;
  }
}
