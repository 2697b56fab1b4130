/**
 * Nemeses of clocks: nodes whose wall clock is off, and clocks that run too fast or too slow.
 *
 * A node reads the wall when it starts and never again, so a step of it shows with the next start.
 * How far off clocks can be is known from the plan, because invariants allow for it.
 */

import { allNodes, electedPlaces, hasStandby } from './cluster-shape.ts';
import type { Nemesis } from './nemesis.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import { few, leaderOf, nodesMeant, placeWithStandby } from './targets.ts';

/** Steps of a clock: just under a minute. */
const STEPS_MS = [59_000];
const skewOf = ({ params: { byMs } }: Nemesis): number => Number(byMs);

export const stepLeaderClock: NemesisKind = {
  kind: 'stepLeaderClock',
  says: 'The wall clock of a leader is a minute off, and it is started again.',
  draw: (chance, cluster) => {
    const stepMs = chance.pick(STEPS_MS);
    return {
      targets: [chance.pick(electedPlaces(cluster))],
      params: { byMs: chance.is(0.5) ? stepMs : -stepMs, downMs: chance.pick([1, 100, 10_000]) },
    };
  },
  epsilonMs: (nemesis) => Math.abs(skewOf(nemesis)),
  begin: (strike) => {
    const leader = leaderOf(strike);
    if (leader === undefined) return;
    const { skewMs } = leader;
    leader.skew(skewOf(strike.nemesis));
    strike.whenOver(() => leader.skew(skewMs));
    strike.crash(leader.node);
    strike.after(strike.number('downMs'), () => strike.restart(leader.node));
  },
};

export const driftedTakeover: NemesisKind = {
  kind: 'driftedTakeover',
  says: 'Followers whose clocks are off and drift take over from a leader that dies.',
  fits: hasStandby,
  draw: (chance, cluster) => ({
    targets: [placeWithStandby(chance, cluster)],
    params: {
      byMs: Math.round(chance.scaled(1, cluster.skewMaxMs)) * (chance.is(0.5) ? 1 : -1),
      ppm: chance.whole(-10_000, 10_000),
    },
  }),
  epsilonMs: (nemesis) => Math.abs(skewOf(nemesis)) + driftedMs(nemesis),
  begin: (strike) => {
    const leader = leaderOf(strike);
    if (leader === undefined) return;
    for (const follower of strike.world.nodes()) {
      if (follower.place !== leader.place || follower === leader) continue;
      const { node: name, skewMs } = follower;
      follower.skew(skewOf(strike.nemesis));
      follower.drift(strike.number('ppm'));
      strike.whenOver(() => {
        follower.drift(0);
        follower.skew(skewMs);
      });
      // It has to read the wall.
      if (strike.crash(name)) strike.restart(name);
    }
    strike.after(Math.min(1_000, strike.lastsMs), () => strike.crash(leader.node));
  },
};

export const driftingClocks: NemesisKind = {
  kind: 'driftingClocks',
  says: 'The clocks of some nodes run up to one in a hundred too fast or too slow.',
  draw: (chance, cluster) => ({
    targets: few(chance, allNodes(cluster)),
    params: { ppm: chance.whole(1, 10_000) * (chance.is(0.5) ? 1 : -1) },
  }),
  epsilonMs: (nemesis) => driftedMs(nemesis),
  begin: (strike) => {
    for (const name of nodesMeant(strike)) {
      const node = strike.world.node(name);
      node.drift(strike.number('ppm'));
      strike.whenOver(() => node.drift(0));
      if (node.isUp) strike.hit({ drifting: name });
    }
  },
};

function driftedMs({ params: { ppm }, durMs }: Nemesis): number {
  return Math.ceil((Math.abs(Number(ppm)) * durMs) / 1_000_000);
}
