/**
 * Targets of nemeses: what a cluster must have for it, names drawn before a run, nodes found in it.
 *
 * Clients are no part of it: they see what happens to the cluster and are never struck themselves.
 * A cluster is that of the jobs system or one of somebody's own machines; what only the first has is
 * empty in the other.
 */

import type { LeaseRules } from '../../machines/jobs/rules.ts';
import { gatesOf, managersOf, nodesIn, nodesOf, workersOf } from '../jobs/names.ts';
import type { RecordedContext } from '../jobs/recorded-handler.ts';
import { nodesOf as nodesNamed } from '../jobs/steps.ts';
import type { Chance } from '../world/chance.ts';
import type { WorldNode } from '../world/node.ts';
import type { ClusterShape, JobsShape } from './nemesis-kind.ts';
import type { AnyScene, Strike } from './strike.ts';

export const isJobs = (cluster: ClusterShape): cluster is JobsShape => 'topology' in cluster;

/** For kinds that mean the jobs system alone. @throws {Error} when the cluster is another one. */
export function jobsOf(cluster: ClusterShape): JobsShape {
  if (isJobs(cluster)) return cluster;
  throw new Error('There is no jobs system in this cluster.');
}

export const hasGate = (cluster: ClusterShape): boolean => allGates(cluster).length > 0;

export const hasWorker = (cluster: ClusterShape): boolean => allWorkers(cluster).length > 0;

/** A place whose leader another node can follow. */
export const hasStandby = (cluster: ClusterShape): boolean =>
  electedPlaces(cluster).some((place) => electorsOf(cluster, place).length > 1);

/** Enough nodes for a shape of which some reach each other and some do not. */
export const hasFourNodes = (cluster: ClusterShape): boolean => allNodes(cluster).length >= 4;

export const allNodes = (cluster: ClusterShape): string[] =>
  isJobs(cluster) ? nodesOf(cluster.topology) : Object.values(cluster.places).flat();

export const allGates = (cluster: ClusterShape): string[] =>
  isJobs(cluster) ? gatesOf(cluster.topology) : [];

/** Places whose nodes elect a leader: the datacenters, in the jobs system. */
export const electedPlaces = (cluster: ClusterShape): string[] =>
  Object.keys(isJobs(cluster) ? cluster.topology.datacenters : cluster.places);

export const allManagers = (cluster: ClusterShape): string[] =>
  electedPlaces(cluster).flatMap((place) => electorsOf(cluster, place));

export const allWorkers = (cluster: ClusterShape): string[] =>
  isJobs(cluster)
    ? electedPlaces(cluster).flatMap((datacenter) => workersOf(cluster.topology, datacenter))
    : [];

/** The nodes that can lead the place. */
const electorsOf = (cluster: ClusterShape, place: string): readonly string[] =>
  isJobs(cluster) ? managersOf(cluster.topology, place) : (cluster.places[place] ?? []);

/** Those that can lead the place, and those that work for it. */
export const nodesAt = (cluster: ClusterShape, place: string): readonly string[] =>
  isJobs(cluster) ? nodesIn(cluster.topology, place) : electorsOf(cluster, place);

export const leaseOf = (cluster: ClusterShape): LeaseRules =>
  isJobs(cluster) ? cluster.config : cluster.lease;

/** A place with a node that can follow the leader, as far as there is one. */
export function placeWithStandby(chance: Chance, cluster: ClusterShape): string {
  const all = electedPlaces(cluster);
  const fit = all.filter((place) => electorsOf(cluster, place).length > 1);
  return chance.pick(fit.length > 0 ? fit : all);
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
export function membersOf({ scene, world }: Strike): readonly string[] {
  return 'shape' in scene ? allNodes(scene.shape) : world.nodes().map(({ node }) => node);
}

/** Places that have a disk. */
export function placesOf(scene: AnyScene): readonly string[] {
  if ('shape' in scene) return electedPlaces(scene.shape);
  return [...scene.system.gates, ...scene.system.datacenters];
}

/** The nodes that are meant by its targets; all of the cluster when there are none. */
export function nodesMeant(strike: Strike): readonly string[] {
  const { nemesis, scene } = strike;
  const { targets } = nemesis;
  if (targets.length === 0) return membersOf(strike);
  if (!('shape' in scene)) return nodesNamed(targets, scene);
  return targets.flatMap((name) => scene.shape.places[name] ?? [name]);
}

/** Everybody but these. */
export function othersThan(names: readonly string[], { world }: Strike): string[] {
  return world
    .nodes()
    .map(({ node }) => node)
    .filter((node) => !names.includes(node));
}

/** A run asks for more time: as far along as chance has it, or as it said last. */
export function askForMore({ chance }: Strike, run: RecordedContext): void {
  const progress = chance.whole(0, 100) / 100;
  const reason = 'long_workflow' as const;
  const wish = chance.is(0.7) ? { progress, reason } : { reason };
  // A run that stops before the answer has come gets none.
  run.extend(wish).catch(() => undefined);
}

/** Everything that runs on these workers asks for more time, again and again. */
export function askForTime(strike: Strike, workers: readonly string[], everyMs: number): void {
  const ask = (): void => {
    for (const worker of workers) {
      if (!strike.world.node(worker).isRunning) continue;
      for (const run of strike.system.runningOn(worker)) askForMore(strike, run);
    }
    strike.after(everyMs, ask);
  };
  ask();
}
