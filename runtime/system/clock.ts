/**
 * The real clock: wall time at start plus monotonic time since, and one sleeping timeout.
 *
 * Guarantees, besides those of every clock: `now` follows the monotonic clock, so setting the
 * wall clock moves no deadline. Drift beyond one second is slewed by 0.05 % at most. While a
 * machine is suspended its monotonic clock stands still; the time since boot does not, so the
 * lost time is noticed within a second of running and `now` goes forward by it, the one jump
 * there is. The process is kept alive by waiting tasks only, by nothing with `unref`.
 *
 * Once a second it looks at the wall and at the time since boot. It has no alarm for the moment
 * of waking up: until that look, `now` lags behind by the time suspended.
 */

import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';
import { Heap, type HeapItem, OUTSIDE } from '../base/heap.ts';
import type { Cancel, Clock } from '../ports/clock.ts';

export interface SystemClockOptions {
  /**
   * True if the process may end while tasks are waiting.
   *
   * @defaultValue false
   */
  readonly unref?: boolean;
  /** Called after time went forward by `suspendedMs`, before any task that became due by it. */
  readonly onSuspended?: (suspendedMs: number) => void;
  /** Sources of time; tests give their own. */
  readonly sources?: TimeSources;
}

/** All in milliseconds. */
export interface TimeSources {
  /** Since the epoch, as the machine believes now. */
  wall(): number;
  /** Since any fixed moment; never goes back, may stand still while the machine sleeps. */
  monotonic(): number;
  /** Since the machine was started, sleep included; NaN when unknown. */
  uptime(): number;
}

/** Node fires a longer timeout after 1 ms. */
const SLEEP_MAX_MS = 2 ** 31 - 1;
const TASKS_PER_WAKE_MAX = 4_096;
const WATCH_EVERY_MS = 1_000;
const DRIFT_TOLERATED_MS = 1_000;
const SLEW_MAX = 0.0005;
/** Some systems tell the time since boot in whole seconds. */
const SUSPENSION_MIN_MS = 2_000;
/** A look at the sources that took longer was interrupted: its times do not belong together. */
const LOOK_MAX_MS = 100;

interface Task extends HeapItem {
  readonly run: () => void;
}

/** A clock that started now. */
export function systemClock(options: SystemClockOptions = {}): SystemClock {
  return new SystemClock(options);
}

export class SystemClock implements Clock {
  readonly #sources: TimeSources;
  readonly #monotonic: () => number;
  readonly #isUnref: boolean;
  readonly #onSuspended: ((suspendedMs: number) => void) | undefined;
  readonly #tasks = new Heap<Task>();
  #nextOrder = 0;

  /** Time is `baseAt` plus `rate` times what the monotonic clock gained since `baseMonotonicMs`. */
  #baseAt: number;
  #baseMonotonicMs: number;
  #rate = 1;
  #latest = 0;

  /** The task moment the timeout sleeps for. */
  #sleepsUntil = Number.POSITIVE_INFINITY;
  #timeout: NodeJS.Timeout | undefined;

  readonly #vigil: NodeJS.Timeout;
  #watchedMonotonicMs: number;
  #watchedUptimeMs: number;

  constructor(options: SystemClockOptions = {}) {
    this.#sources = options.sources ?? MACHINE_SOURCES;
    // Held directly: `now` is asked before every turn.
    this.#monotonic =
      options.sources === undefined ? readMonotonic : () => this.#sources.monotonic();
    this.#isUnref = options.unref ?? false;
    this.#onSuspended = options.onSuspended;
    this.#baseAt = this.#sources.wall();
    this.#baseMonotonicMs = this.#monotonic();
    this.#watchedMonotonicMs = this.#baseMonotonicMs;
    this.#watchedUptimeMs = this.#sources.uptime();
    this.#vigil = setInterval(() => this.#watch(), WATCH_EVERY_MS).unref();
  }

