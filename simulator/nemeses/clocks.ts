/**
 * Nemeses of clocks: nodes whose wall clock is off, and clocks that run too fast or too slow.
 *
 * A node reads the wall when it starts and never again, so a step of it shows with the next start.
 * How far off clocks can be is known from the plan, because invariants allow for it.
 */

import type { Nemesis } from '../plan.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import {
  allDatacenters,
  allNodes,
  datacenterWithStandby,
  few,
  hasStandby,
  leaderOf,
  nodesMeant,
} from './targets.ts';

const DAY_MS = 86_400_000;

const skewOf = ({ params: { byMs } }: Nemesis): number => Number(byMs);

export const stepLeaderClock: NemesisKind = {
  kind: 'stepLeaderClock',
  says: 'The wall of a leader steps by almost the timeout of a job, and it is started again.',
  draw: (chance, cluster) => {
    const timeouts = cluster.jobs?.map(({ timeoutMs }) => timeoutMs) ?? [60_000];
    const stepMs = Math.min(DAY_MS, Math.max(0, chance.pick(timeouts) - 1_000));
    return {
      targets: [chance.pick(allDatacenters(cluster))],
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
    targets: [datacenterWithStandby(chance, cluster)],
    params: {
      byMs: Math.round(chance.scaled(1, DAY_MS)) * (chance.is(0.5) ? 1 : -1),
      ppm: chance.whole(-10_000, 10_000),
    },
  }),
  epsilonMs: (nemesis) => Math.abs(skewOf(nemesis)) + driftedMs(nemesis),
  begin: (strike) => {
    const leader = leaderOf(strike);
    if (leader === undefined) return;
    for (const name of strike.system.managersOf(leader.place)) {
      if (name === leader.node) continue;
      const follower = strike.world.node(name);
      const { skewMs } = follower;
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
