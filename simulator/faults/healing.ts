/**
 * The end of all faults: from the moment of healing on a core of the cluster is whole and left alone.
 *
 * Guarantees: who is in the core is known from the plan alone, before it runs. The rest is in nobody's
 * way and of no use: down, standing still, or disconnected from everybody.
 */

import { Chance, SeededRandom, type WorldNode } from '../world.ts';
import { allPlaces } from './cluster-shape.ts';
import type { Nemesis, PlannedFaults } from './nemesis.ts';
import { kindOfNemesis, type NemesisKind } from './nemesis-kind.ts';
import { type Scene, start } from './strike.ts';
import type { Strikes } from './strikes.ts';

/** Share of the nodes in the core that need not be in it. */
const MORE = 0.5;
/** A node that stands still for good. */
const FOR_GOOD_MS = 365 * 86_400_000;

/**
 * The nodes that are up and connected from the moment of healing on; all of them when there is none.
 * `needed`: those without which it would be no cluster.
 */
export function coreOf(
  { seed, healAtMs }: Pick<PlannedFaults, 'healAtMs'> & { readonly seed: number },
  all: readonly string[],
  needed: (chance: Chance) => readonly string[],
): readonly string[] {
  if (healAtMs === null) return all;
  const chance = new Chance(new SeededRandom(seed, 'core'));
  const sure = needed(chance);
  return all.filter((node) => chance.is(MORE) || sure.includes(node));
}

/** How far faults can put the wall clock of a node off true time at most, drift included. */
export function epsilonOf<TScene extends Scene>(
  nemeses: readonly Nemesis[],
  menu: readonly NemesisKind<TScene>[],
): number {
  // A step replaces the one before it, but what a clock has drifted stays: together is never too little.
  return nemeses.reduce(
    (sum, nemesis) => sum + (kindOfNemesis(menu, nemesis.kind).epsilonMs?.(nemesis) ?? 0),
    0,
  );
}

/** Ends all faults, and starts what is down of the core. */
export function heal<TScene extends Scene>(
  scene: TScene,
  core: readonly string[],
  strikes: Strikes<TScene>,
): void {
  const { world } = scene;
  const isCore = (name: string): boolean => core.includes(name);
  strikes.end(isCore);
  world.network.heal();
  for (const place of allPlaces(scene.shape)) world.healDisk(place);
  const rest = world.nodes().filter(({ node }) => !isCore(node));
  for (const node of world.nodes()) {
    if (!isCore(node.node)) continue;
    if (node.driftPpm !== 0) node.drift(0);
    node.reachLeaseStore(true);
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
  network: Scene['world']['network'],
): void {
  const how = chance.pick(['crash', 'pause', 'cut', 'silent'] as const);
  if (!node.isUp) return;
  if (how === 'crash') node.crash();
  else if (how === 'pause') node.pause(FOR_GOOD_MS);
  else {
    node.reachLeaseStore(false);
    network.part([[[node.node], core]], how);
  }
}
