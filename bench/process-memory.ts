/**
 * Resident memory of this process, and how much of it is pages of files.
 *
 * The split of resident memory is Linux's, from `/proc/self/status`; elsewhere it is null.
 * Resident memory there is counted in batches by each thread, so it may be off by some hundred
 * KiB: too much for one actor, nothing for a hundred thousand.
 */

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { collectGarbage } from './rounds.ts';

export interface ProcessMemory {
  readonly residentBytes: number;
  /** Without pages of files. */
  readonly anonymousBytes: number | null;
  /** Pages of files: the program's own, and those of a mapped data file. */
  readonly filePagesBytes: number | null;
  readonly heapUsedBytes: number;
  readonly externalBytes: number;
}

const PAUSE_MS = 50;
/** Collections in a row after which resident memory did not fall any more. */
const STILL_COLLECTIONS = 5;
/** A smaller fall is not counted as one. */
const FALL_MIN = 0.001;
const COLLECTIONS_MAX = 60;

export function processMemory(): ProcessMemory {
  const { rss, heapUsed, external } = process.memoryUsage();
  const status = statusOf();
  return {
    residentBytes: status.VmRSS ?? rss,
    anonymousBytes: status.RssAnon ?? null,
    filePagesBytes: status.RssFile ?? null,
    heapUsedBytes: heapUsed,
    externalBytes: external,
  };
}

/** Collects until resident memory does not fall any more: V8 gives pages back some time after a collection. */
export async function collectedMemory(): Promise<ProcessMemory> {
  let lowest = Number.POSITIVE_INFINITY;
  let still = 0;
  for (let collections = 0; still < STILL_COLLECTIONS; collections += 1) {
    if (collections === COLLECTIONS_MAX) break;
    collectGarbage();
    await sleep(PAUSE_MS);
    const { residentBytes } = processMemory();
    still = residentBytes < lowest * (1 - FALL_MIN) ? 0 : still + 1;
    lowest = Math.min(lowest, residentBytes);
  }
  return processMemory();
}

/** Bytes this process has had read from disks so far; null where nobody counts them. */
export function diskReadBytes(): number | null {
  try {
    const [, bytes] = /^read_bytes: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8')) ?? [];
    return bytes === undefined ? null : Number(bytes);
  } catch {
    return null;
  }
}

function statusOf(): Partial<Record<'VmRSS' | 'RssAnon' | 'RssFile', number>> {
  try {
    const lines = readFileSync('/proc/self/status', 'utf8').matchAll(/^(\w+):\s+(\d+) kB$/gm);
    return Object.fromEntries(Array.from(lines, ([, name, kib]) => [name, Number(kib) * 1_024]));
  } catch {
    return {};
  }
}
