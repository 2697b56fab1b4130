/**
 * Targets of nemeses: names drawn before a run, and nodes found in it.
 *
 * Clients are no part of it: they see what happens to the cluster and are never struck themselves.
 */

import type { Chance, WorldNode } from '../world.ts';
import { type ClusterShape, electedPlaces, withStandby } from './cluster-shape.ts';
import type { Strike } from './strike.ts';

/** A place with a node that can follow the leader, as far as there is one. */
export function placeWithStandby(chance: Chance, shape: ClusterShape): string {
  const fit = withStandby(shape);
  return chance.pick(fit.length > 0 ? fit : electedPlaces(shape));
}

/** A few of them, at least one, most often one or two. */
export function few(chance: Chance, names: readonly string[]): string[] {
  const drawn = chance.weighted([
    [1, 5],
    [2, 3],
    [3, 1],
    [names.length, 1],
  ]);
  const most = Math.min(names.length, drawn);
  return chance.shuffled(names).slice(0, most);
}

/** The leader of the place that is the first target, if one does. */
export function leaderOf({ nemesis, world }: Strike): WorldNode | undefined {
  return world.hostOf(nemesis.targets[0] ?? '');
}

/** All nodes that may be struck. */
export function membersOf({ scene: { shape, world } }: Strike): readonly string[] {
  return world
    .nodes()
    .map(({ node }) => node)
    .filter((node) => !shape.spared.includes(node));
}

/** The nodes that are meant by its targets; all of the cluster when there are none. */
export function nodesMeant(strike: Strike): readonly string[] {
  const { nemesis, scene } = strike;
  const { targets } = nemesis;
  const members = membersOf(strike);
  if (targets.length === 0) return members;
  return targets.flatMap((name) => {
    const place = name.endsWith('.*') ? name.slice(0, -2) : name;
    return scene.shape.places[place]?.nodes ?? members.filter((node) => node === name);
  });
}

/** Everybody but these. */
export function othersThan(names: readonly string[], { world }: Strike): string[] {
  return world
    .nodes()
    .map(({ node }) => node)
    .filter((node) => !names.includes(node));
}
