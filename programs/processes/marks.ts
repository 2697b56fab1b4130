/**
 * Marks of processes: which processes were started with a certain variable in their environment.
 *
 * The environment of a process is read once and remembered while the process is in the table. It is empty for
 * the moment in which a process begins another program: such a process is undecided, and read again.
 */

import type { Clock } from '../../runtime/ports/clock.ts';
import { lastPid, livingPids, type ProcessRow, readEnvironment, readRow } from './process-table.ts';

/** A variable of the environment, which processes hand on to those they start. */
export interface Mark {
  readonly name: string;
  readonly value: string;
}

export interface Marked {
  readonly rows: readonly ProcessRow[];
  /** True when a process could not be judged yet. */
  readonly isUndecided: boolean;
}

interface Seen {
  readonly startTicks: string | undefined;
  readonly environment: string;
  readonly looks: number;
}

/** Pids are counted up and begin again at 32,768 at the earliest: none comes back within this time. */
const PID_KEPT_MS = 1_000;
const PIDS_LOOKED_AT_MAX = 32;

export class Marks {
  readonly #clock: Clock;
  #seen = new Map<number, Seen>();
  #seenAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find({ name, value }: Mark): Marked {
    const variable = `\0${name}=${value}\0`;
    const rows: ProcessRow[] = [];
    let isUndecided = false;
    for (const [pid, { environment, looks }] of this.#look()) {
      if (environment === '' && looks === 1) isUndecided = true;
      if (!environment.includes(variable)) continue;
      const row = readRow(pid);
      if (row !== undefined) rows.push(row);
    }
    return { rows, isUndecided };
  }

  /**
   * True when no living process has this mark, of which the process `first` was the first one. Where few processes have
   * begun since then these are looked at, and not all there are.
   */
  isGone(mark: Mark, first: number): boolean {
    const last = lastPid() ?? Number.POSITIVE_INFINITY;
    if (last < first || last - first > PIDS_LOOKED_AT_MAX) {
      const { rows, isUndecided } = this.find(mark);
      return rows.length === 0 && !isUndecided;
    }
    const variable = `\0${mark.name}=${mark.value}\0`;
    for (let pid = first; pid <= last; pid++) {
      const text = readEnvironment(pid);
      if (text === '' || `\0${text ?? ''}`.includes(variable)) return false;
    }
    return true;
  }

  #look(): ReadonlyMap<number, Seen> {
    const now = this.#clock.now();
    const areKept = now - this.#seenAt < PID_KEPT_MS;
    const seen = new Map<number, Seen>();
    for (const pid of livingPids()) {
      const before = this.#seen.get(pid);
      const isDecided = before !== undefined && (before.environment !== '' || before.looks > 1);
      if (isDecided && (areKept || readRow(pid)?.startTicks === before.startTicks))
        seen.set(pid, before);
      else seen.set(pid, read(pid, before));
    }
    this.#seen = seen;
    this.#seenAt = now;
    return seen;
  }
}

function read(pid: number, before: Seen | undefined): Seen {
  const startTicks = readRow(pid)?.startTicks;
  const looks = before?.startTicks === startTicks ? (before?.looks ?? 0) + 1 : 1;
  const text = readEnvironment(pid);
  // Another user's process, and one that is gone, have no mark of ours.
  if (text === undefined) return { startTicks, environment: '', looks: 2 };
  return { startTicks, environment: text === '' ? '' : marksOf(text), looks };
}

/** Only variables of our own are kept: the rest of an environment is nobody's business. */
function marksOf(text: string): string {
  const own = text.split('\0').filter((variable) => variable.startsWith('ESCAPEMENT_'));
  return `\0${own.map((variable) => `${variable}\0`).join('')}`;
}
