/**
 * Time as the runtime sees it. Nothing under machines/, runtime/ or programs/
 * calls `Date` or `setTimeout`: a run is reproducible only if time is an input.
 *
 * Guarantees of every clock: `now` never goes back and never jumps; a task is
 * never run before its moment; tasks due at the same moment run in the order
 * they were given. It does not persist anything: durable deadlines are the
 * timers in an actor's record, and one clock task wakes the node for the next.
 */

export interface Clock {
  /** Whole milliseconds since the epoch: wall time at process start plus monotonic time since. */
  now(): number;
  /** Runs `task` once, at `atMs` or as soon after it as possible. Any distance works, also decades. */
  schedule(atMs: number, task: () => void): Cancel;
  /** Runs `task` after the current one, once pending I/O had its turn, before time moves far. */
  defer(task: () => void): void;
}

/** Undoes a `schedule`; harmless when the task has already run. */
export type Cancel = () => void;
