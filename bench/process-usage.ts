/**
 * CPU time and memory of other processes, as Linux counts them in `/proc`; null elsewhere.
 *
 * CPU time is in ticks of 10 ms: too coarse for a moment, enough for a phase.
 */

import { readdirSync, readFileSync } from 'node:fs';

export interface Usage {
  readonly cpuSeconds: number;
  readonly residentMiB: number;
}

/** Linux tells user programs a hundred of them a second, whatever the kernel's own are. */
const TICKS_PER_SECOND = 100;
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;
const PARENT = 1;
const OWN_TICKS = [USER_TICKS, SYSTEM_TICKS];
/** With those of children that have ended. */
const ALL_TICKS = [...OWN_TICKS, 13, 14];

/** Usage of a process and its descendants, which PostgreSQL has per connection. Shared memory counts once. */
export function usageOfTree(pid: number | undefined): Usage | null {
  try {
    const all = [pid as number, ...descendantsOf(pid as number)];
    let ticks = 0;
    let kib = 0;
    for (const each of all) {
      ticks += ticksOf(each, each === pid ? ALL_TICKS : OWN_TICKS);
      const [, own] =
        /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${each}/smaps_rollup`, 'utf8')) ?? [];
      kib += Number(own);
    }
    return { cpuSeconds: ticks / TICKS_PER_SECOND, residentMiB: Math.round(kib / 1_024) };
  } catch {
    return null;
  }
}

function descendantsOf(pid: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => parentOf(each) === pid);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(fieldsOf(pid)[PARENT]);
  } catch {
    return undefined;
  }
}

const ticksOf = (pid: number, which: readonly number[]): number => {
  const fields = fieldsOf(pid);
  return which.reduce((sum, field) => sum + Number(fields[field]), 0);
};

/** The name of the program is in brackets and may have spaces. */
const fieldsOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];

export function usageOf(pid: number | undefined): Usage | null {
  try {
    const ticks = ticksOf(pid as number, OWN_TICKS);
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return { cpuSeconds: ticks / TICKS_PER_SECOND, residentMiB: Math.round(Number(kib) / 1_024) };
  } catch {
    return null;
  }
}
