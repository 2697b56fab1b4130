/**
 * A plan of a simulation: all that makes one run of it what it is, beside the machines and the workload.
 *
 * Guarantees: plain data, so that it can be kept; the same plan with the same options gives the same
 * run, to the last frame. Chance makes one of each seed, and shrinking leaves less of it.
 */

import {
  type ClusterShape,
  drawNemeses,
  Edges,
  MENU,
  type Nemesis,
  type NemesisKind,
} from '../faults.ts';
import { Chance, commitMsOf, SeededRandom } from '../world.ts';
import type { WorkloadStep } from './workload.ts';

export interface SimulationPlan {
  readonly seed: number;
  /** The run ends then. */
  readonly untilMs: number;
  /** From then on nothing goes wrong any more; null when nothing does at all. */
  readonly healAtMs: number | null;
  /** How long a frame takes while the network is well. */
  readonly delayMs: readonly [minMs: number, maxMs: number];
  /** The steps of the workload that are done; the others are left out. */
  readonly steps: readonly string[];
  readonly nemeses: readonly Nemesis[];
  /** How long disks take for a group. Default: no time, or 1 to 3 ms where there are faults. */
  readonly commitMs?: readonly [minMs: number, maxMs: number];
}

export interface DrawOptions {
  readonly untilMs: number;
  readonly shape: ClusterShape;
  readonly steps: readonly WorkloadStep[];
  /** Kinds of faults that may be drawn. */
  readonly nemeses: readonly string[];
  /** When actors have deadlines in the run of this seed, as long as nothing goes wrong. */
  readonly deadlines: readonly number[];
}

const DELAYS_MS: readonly SimulationPlan['delayMs'][] = [
  [1, 20],
  [0, 5],
  [5, 200],
  [1, 1_000],
];
/** What the last step has begun takes so long at least. */
const AFTERMATH_MS = 1_000;
/** The faults go on for this many times the length of the steps at most: later there is little left to disturb. */
const PHASE_FACTOR = 3;

/** How often the faults of a run go on until a deadline of an actor is over, where there are any. */
const REACHING_PROBABILITY = 0.7;
/** How long after it at most. */
const REACH_MAX_MS = 120_000;
/** How often such a run has a fault that waits for deadlines. */
const AIMED_PROBABILITY = 0.7;

export function drawSimulation(seed: number, options: DrawOptions): SimulationPlan {
  const { untilMs, shape, steps } = options;
  const chanceOf = (concern: string) => new Chance(new SeededRandom(seed, `simulate/${concern}`));
  const longestMs = Math.floor(untilMs / 2);
  const deadlines = options.deadlines.filter((atMs) => atMs + AFTERMATH_MS <= longestMs);
  const lastMs = Math.max(0, ...steps.map(({ atMs }) => atMs)) + AFTERMATH_MS;
  const drawnMs = Math.round(chanceOf('phase').scaled(lastMs, PHASE_FACTOR * lastMs));
  const reachedMs = reach(chanceOf('reach'), deadlines);
  const healAtMs = Math.min(Math.max(drawnMs, reachedMs), longestMs);
  const edges = new Edges([shape.lease.leaseMs]);
  for (const { atMs } of steps) edges.add(atMs);
  for (const atMs of deadlines) edges.addDeadline(atMs);
  const allowed = MENU.filter(({ kind }) => options.nemeses.includes(kind));
  const drawn = drawNemeses(chanceOf('nemeses'), shape, allowed, healAtMs, edges);
  const aimed = allowed.filter(({ awaitsDeadlines }) => awaitsDeadlines === true);
  const nemeses = [
    ...drawn,
    ...(drawn.length > 0 && reachedMs > 0
      ? drawAimed(chanceOf('aimed'), aimed, shape, `n${drawn.length + 1}`, healAtMs)
      : []),
  ];
  return {
    seed,
    untilMs,
    healAtMs: nemeses.length === 0 ? null : healAtMs,
    delayMs: delayOf(seed),
    steps: steps.map(({ id }) => id),
    nemeses,
  };
}

/** The plan of a seed without its faults, on disks as they are with them: what it does by itself. */
export function drawQuiet(
  seed: number,
  untilMs: number,
  steps: readonly WorkloadStep[],
): SimulationPlan {
  return {
    seed,
    untilMs,
    healAtMs: null,
    delayMs: delayOf(seed),
    steps: steps.map(({ id }) => id),
    nemeses: [],
    commitMs: commitMsOf({ nemeses: ['any'] }),
  };
}

const delayOf = (seed: number): SimulationPlan['delayMs'] =>
  new Chance(new SeededRandom(seed, 'simulate/delay')).pick(DELAYS_MS);

/** A moment at which one of the deadlines and what it leads to is over; 0 for none. */
function reach(chance: Chance, deadlines: readonly number[]): number {
  if (deadlines.length === 0 || !chance.is(REACHING_PROBABILITY)) return 0;
  return chance.pick(deadlines) + Math.round(chance.scaled(AFTERMATH_MS, REACH_MAX_MS));
}

/** A fault that waits for deadlines from the beginning on. */
function drawAimed(
  chance: Chance,
  kinds: readonly NemesisKind[],
  shape: ClusterShape,
  id: string,
  durMs: number,
): readonly Nemesis[] {
  if (kinds.length === 0 || !chance.is(AIMED_PROBABILITY)) return [];
  const { kind, draw } = chance.pick(kinds);
  return [{ id, kind, atMs: 0, durMs, ...draw(chance, shape) }];
}