  now(): number {
    const at = Math.floor(this.#timeAt(this.#monotonic()));
    if (at > this.#latest) this.#latest = at;
    return this.#latest;
  }

  /** @throws {RangeError} when `atMs` is not a finite number. */
  schedule(atMs: number, run: () => void): Cancel {
    if (!Number.isFinite(atMs)) {
      throw new RangeError(`A task's moment must be a finite number, got ${atMs}.`);
    }
    const task: Task = { run, position: OUTSIDE };
    this.#tasks.push(task, atMs, this.#nextOrder++);
    if (atMs < this.#sleepsUntil) this.#sleep();
    return () => {
      if (task.position === OUTSIDE) return;
      this.#tasks.remove(task);
      // Otherwise the timeout stays as it is: at worst it finds nothing to do.
      if (this.#tasks.size === 0) this.#sleep();
    };
  }

  defer(run: () => void): void {
    const immediate = setImmediate(run);
    if (this.#isUnref) immediate.unref();
  }

  /** Milliseconds that the wall is ahead of `now`; negative when it is behind. */
  driftMs(): number {
    return this.#sources.wall() - this.#timeAt(this.#monotonic());
  }

  /** Drops all waiting tasks and stops looking at the wall. `now` goes on. */
  stop(): void {
    clearInterval(this.#vigil);
    this.#tasks.retain(() => false);
    this.#sleep();
  }

  #timeAt(monotonicMs: number): number {
    return this.#baseAt + (monotonicMs - this.#baseMonotonicMs) * this.#rate;
  }

  /** Sleeps until the earliest task, or not at all when there is none. */
  #sleep(): void {
    clearTimeout(this.#timeout);
    const task = this.#tasks.peek();
    if (task === undefined) {
      this.#timeout = undefined;
      this.#sleepsUntil = Number.POSITIVE_INFINITY;
      return;
    }
    this.#sleepsUntil = this.#tasks.keyOf(task);
    const distanceMs = this.#sleepsUntil - this.#timeAt(this.#monotonic());
    const sleepMs = Math.min(Math.max(Math.ceil(distanceMs / this.#rate), 1), SLEEP_MAX_MS);
    this.#timeout = setTimeout(this.#wake, sleepMs);
    if (this.#isUnref) this.#timeout.unref();
  }

  readonly #wake = (): void => {
    // Node counts from the start of a loop turn and so may wake us early: the clock decides.
    if (this.#monotonic() - this.#watchedMonotonicMs >= WATCH_EVERY_MS) this.#watch();
    const now = this.now();
    try {
      for (let count = 0; count < TASKS_PER_WAKE_MAX; count++) {
        const task = this.#tasks.peek();
        if (task === undefined || this.#tasks.keyOf(task) > now) break;
        this.#tasks.remove(task);
        task.run();
      }
    } finally {
      this.#sleep();
    }
  };

  /** Compares the sources, makes up for a suspension, and sets the rate. */
  #watch(): void {
    const startedMs = this.#monotonic();
    const uptimeMs = this.#sources.uptime();
    const wallMs = this.#sources.wall();
    const endedMs = this.#monotonic();
    if (endedMs - startedMs > LOOK_MAX_MS) return;

    const lostMs = uptimeMs - this.#watchedUptimeMs - (endedMs - this.#watchedMonotonicMs);
    const suspendedMs = lostMs >= SUSPENSION_MIN_MS ? lostMs : 0;
    this.#watchedUptimeMs = uptimeMs;
    this.#watchedMonotonicMs = startedMs;

    const at = this.#timeAt(endedMs) + suspendedMs;
    const driftMs = wallMs - at;
    const rate = Math.abs(driftMs) > DRIFT_TOLERATED_MS ? 1 + Math.sign(driftMs) * SLEW_MAX : 1;
    if (suspendedMs === 0 && rate === this.#rate) return;
    this.#baseAt = at;
    this.#baseMonotonicMs = endedMs;
    this.#rate = rate;
    this.#sleep();
    if (suspendedMs > 0) this.#onSuspended?.(suspendedMs);
  }
}

const readMonotonic = (): number => performance.now();

const MACHINE_SOURCES: TimeSources = {
  wall: () => Date.now(),
  monotonic: readMonotonic,
  uptime: readUptime,
};

function readUptime(): number {
  try {
    return uptime() * 1_000;
  } catch {
    // Some sandboxes hide it. Suspension then shows as drift.
    return Number.NaN;
  }
}
