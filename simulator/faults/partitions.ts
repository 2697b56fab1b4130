/**
 * Nemeses of connections: nodes that do not reach each other, for a while or again and again.
 *
 * Guarantees: partitions of several nemeses overlap without ending each other. A node that is
 * disconnected from all others may or may not reach the lease store, which is elsewhere.
 */

import {
  bridge,
  halves,
  isolated,
  type NetworkFault,
  type Parting,
  ring,
  shattered,
} from '../world.ts';
import { allNodes, electedPlaces, hasFourNodes } from './cluster-shape.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import type { Strike } from './strike.ts';
import { few, leaderOf, nodesMeant, othersThan } from './targets.ts';

export type How = 'cut' | 'silent' | 'half';

export const HOWS = ['cut', 'cut', 'silent'] as const;

/** Parts nodes, until it is over; an effect when there are connections to break. */
export function part(strike: Strike, partings: readonly Parting[], how: How = 'cut'): NetworkFault {
  const parted = strike.world.network.part(partings, how);
  strike.keep(parted);
  if (breaksSomething(strike, partings)) strike.hit({ partings });
  return parted;
}

function breaksSomething({ world }: Strike, partings: readonly Parting[]): boolean {
  const isUp = (name: string) => world.node(name).isUp;
  return partings.some(([side, other]) => side.some(isUp) && other.some(isUp));
}

/** Parts nodes from all others; with `board` from the lease store too. */
function isolate(strike: Strike, names: readonly string[]): void {
  const { how, board } = strike.nemesis.params;
  part(strike, [[names, othersThan(names, strike)]], how as How);
  if (board === true) for (const name of names) loseLeaseStore(strike, name);
}

/** Cuts a node off from the lease store until it is over; a new life reaches it again. */
function loseLeaseStore(strike: Strike, name: string): void {
  const node = strike.world.node(name);
  if (!node.isUp) return;
  node.reachLeaseStore(false);
  strike.whenOver(() => node.reachLeaseStore(true));
}

export const isolateNodes: NemesisKind = {
  kind: 'isolateNodes',
  says: 'A few nodes are disconnected from all others.',
  draw: (chance, cluster) => ({
    targets: few(chance, allNodes(cluster)),
    params: { how: chance.pick(HOWS), board: chance.is(0.5) },
  }),
  begin: (strike) => isolate(strike, nodesMeant(strike)),
};

export const isolateLeader: NemesisKind = {
  kind: 'isolateLeader',
  says: 'The leader of a place is disconnected from all others.',
  draw: (chance, cluster) => ({
    targets: [chance.pick(electedPlaces(cluster))],
    params: { how: chance.pick(HOWS), board: chance.is(0.5) },
  }),
  begin: (strike) => {
    const leader = leaderOf(strike);
    if (leader !== undefined) isolate(strike, [leader.node]);
  },
};

/** The shapes in which nodes are parted that are no side's and no place's. */
const SHAPES: Readonly<Record<string, (nodes: readonly string[]) => readonly Parting[]>> = {
  halves,
  ring,
  bridge,
  shattered,
};

export const partition: NemesisKind = {
  kind: 'partition',
  says: 'The cluster falls into halves, a ring, a bridge, or single nodes.',
  fits: hasFourNodes,
  draw: (chance) => ({
    targets: [],
    params: { shape: chance.pick(Object.keys(SHAPES)), how: chance.pick([...HOWS, 'half']) },
  }),
  begin: (strike) => {
    const { shape, how } = strike.nemesis.params;
    const partingsOf = SHAPES[String(shape)] ?? halves;
    part(strike, partingsOf(strike.chance.shuffled(nodesMeant(strike))), how as How);
  },
};

export const boardOutage: NemesisKind = {
  kind: 'boardOutage',
  says: 'The nodes that lead a place in turn, or some of them, do not reach the lease store.',
  draw: (chance, cluster) => ({
    targets: [chance.pick(electedPlaces(cluster))],
    params: { share: chance.pick([0.5, 1]) },
  }),
  begin: (strike) => {
    const [place] = strike.nemesis.targets;
    const electors = strike.world.nodes().filter((node) => node.place === place);
    for (const { node, isUp } of strike.chance.some(electors, strike.number('share'))) {
      if (isUp) strike.hit({ elector: node });
      loseLeaseStore(strike, node);
    }
  },
};

/** Factors of the limits that the system waits for: just shorter and just longer than each. */
const FLAP_FACTORS = [0.9, 1.1];

export const flapping: NemesisKind = {
  kind: 'flapping',
  says: 'Nodes are parted and whole in turn, just shorter and just longer than a limit of the system.',
  draw: (chance, cluster) => {
    const limitMs = chance.pick(cluster.waitsMs);
    return {
      targets: few(chance, allNodes(cluster)),
      params: {
        partedMs: Math.round(limitMs * chance.pick(FLAP_FACTORS)),
        wholeMs: Math.round(chance.scaled(50, limitMs)),
        how: chance.pick(HOWS),
      },
      durMs: Math.round(limitMs * chance.whole(2, 5)),
    };
  },
  begin: (strike) => {
    const meant = nodesMeant(strike);
    const { partedMs, wholeMs, how } = strike.nemesis.params;
    const partings: readonly Parting[] = isolated(meant, [...meant, ...othersThan(meant, strike)]);
    const rhythm = { partedMs: Number(partedMs), wholeMs: Number(wholeMs) };
    strike.keep(strike.world.network.flap(partings, { ...rhythm, how: how as 'cut' | 'silent' }));
    if (breaksSomething(strike, partings)) strike.hit({ partings });
  },
};
