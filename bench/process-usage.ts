/**
 * CPU time and memory of other processes, as Linux counts them in `/proc`; null elsewhere.
 *
 * CPU time is in ticks of 10 ms: too coarse for a moment, enough for a phase.
 */

import { readFileSync } from 'node:fs';

export interface Usage {
  readonly cpuSeconds: number;
  readonly residentMiB: number;
}

/** Linux tells user programs a hundred of them a second, whatever the kernel's own are. */
const TICKS_PER_SECOND = 100;
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

export function usageOf(pid: number | undefined): Usage | null {
  try {
    // The name of the program is in brackets and may have spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    const ticks = Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS]);
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return { cpuSeconds: ticks / TICKS_PER_SECOND, residentMiB: Math.round(Number(kib) / 1_024) };
  } catch {
    return null;
  }
}
