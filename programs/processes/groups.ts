/**
 * Process groups: signals to whole groups, word of when one is empty, and the end of all that carries a mark.
 *
 * Zombies are not counted. One look at the process table serves all groups that are waited for, and looks are
 * as rare as they are expensive. Off Linux a group is empty when no signal reaches it, and nothing is found
 * by a mark.
 */

// The only way to reach a process group; nothing else of the process is touched.
import { kill } from 'node:process';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';
import { type Mark, type Marked, Marks } from './marks.ts';
import { type ProcessRow, readProcessTable, readRow } from './process-table.ts';

export type SignalName =
  | 'SIGTERM'
  | 'SIGINT'
  | 'SIGHUP'
  | 'SIGQUIT'
  | 'SIGUSR1'
  | 'SIGUSR2'
  | 'SIGKILL';

/** One signal, and how long to wait for the group to be empty before the next. */
export interface TerminationStep {
  readonly signal: SignalName;
  readonly waitMs: number;
}

export type Termination = 'graceful' | 'forced';

const LOOK_EVERY_MS = 20;
/** A look that takes 20 ms is followed by a pause of 200: looks take a tenth of the time at most. */
const PAUSE_FACTOR = 10;
const KILL_LIMIT_MS = 30_000;

export class ProcessGroups {
  readonly #clock: Clock;
  readonly #lookEveryMs: number;
  readonly #marks: Marks;
  /** Those who wait, by group. */
  readonly #waiting = new Map<number, Set<() => void>>();
  #cancelLook: Cancel | undefined;

  /** `lookEveryMs`: shortest pause between two looks at groups that are waited for. Default 20. */
  constructor(clock: Clock, lookEveryMs = LOOK_EVERY_MS) {
    this.#clock = clock;
    this.#lookEveryMs = lookEveryMs;
    this.#marks = new Marks(clock);
  }

  /** Signals every process of the group; false when there is none, not even a zombie. */
  signal(group: number, signal: SignalName): boolean {
    return sent(-group, signal);
  }

  isEmpty(group: number): boolean {
    if (!sent(-group, 0)) return true;
    const table = readProcessTable();
    return table !== undefined && !table.some((row) => row.group === group);
  }

  /** Calls `then` once the group is empty, not before this call returns. */
  whenEmpty(group: number, then: () => void): Cancel {
    const waiting = this.#waiting.get(group) ?? new Set();
    this.#waiting.set(group, waiting.add(then));
    this.#lookLater(0);
    return () => {
      waiting.delete(then);
      if (waiting.size > 0 || this.#waiting.get(group) !== waiting) return;
      this.#waiting.delete(group);
      this.#rest();
    };
  }

  /**
   * Ends a group: each signal in turn until the group is empty, then SIGKILL. Resolves when it is empty.
   * `graceful` means that no SIGKILL was needed.
   */
  async terminate(group: number, steps: readonly TerminationStep[]): Promise<Termination> {
    for (const { signal, waitMs } of steps) {
      this.signal(group, signal);
      if (await this.#isEmptyWithin(group, waitMs)) return 'graceful';
    }
    this.signal(group, 'SIGKILL');
    await new Promise<void>((resolve) => this.whenEmpty(group, resolve));
    return 'forced';
  }

  /**
   * Kills what was started with this mark (a variable whose name begins with ESCAPEMENT_) and lives, and what
   * that starts meanwhile. Resolves with the pids that were killed. @throws {Error} when some are left after
   * the limit
   */
  async killMarked(mark: Mark, limitMs = KILL_LIMIT_MS): Promise<readonly number[]> {
    const killed = new Set<number>();
    const until = this.#clock.now() + limitMs;
    for (;;) {
      const { rows: found, isUndecided } = this.#marks.find(mark);
      if (found.length === 0 && !isUndecided) return [...killed];
      if (this.#clock.now() > until)
        throw new Error(`processes ${found.map(({ pid }) => pid).join(', ')} cannot be killed`);
      for (const row of found) if (killVerified(row)) killed.add(row.pid);
      await this.#pause(this.#lookEveryMs);
    }
  }

  /** Living processes with this mark; none off Linux. */
  findMarked(mark: Mark): Marked {
    return this.#marks.find(mark);
  }

  /** True when none of those that were started from `first` on has this mark, as far as it can be told now. */
  isMarkGone(mark: Mark, first: number): boolean {
    return this.#marks.isGone(mark, first);
  }

  #isEmptyWithin(group: number, waitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const cancelWait = this.whenEmpty(group, () => {
        cancelLimit();
        resolve(true);
      });
      const cancelLimit = this.#clock.schedule(this.#clock.now() + waitMs, () => {
        cancelWait();
        resolve(false);
      });
    });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.schedule(this.#clock.now() + ms, resolve));
  }

  #lookLater(inMs: number): void {
    this.#cancelLook ??= this.#clock.schedule(this.#clock.now() + inMs, () => this.#look());
  }

  #look(): void {
    this.#cancelLook = undefined;
    const begin = this.#clock.now();
    const reached = [...this.#waiting.keys()].filter((group) => sent(-group, 0));
    // Only zombies may be left of those.
    const table = reached.length === 0 ? [] : readProcessTable();
    const alive = new Set(table === undefined ? reached : table.map(({ group }) => group));
    for (const [group, waiting] of [...this.#waiting]) {
      if (alive.has(group)) continue;
      this.#waiting.delete(group);
      for (const then of waiting) then();
    }
    const tookMs = this.#clock.now() - begin;
    if (this.#waiting.size > 0) this.#lookLater(Math.max(this.#lookEveryMs, tookMs * PAUSE_FACTOR));
  }

  #rest(): void {
    if (this.#waiting.size > 0) return;
    this.#cancelLook?.();
    this.#cancelLook = undefined;
  }
}

/** Kills a process with SIGKILL if it is still that one: looks at it right before. */
function killVerified({ pid, startTicks }: Pick<ProcessRow, 'pid' | 'startTicks'>): boolean {
  return pid > 1 && readRow(pid)?.startTicks === startTicks && sent(pid, 'SIGKILL');
}

function sent(target: number, signal: SignalName | 0): boolean {
  // 0, -1 and 1 mean this group, everybody and init.
  if (Math.abs(target) <= 1 || !Number.isSafeInteger(target)) return false;
  try {
    return kill(target, signal);
  } catch (thrown) {
    // Somebody is there who may not be signalled.
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}
