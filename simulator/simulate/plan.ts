/**
 * A plan of a simulation: all that makes one run of it what it is, beside the machines and the workload.
 *
 * Guarantees: plain data, so that it can be kept; the same plan with the same options gives the same
 * run, to the last frame. Chance makes one of each seed, and shrinking leaves less of it.
 */

import { resolveConfiguration } from '../../programs/jobs/configuration.ts';
import { MENU } from '../nemeses/menu.ts';
import type { OwnShape } from '../nemeses/nemesis-kind.ts';
import type { Nemesis } from '../plan.ts';
import { SeededRandom } from '../random.ts';
import { Chance } from '../swarm/chance.ts';
import { drawNemeses } from '../swarm/draw-plan.ts';
import { Edges } from '../swarm/edges.ts';
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
  readonly shape: OwnShape;
  readonly steps: readonly WorkloadStep[];
  /** Kinds of faults that may be drawn. */
  readonly nemeses: readonly string[];
}

const DELAYS_MS: readonly SimulationPlan['delayMs'][] = [
  [1, 20],
  [0, 5],
  [5, 200],
  [1, 1_000],
];
/** What the last step has begun takes so long at least. */
const AFTERMATH_MS = 1_000;
/** The faults go on for so many times as long as the steps at most: later there is little left to disturb. */
const PHASE_FACTOR = 3;

export function drawSimulation(seed: number, options: DrawOptions): SimulationPlan {
  const { untilMs, shape, steps } = options;
  const chanceOf = (concern: string) => new Chance(new SeededRandom(seed, `simulate/${concern}`));
  const lastMs = Math.max(0, ...steps.map(({ atMs }) => atMs)) + AFTERMATH_MS;
  const longestMs = Math.floor(untilMs / 2);
  const drawnMs = Math.round(chanceOf('phase').scaled(lastMs, PHASE_FACTOR * lastMs));
  const healAtMs = Math.min(drawnMs, longestMs);
  const edges = new Edges(resolveConfiguration({}));
  for (const { atMs } of steps) edges.add(atMs);
  const allowed = MENU.filter(({ kind }) => options.nemeses.includes(kind));
  const nemeses = drawNemeses(chanceOf('nemeses'), shape, allowed, healAtMs, edges);
  return {
    seed,
    untilMs,
    healAtMs: nemeses.length === 0 ? null : healAtMs,
    delayMs: chanceOf('delay').pick(DELAYS_MS),
    steps: steps.map(({ id }) => id),
    nemeses,
  };
}
