/**
 * Process table: reads of /proc, to tell which processes live, in which group, and with which environment.
 *
 * A zombie has closed all it had and only waits to be counted, so it is no living process here. Off Linux
 * there is no /proc and the table is undefined; callers fall back on what signals tell.
 */

import { existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { platform } from 'node:os';

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Start time, in clock ticks since boot: tells a process from a later one with its pid. */
  readonly startTicks: string;
}

const HAS_PROCESS_TABLE = platform() === 'linux';

/** All living processes that this one may see; undefined off Linux. */
export function readProcessTable(): readonly ProcessRow[] | undefined {
  if (!HAS_PROCESS_TABLE) return undefined;
  return livingPids().flatMap((pid) => readRow(pid) ?? []);
}

/** Row of a living process; undefined for a zombie, for none, and off Linux. */
export function readRow(pid: number): ProcessRow | undefined {
  if (!HAS_PROCESS_TABLE) return undefined;
  const text = textOrNothing(`/proc/${pid}/stat`);
  // The second field is a name in brackets, with any characters; the third follows the last one.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  const [state, parent, group] = fields;
  const startTicks = fields[19];
  if (state === undefined || startTicks === undefined || state === 'Z' || state === 'X')
    return undefined;
  return { pid, parent: Number(parent), group: Number(group), startTicks };
}

/** Pids in /proc, zombies included. */
export function livingPids(): readonly number[] {
  if (!HAS_PROCESS_TABLE) return [];
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    return Number.isInteger(pid) ? [pid] : [];
  });
}

const LAST_PID = '/proc/sys/kernel/ns_last_pid';
const digits = Buffer.alloc(16);
/** The file of the last pid. It is asked for at each end of a command, and stays open. */
let lastPidFile: number | undefined;

/** Pid that was given last, where the kernel tells; the next ones are greater, until they begin again. */
export function lastPid(): number | undefined {
  if (!HAS_PROCESS_TABLE) return undefined;
  try {
    lastPidFile ??= openSync(LAST_PID, 'r');
    return Number(digits.toString('latin1', 0, readSync(lastPidFile, digits, 0, digits.length, 0)));
  } catch {
    return undefined;
  }
}

/** Variables that a process was started with, each ended by NUL; empty while it begins another program. */
export function readEnvironment(pid: number): string | undefined {
  const path = `/proc/${pid}/environ`;
  // Most are gone, and a failure costs more than a look.
  return existsSync(path) ? textOrNothing(path) : undefined;
}

/** Undefined when the process is gone, or belongs to another user. */
function textOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
