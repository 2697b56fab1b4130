/**
 * Plans made by chance: for each seed a cluster, a workload and what goes wrong.
 *
 * Guarantees: the same seed and options give the same plan. Each concern has a stream of chance of
 * its own, so a new kind of fault moves no cluster and no workload. One run in twenty has no
 * faults and must be clean, one in twenty has exactly one.
 */

import { resolveConfiguration } from '../../../programs/jobs/configuration.ts';
import { drawNemeses, Edges, kindOfNemesis, type Nemesis } from '../../faults.ts';
import type { Bounds } from '../../simulation.ts';
import { Chance, SeededRandom } from '../../world.ts';
import { JOBS_MENU } from '../faults/menu.ts';
import { type NetworkPlan, PLAN_VERSION, type Plan, type Topology } from '../plan.ts';
import { shapeOf } from '../shape.ts';
import { drawAimed } from './aimed.ts';
import { drawBook } from './book.ts';
import { drawFlood } from './flood.ts';
import { drawKnobs } from './knobs.ts';
import { withSecondReports } from './second-reports.ts';
import { drawTiny, drawTinyOptions } from './tiny.ts';
import { drawWorkload } from './workload.ts';

export interface SwarmOptions {
  /** Simulated end. Default: when all jobs are final. */
  readonly untilMs?: number;
  /** Default: drawn. */
  readonly topology?: Topology;
  /** Default: drawn. */
  readonly jobs?: number;
  /** Kinds of the menu that may be drawn; none for runs without faults. Default: all. */
  readonly nemeses?: readonly string[];
  /** Whether limits of the product are tiny. Default: in one run of four. */
  readonly tiny?: boolean;
}

const TINY_PROBABILITY = 0.25;
const ENABLED_PROBABILITY = 0.5;
const FAULT_PHASE_MS: readonly [min: number, max: number] = [60_000, 1_200_000];
const QUIET: NetworkPlan = { delayMs: [1, 20], loss: 0, duplicate: 0, reorder: 0 };

export function drawPlan(seed: number, options: SwarmOptions = {}): Plan {
  const chanceOf = (concern: string) => new Chance(new SeededRandom(seed, `swarm/${concern}`));
  const topology = options.topology ?? drawTopology(chanceOf('topology'));
  const bounds = drawBounds(chanceOf('bounds'), options);
  const config = {
    ...drawKnobs(chanceOf('knobs')),
    ...(bounds !== undefined && drawTinyOptions(chanceOf('tinyOptions'))),
  };
  const resolved = resolveConfiguration(config);
  const phase = chanceOf('phase');
  const drawnMs = Math.round(phase.scaled(...FAULT_PHASE_MS));
  const healAtMs = Math.min(drawnMs, Math.floor((options.untilMs ?? drawnMs) / 2));
  const shape = shapeOf(topology, resolved);
  const edges = new Edges([resolved.leaseMs, resolved.checkIntervalMs]);
  const workload = drawWorkload(chanceOf('workload'), {
    topology,
    config: resolved,
    jobs:
      options.jobs ??
      chanceOf('jobs').weighted([
        [1, 4],
        [2, 3],
        [3, 2],
        [5, 1],
        [8, 1],
      ]),
    untilMs: healAtMs,
    edges,
  });
  const steps = withSecondReports(chanceOf('secondReports'), workload);
  const allowed = JOBS_MENU.filter(({ kind }) => options.nemeses?.includes(kind) ?? true);
  const flood = drawFlood(chanceOf('flood'), { topology, untilMs: healAtMs });
  const drawn = drawNemeses(
    chanceOf('nemeses'),
    shape,
    allowed.filter(
      ({ isDrawnApart, awaitsDeadlines }) =>
        awaitsDeadlines !== true && (isDrawnApart !== true || options.nemeses !== undefined),
    ),
    healAtMs,
    edges,
  );
  const aimed = drawAimed(chanceOf('aimed'), `n${drawn.length + 1}`, shape, allowed, healAtMs);
  const faults = drawn.length > 0 && aimed !== undefined ? [...drawn, aimed] : drawn;
  const nemeses = flood?.isFaultFree === true ? [] : faults;
  const book = nemeses.length === 0 ? undefined : drawBook(chanceOf('book'), healAtMs);
  return {
    version: PLAN_VERSION,
    name: `seed ${seed}`,
    system: 'jobs',
    seed,
    untilMs: options.untilMs ?? null,
    network: nemeses.length === 0 ? QUIET : drawNetwork(chanceOf('network')),
    topology,
    config: { ...config, ...flood?.config },
    ...(bounds !== undefined && { bounds }),
    steps: [...steps, ...(flood?.steps ?? [])].sort((one, other) => one.atMs - other.atMs),
    ...(book !== undefined && { book }),
    nemeses,
    healAtMs: nemeses.length === 0 ? null : healedAfter(nemeses, healAtMs, options.untilMs),
    isDrawn: true,
  };
}

function drawBounds(chance: Chance, { tiny }: SwarmOptions): Bounds | undefined {
  const isDrawn = chance.is(TINY_PROBABILITY);
  return (tiny ?? isDrawn) ? drawTiny(chance) : undefined;
}

/** Not before a fault that wants to go on is over, unless the run is. */
function healedAfter(nemeses: readonly Nemesis[], healAtMs: number, untilMs = Infinity): number {
  const ends = nemeses
    .filter(({ kind }) => kindOfNemesis(JOBS_MENU, kind).isPatient === true)
    .map(({ atMs, durMs }) => Math.min(atMs + durMs, Math.floor(untilMs / 2)));
  return Math.max(healAtMs, ...ends);
}

/** Most real failures need no more than three nodes. */
function drawTopology(chance: Chance): Topology {
  const isSmall = chance.is(0.8);
  const datacenters = isSmall ? chance.whole(1, 3) : chance.whole(4, 8);
  const gates = datacenters > 1 || chance.is(0.6) ? 1 : 0;
  const named = Array.from({ length: datacenters }, (_, index) => {
    const managers = isSmall ? chance.whole(1, 3) : chance.whole(1, 2);
    const workers = chance.weighted([
      [1, 5],
      [2, 4],
      [3, 1],
      [0, isSmall ? 0.3 : 0],
    ]);
    const cores = chance.weighted([
      [4, 5],
      [1, 2],
      [16, 1],
    ]);
    return [String.fromCharCode(65 + index), { managers, workers, cores }] as const;
  });
  return { gates, datacenters: Object.fromEntries(named) };
}

function drawNetwork(chance: Chance): NetworkPlan {
  const minMs = chance.pick([0, 1, 1, 5, 50]);
  const maxMs = Math.max(minMs, Math.round(chance.scaled(1, 500)));
  const rate = (): number => {
    const drawn = chance.scaled(0.0005, 0.1);
    return chance.is(ENABLED_PROBABILITY) ? drawn : 0;
  };
  return { delayMs: [minMs, maxMs], loss: rate(), duplicate: rate(), reorder: rate() };
}
