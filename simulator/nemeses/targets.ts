/**
 * Whom nemeses strike: what a cluster must have for it, names drawn before a run, nodes found in it.
 *
 * Clients are no part of it: they see what becomes of the cluster and are never struck themselves.
 */

import { gatesOf, managersOf, nodesOf, workersOf } from '../jobs/names.ts';
import type { RecordedContext } from '../jobs/recorded-handler.ts';
import { nodesOf as nodesNamed } from '../jobs/steps.ts';
import type { Chance } from '../swarm/chance.ts';
import type { WorldNode } from '../world-node.ts';
import type { ClusterShape } from './nemesis-kind.ts';
import type { Strike } from './strike.ts';

export const hasGate = ({ topology }: ClusterShape): boolean => topology.gates > 0;

export const hasWorker = (cluster: ClusterShape): boolean => allWorkers(cluster).length > 0;

/** A datacenter whose leader another manager can follow. */
export const hasStandby = ({ topology }: ClusterShape): boolean =>
  Object.values(topology.datacenters).some(({ managers }) => managers > 1);

/** Enough nodes for a shape of which some reach each other and some do not. */
export const hasFourNodes = ({ topology }: ClusterShape): boolean => nodesOf(topology).length >= 4;

export const allNodes = ({ topology }: ClusterShape): string[] => nodesOf(topology);

export const allGates = ({ topology }: ClusterShape): string[] => gatesOf(topology);

export const allDatacenters = ({ topology }: ClusterShape): string[] =>
  Object.keys(topology.datacenters);

export const allManagers = ({ topology }: ClusterShape): string[] =>
  Object.keys(topology.datacenters).flatMap((datacenter) => managersOf(topology, datacenter));

export const allWorkers = ({ topology }: ClusterShape): string[] =>
  Object.keys(topology.datacenters).flatMap((datacenter) => workersOf(topology, datacenter));

/** A datacenter with a manager that can follow the leader, as far as there is one. */
export function datacenterWithStandby(chance: Chance, cluster: ClusterShape): string {
  const { datacenters } = cluster.topology;
  const all = Object.keys(datacenters);
  const fit = all.filter((name) => (datacenters[name]?.managers ?? 0) > 1);
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

/** Whoever leads the datacenter that is the first target, if one does. */
export function leaderOf({ nemesis, world }: Strike): WorldNode | undefined {
  return world.hostOf(nemesis.targets[0] ?? '');
}

/** The nodes that are meant by its targets; all of the cluster when there are none. */
export function nodesMeant({ nemesis, scene, world }: Strike): readonly string[] {
  const { targets } = nemesis;
  return targets.length === 0 ? world.nodes().map(({ node }) => node) : nodesNamed(targets, scene);
}

/** Everybody but these. */
export function othersThan(names: readonly string[], { world }: Strike): string[] {
  return world
    .nodes()
    .map(({ node }) => node)
    .filter((node) => !names.includes(node));
}

/** A run asks for more time, as far along as chance has it. */
export function askForMore({ chance }: Strike, run: RecordedContext): void {
  const progress = chance.whole(0, 100) / 100;
  // A run that stops before the answer has come gets none.
  run.extend({ progress, reason: 'long_workflow' }).catch(() => undefined);
}
