/**
 * A seal around a simulated run: whatever reaches for real time, chance or I/O throws SEALED.
 *
 * Guarantees: while `run` has the process nothing gets through the functions in sealed-doors.ts, neither
 * by a global nor by an import, and a breach that somebody caught fails the run all the same. Outside
 * of runs everything is as it was, also after one that threw. Several runs may go on in one process.
 *
 * A sealed run keeps the process to itself: it waits by `drained`, in which nobody else gets a turn,
 * and lets others have theirs by `breathe`, when its seal is lifted. It must not wait for anything else,
 * and has to be given whatever would be imported or compiled on the way. What somebody has captured
 * before, as the binding of a database does, is out of reach, and so are promises and `queueMicrotask`,
 * which need neither time nor chance.
 */

import { nextTick } from 'node:process';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { closeDoors, type Doors } from './sealed-doors.ts';

/** What a sealed run may do with the world outside. */
export interface Outside {
  /** Resolves when every promise that can settle without the world outside has done so. */
  drained(): Promise<void>;
  /** Lets the rest of the process have a turn: timers, disks, messages of other threads. */
  breathe(): Promise<void>;
  /** Real milliseconds, for progress and nothing else. */
  elapsedMs(): number;
}

interface SealedRun {
  breach: RuntimeError | undefined;
}

/** Captured before anything is sealed. */
const { setImmediate: nextTurn, performance: stopwatch } = globalThis;
const readStopwatch = stopwatch.now.bind(stopwatch);

/** Runs that have the process now. */
const running = new Set<SealedRun>();
/** Runs that have begun and not ended, breathing ones too. */
let runs = 0;
let doors: Doors | undefined;

/** Runs it with the seal on. @throws {RuntimeError} SEALED, also when it was caught inside */
export async function sealed<T>(run: (outside: Outside) => Promise<T>): Promise<T> {
  const own: SealedRun = { breach: undefined };
  doors ??= closeDoors(refuse);
  runs += 1;
  running.add(own);
  const startedAt = readStopwatch();
  const outside: Outside = {
    drained,
    breathe: async () => {
      await drained();
      running.delete(own);
      await new Promise<void>((resolve) => nextTurn(resolve));
      running.add(own);
    },
    elapsedMs: () => readStopwatch() - startedAt,
  };
  try {
    const result = await run(outside);
    if (own.breach !== undefined) throw own.breach;
    return result;
  } finally {
    running.delete(own);
    runs -= 1;
    if (runs === 0) {
      doors.open();
      doors = undefined;
    }
  }
}

/**
 * Resolves when every promise that can settle by itself has done so, without a turn of the event loop:
 * a tick that is asked for by a promise comes when no promise has anything left to do.
 */
export async function drained(): Promise<void> {
  await undefined;
  await new Promise<void>((resolve) => nextTick(resolve));
}

/** Called by every function that is sealed, before it does anything. */
function refuse(what: string, instead: string): void {
  if (running.size === 0) return;
  const breach = new RuntimeError(
    'SEALED',
    `${what} is sealed in a simulated run: the run could not be repeated. ${instead}`,
  );
  for (const run of running) run.breach ??= breach;
  throw breach;
}
