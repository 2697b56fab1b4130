/**
 * The end of all faults: from the moment of healing on a core of the cluster is whole and left alone.
 *
 * Guarantees: who is in the core is known from the plan alone, before it runs; it is enough to bring
 * every job to its end: every gate, and of each datacenter a manager and a worker at least. The
 * rest is in nobody's way and of no use: down, standing still, or disconnected from everybody.
 */

import { BOOK_NODES } from '../jobs/book.ts';
import {
  nodesOf as allNodesOf,
  datacenterOf,
  gatesOf,
  managersOf,
  workersOf,
} from '../jobs/names.ts';
import type { Plan } from '../jobs/plan.ts';
import { pinsOf } from '../jobs/submission.ts';
import { Chance } from '../world/chance.ts';
import type { WorldNode } from '../world/node.ts';
import { SeededRandom } from '../world/random.ts';
import { kindOfNemesis } from './menu.ts';
import { type AnyScene, start } from './strike.ts';
import type { Strikes } from './strikes.ts';
import { placesOf } from './targets.ts';

/** Share of the nodes in the core that need not be in it. */
const MORE = 0.5;
/** A node that stands still for good. */
const FOR_GOOD_MS = 365 * 86_400_000;

/** The nodes that are up and connected from the moment of healing on; all of them when there is none. */
export function coreOf(plan: Plan): readonly string[] {
  const { topology, seed, healAtMs } = plan;
  const all = allNodesOf(topology);
  if (healAtMs === null) return all;
  const chance = new Chance(new SeededRandom(seed, 'core'));
  const needed = new Set([...gatesOf(topology), ...wanted(plan)]);
  for (const datacenter of Object.keys(topology.datacenters)) {
    for (const peers of [managersOf(topology, datacenter), workersOf(topology, datacenter)])
      if (peers.length > 0) needed.add(chance.pick(peers));
  }
  const core = all.filter((node) => chance.is(MORE) || needed.has(node));
  return plan.book === undefined ? core : [...core, ...BOOK_NODES];
}

/** Workers that work is bound to, and managers that the plan makes leaders. */
function wanted(plan: Plan): readonly string[] {
  const pinned = [...pinsOf(plan).values()].flatMap((pin) => Object.values(pin));
  const firsts = pinned.map((worker) => `${datacenterOf(worker)}.worker-1`);
  const leaders = plan.steps.map((step) => (step.do === 'lead' ? step.manager : ''));
  return [...pinned, ...firsts, ...leaders];
}

/** How far the wall clock of a node can be off true time at most, drift included. */
export function epsilonOf({ steps, nemeses }: Pick<Plan, 'steps' | 'nemeses'>): number {
  const skews = steps.map((step) => (step.do === 'skew' ? Math.abs(step.byMs) : 0));
  const drawn = nemeses.map((nemesis) => kindOfNemesis(nemesis.kind).epsilonMs?.(nemesis) ?? 0);
  // A step replaces the one before it, but what a clock has drifted stays: together is never too little.
  return Math.max(0, ...skews) + drawn.reduce((sum, ms) => sum + ms, 0);
}

/** Ends all faults, and starts what is down of the core. */
export function heal(scene: AnyScene, core: readonly string[], strikes: Strikes): void {
  const { world } = scene;
  const isCore = (name: string): boolean => core.includes(name);
  strikes.end(isCore);
  world.network.heal();
  for (const place of placesOf(scene)) world.healDisk(place);
  const rest = world.nodes().filter(({ node }) => !isCore(node));
  for (const node of world.nodes()) {
    if (!isCore(node.node)) continue;
    if (node.driftPpm !== 0) node.drift(0);
    node.reachBoard(true);
    start(world, node);
  }
  if (rest.length === 0) return;
  const fault = world.fault('rest', 'rest', { rest: rest.map(({ node }) => node) });
  fault.hit();
  const chance = new Chance(world.random('rest'));
  for (const node of rest) abandon(node, core, chance, world.network);
}

/** Takes a node that is still up out of everybody's way, for good. */
function abandon(
  node: WorldNode,
  core: readonly string[],
  chance: Chance,
  network: AnyScene['world']['network'],
): void {
  const how = chance.pick(['crash', 'pause', 'cut', 'silent'] as const);
  if (!node.isUp) return;
  if (how === 'crash') node.crash();
  else if (how === 'pause') node.pause(FOR_GOOD_MS);
  else {
    node.reachBoard(false);
    network.part([[[node.node], core]], how);
  }
}
