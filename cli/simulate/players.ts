/**
 * Players of a batch: its seeds shared among processes, one for each core.
 *
 * Guarantees: every seed is played once, whichever process is free takes the next ones, and what
 * the batch comes to does not depend on which of them played what. Stopping early leaves the rest
 * of the seeds unplayed.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { env as environment } from 'node:process';
import { jobsCoverage, type SwarmOptions } from '../../simulator/jobs.ts';
import type { Coverage, RunFigures } from '../../simulator/simulation.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { ownFile } from '../own-file.ts';
import type { FromPlayer, ToPlayer } from './player.ts';

export interface PlayersOptions {
  readonly seeds: Iterable<number>;
  readonly players: number;
  readonly swarm: SwarmOptions;
  /** Variables of the players' environment that differ from ours. */
  readonly env?: Readonly<Record<string, string>>;
  /** With what all runs so far have seen of the machines. */
  readonly onPlayed: (figures: RunFigures, coverage: Coverage) => void;
  readonly onFailed: (seed: number, message: string) => void;
  /** True: no further seeds are handed out. */
  readonly isOver: () => boolean;
}

/** Seeds handed out at a time: few enough that all players end together. */
const AT_ONCE = 2;

/** Resolves with what the runs have seen of the machines. */
export async function playSeeds(options: PlayersOptions): Promise<Coverage> {
  const coverage = jobsCoverage();
  const left = options.seeds[Symbol.iterator]();
  const next = (): readonly number[] => {
    const seeds: number[] = [];
    while (seeds.length < AT_ONCE && !options.isOver()) {
      const { done, value } = left.next();
      if (done === true) break;
      seeds.push(value);
    }
    return seeds;
  };
  const file = ownFile('cli/simulate/player');
  const players = Array.from({ length: options.players }, () =>
    fork(file, { env: { ...environment, ...options.env } }),
  );
  try {
    await Promise.all(players.map((player) => serve(player, options, next, coverage)));
  } finally {
    for (const player of players) player.kill();
  }
  return coverage;
}

function serve(
  player: ChildProcess,
  { swarm, onPlayed, onFailed }: PlayersOptions,
  next: () => readonly number[],
  coverage: Coverage,
): Promise<void> {
  const tell = (message: ToPlayer): boolean => player.send(message);
  return new Promise((resolve, reject) => {
    player.on('message', (message: FromPlayer) => {
      switch (message.type) {
        case 'idle':
          tell({ type: 'play', seeds: next() });
          return;
        case 'played':
          coverage.add(message.seen);
          return onPlayed(message.figures, coverage);
        case 'failed':
          return onFailed(message.seed, message.message);
      }
    });
    player.on('error', reject);
    player.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else
        reject(
          new CommandFailure(EXIT.internal, `A player ended with ${signal ?? `code ${code}`}.`),
        );
    });
    tell({ type: 'begin', swarm });
  });
}
