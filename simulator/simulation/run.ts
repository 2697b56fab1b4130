/**
 * One run of a simulation: a plan played on a pretend world, watched by the engine's invariants and
 * the user's.
 *
 * Guarantees: the same plan gives the same history. A run ends with the first invariant that is
 * broken. Where the faults end every place keeps a node at least that is whole and left alone.
 */

import type { KindMap, Runtime } from '../../runtime/runtime.ts';
import {
  allNodes,
  type ClusterShape,
  coreOf,
  epsilonOf,
  heal,
  MENU,
  type Scene,
  Strikes,
} from '../faults.ts';
import type { HistoryRecord } from '../history.ts';
import { engineInvariants, Judge, type Judgement } from '../invariants.ts';
import { commitDelayOf, type Outside, SeededRandom, sealed, World } from '../world.ts';
import { addNodes, bringUp, CLIENT, type ClusterOptions } from './cluster.ts';
import { judged, type OwnFacts, type OwnInvariant, StoredActors } from './own-invariant.ts';
import type { SimulationPlan } from './plan.ts';
import { carryOut, stepsOf, stepsThrowNothing, type WorkloadOf } from './workload.ts';

/** What all runs of a simulation have in common. */
export interface Simulated extends ClusterOptions {
  readonly shape: ClusterShape;
  readonly workload: WorkloadOf<KindMap>;
  readonly invariants: readonly OwnInvariant[];
}

export interface SimulationRun {
  readonly plan: SimulationPlan;
  readonly records: readonly HistoryRecord[];
  readonly judgement: Judgement;
  readonly places: OwnFacts['places'];
  readonly endedAtMs: number;
  /** Moment of the clock at which its time begins. */
  readonly zero: number;
  readonly traceHash: string;
}

/** How long the first elections and the first connections take at most. */
const COMING_UP_MS = 60_000;

/** @throws {RuntimeError} SEALED when something in the run reaches for real time, chance or I/O. */
export function playSimulation(simulated: Simulated, plan: SimulationPlan): Promise<SimulationRun> {
  return sealed((outside) => playSealed(simulated, plan, outside));
}

/** True times of deadlines that actors of the cluster have in a run: all of them, moved ones included. */
export async function deadlinesOf(
  simulated: Simulated,
  plan: SimulationPlan,
): Promise<readonly number[]> {
  const moments = new Set<number>();
  await sealed((outside) =>
    playSealed(simulated, plan, outside, (world) =>
      world.history.read((record) => {
        if (record.type !== 'timers') return;
        const now = world.now();
        const { ownNow } = world.node(record.node);
        for (const { dueAt } of record.timers) moments.add(Math.round(now + dueAt - ownNow));
      }),
    ),
  );
  return [...moments].sort((one, other) => one - other);
}

async function playSealed(
  simulated: Simulated,
  plan: SimulationPlan,
  outside: Outside,
  watch: (world: World) => void = () => {},
): Promise<SimulationRun> {
  const { shape, workload, invariants } = simulated;
  const { seed, delayMs, untilMs, healAtMs } = plan;
  const world = new World({
    seed,
    delayMs,
    warmUpMs: COMING_UP_MS,
    drawsTies: true,
    outside,
    // A store that a program may have splits no group, or may split each.
    disks: { wholeGroups: new SeededRandom(seed, 'disks').next() < 0.5 },
    ...commitDelayOf(plan),
  });
  addNodes(world, simulated, shape);
  const scene: Scene = { world, shape };
  const facts = factsOf(plan, shape, world);
  const judge = new Judge<OwnFacts>(
    [...engineInvariants, stepsThrowNothing, ...invariants.map(judged)],
    facts,
  );
  world.history.read((record) => {
    facts.stored.see(record);
    judge.see(record);
  });
  watch(world);
  const strikes = new Strikes(scene, plan, MENU);
  await bringUp(world, shape);
  await world.runUntil(0);
  strikes.schedule();
  if (healAtMs !== null) world.at(healAtMs, () => heal(scene, facts.core, strikes));
  const client = () => world.node(CLIENT).program.runtime as unknown as Runtime<never>;
  const [home = ''] = Object.keys(shape.places);
  // A step that is left out has its moment all the same: so it moves nothing else that is due by chance.
  for (const step of stepsOf(workload, seed, home, client))
    world.at(step.atMs, () => (plan.steps.includes(step.id) ? carryOut(step, world) : undefined));
  await world.runUntil(untilMs, () => judge.hasViolations);
  strikes.tally();
  const endedAtMs = world.now();
  const judgement = judge.end(endedAtMs);
  const { records, traceHash } = world.history;
  const { zero } = world;
  return { plan, records, judgement, places: facts.places, endedAtMs, zero, traceHash };
}

function factsOf(plan: SimulationPlan, shape: ClusterShape, world: World): OwnFacts {
  const { nemeses, delayMs, healAtMs } = plan;
  return {
    places: Object.fromEntries(world.nodes().map(({ node, place }) => [node, place])),
    epsilonMs: epsilonOf(nemeses, MENU),
    deltaMs: delayMs[1],
    healedAtMs: healAtMs,
    core: [
      ...coreOf(plan, allNodes(shape), (chance) =>
        Object.values(shape.places).map(({ hosts }) => chance.pick(hosts)),
      ),
      CLIENT,
    ],
    isFaultFree: nemeses.length === 0,
    stored: new StoredActors(),
  };
}
