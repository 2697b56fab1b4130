/**
 * Results of many seeds: runs that broke an invariant, false alarms of runs without faults, and runs that
 * were not the same when they were played again elsewhere.
 *
 * These are counts and no speeds: they are taken once, on all cores, whatever the number of rounds.
 */

import { availableParallelism } from 'node:os';
import { playSeeds } from '../cli/simulate/players.ts';
import type { SwarmOptions } from '../simulator/jobs.ts';
import { Tally } from '../simulator/simulation.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const SEEDS = 10_000;
const FAULT_FREE_SEEDS = 2_000;
const RERUNS = 2_000;
const QUICK_SHARE = 0.01;

export const simulatorViolations: Field = {
  name: 'violations',
  about: `of ${SEEDS} seeds of the default swarm, how many broke an invariant`,
  better: 'lower',
  goal: 0,
  stretch: 0,
  measure: async (options) => count(await batch({ seeds: SEEDS, from: 1, swarm: {} }, options)),
};

export const simulatorFalseAlarms: Field = {
  name: 'falseAlarms',
  about: `of ${FAULT_FREE_SEEDS} seeds without faults, how many broke an invariant`,
  better: 'lower',
  goal: 0,
  stretch: 0,
  measure: async (options) =>
    count(await batch({ seeds: FAULT_FREE_SEEDS, from: 1, swarm: { nemeses: [] } }, options)),
};

export const simulatorMismatches: Field = {
  name: 'hashMismatches',
  about: `of ${RERUNS} seeds played again in another process, order and time zone, how many differed`,
  better: 'lower',
  goal: 0,
  stretch: 0,
  measure: mismatches,
};

interface BatchPlan {
  readonly seeds: number;
  readonly from: number;
  readonly swarm: SwarmOptions;
  readonly isReversed?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

interface Batch {
  readonly tally: Tally;
  readonly hashes: ReadonlyMap<number, string>;
  readonly unplayed: readonly string[];
  readonly tookMs: number;
}

async function batch(
  { seeds, from, swarm, isReversed = false, env }: BatchPlan,
  { isQuick, progress }: MeasureOptions,
): Promise<Batch> {
  const number = Math.max(1, Math.round(seeds * (isQuick ? QUICK_SHARE : 1)));
  const order = Array.from({ length: number }, (_, index) => from + index);
  if (isReversed) order.reverse();
  const tally = new Tally();
  const hashes = new Map<number, string>();
  const unplayed: string[] = [];
  const startedAt = performance.now();
  await playSeeds({
    seeds: order,
    players: availableParallelism(),
    swarm,
    ...(env !== undefined && { env }),
    onPlayed: (figures) => {
      tally.take(figures);
      hashes.set(figures.seed, figures.traceHash);
      if (hashes.size % 250 === 0) progress(`  ${hashes.size} of ${number}`);
    },
    onFailed: (seed, message) => unplayed.push(`${seed}: ${message}`),
    isOver: () => false,
  });
  return { tally, hashes, unplayed, tookMs: performance.now() - startedAt };
}

function count({ tally, unplayed, tookMs }: Batch): Measured {
  const { failures, exercised, ...figures } = tally.figures();
  const value = failures.length + unplayed.length;
  return {
    value,
    range: [value, value],
    rounds: 1,
    details: {
      ...figures,
      failures: failuresOf({ tally }),
      unplayed,
      neverExercised: Object.keys(exercised).filter((id) => exercised[id] === 0),
      tookSeconds: Math.round(tookMs / 1_000),
    },
    raw: {},
  };
}

function failuresOf({ tally }: Pick<Batch, 'tally'>): string[] {
  const { failures } = tally.figures();
  return failures.map(({ seed, violations }) => `${seed}: ${violations[0]?.invariant}`);
}

async function mismatches(options: MeasureOptions): Promise<Measured> {
  const plan = { seeds: RERUNS, from: 1, swarm: {} };
  const env = { TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' };
  const one = await batch({ ...plan, env: { TZ: 'UTC' } }, options);
  const other = await batch({ ...plan, isReversed: true, env }, options);
  const different = [...one.hashes].filter(([seed, hash]) => other.hashes.get(seed) !== hash);
  return {
    value: different.length,
    range: [different.length, different.length],
    rounds: 1,
    details: {
      reruns: one.hashes.size,
      different: different.map(([seed]) => seed).slice(0, 20),
      failures: failuresOf(one),
      unplayed: [...one.unplayed, ...other.unplayed],
    },
    raw: {},
  };
}
