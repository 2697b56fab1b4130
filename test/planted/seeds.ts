/**
 * Seeds, or plans, played by a process of their own, on a copy of the sources.
 *
 * Guarantees: each of them is told of once, in order. One that takes longer than its limit is told of as
 * `undecided`, and the ones after it are played all the same.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { PlayedSeed } from './seed-player.ts';

/** A seed, or the file of a plan in the copy. */
export type Run = number | string;

export type Told = PlayedSeed | { readonly undecided: string };

export interface SeedsOptions {
  readonly folder: string;
  readonly runs: readonly Run[];
  /** Stops after this many that were not clean. */
  readonly hitsMax: number;
  readonly limitMs: number;
}

export async function playSeeds(options: SeedsOptions): Promise<readonly Told[]> {
  const told: Told[] = [];
  let left = options.runs;
  while (left.length > 0) {
    const hits = told.filter((one) => 'invariant' in one && one.invariant !== null).length;
    if (hits >= options.hitsMax) break;
    const player = await runPlayer({ ...options, runs: left, hitsMax: options.hitsMax - hits });
    told.push(...player.played);
    if (player.undecided === undefined || player.played.length === left.length) break;
    told.push({ undecided: player.undecided });
    left = left.slice(player.played.length + 1);
  }
  return told;
}

/** They end with this process, whatever ends it. */
const players = new Set<ChildProcess>();
process.on('exit', () => {
  for (const player of players) player.kill('SIGKILL');
});

interface Player {
  readonly played: readonly PlayedSeed[];
  /** Why it did not go on to the end. */
  readonly undecided: string | undefined;
}

function runPlayer({ folder, runs, hitsMax, limitMs }: SeedsOptions): Promise<Player> {
  const played: PlayedSeed[] = [];
  const args = ['--import', 'tsx', 'test/planted/seed-player.ts', hitsMax, ...runs];
  const child = spawn(process.execPath, args.map(String), {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  players.add(child);
  let complaint = '';
  child.stderr.on('data', (data: Buffer) => {
    complaint = `${complaint}${data}`.slice(-2_000);
  });
  let isLate = false;
  const begin = () =>
    setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, limitMs);
  let limit = begin();
  createInterface({ input: child.stdout }).on('line', (line) => {
    clearTimeout(limit);
    limit = begin();
    played.push(JSON.parse(line) as PlayedSeed);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(limit);
      players.delete(child);
      const ended = code === 0 ? undefined : `the player ended with ${code}: ${complaint}`;
      resolve({ played, undecided: isLate ? `not over after ${limitMs} ms` : ended });
    });
  });
}
