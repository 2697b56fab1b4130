/**
 * Nemeses of processes: they die, one or many, come back, stand still, or crawl.
 *
 * Guarantees: who died of one is started again by its end. A node that is down already when it is
 * to be struck is left alone.
 */

import {
  allNodes,
  allPlaces,
  type ClusterShape,
  electedPlaces,
  hasStandby,
} from './cluster-shape.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import type { Strike } from './strike.ts';
import { few, leaderOf, nodesMeant, placeWithStandby } from './targets.ts';

export const crashNodes: NemesisKind = {
  kind: 'crashNodes',
  says: 'Some nodes die in the same moment, and are started again together or one by one.',
  draw: (chance, cluster) => ({
    targets: few(chance, allNodes(cluster)),
    params: { apart: chance.is(0.5) },
  }),
  begin: (strike) => {
    const crashed = nodesMeant(strike).filter((name) => strike.crash(name));
    if (!strike.is('apart')) return;
    for (const name of crashed)
      strike.after(strike.chance.whole(1, strike.lastsMs), () => strike.restart(name));
  },
};

export const powerCut: NemesisKind = {
  kind: 'powerCut',
  says: 'A whole place loses its power, or the whole cluster.',
  draw: (chance, cluster) => ({
    targets: chance.is(0.6) ? [chance.pick(electedPlaces(cluster))] : [],
    params: {},
  }),
  begin: (strike) => {
    for (const name of nodesMeant(strike)) strike.crash(name);
  },
};

export const crashLoop: NemesisKind = {
  kind: 'crashLoop',
  says: 'A node dies soon after each start.',
  draw: (chance, cluster) => ({
    targets: [chance.pick(allNodes(cluster))],
    params: {
      upMs: Math.round(chance.scaled(1, 30_000)),
      downMs: Math.round(chance.scaled(1, 10_000)),
    },
  }),
  begin: (strike) => {
    const { upMs, downMs } = strike.nemesis.params;
    for (const name of nodesMeant(strike)) loop(strike, name, Number(upMs), Number(downMs));
  },
};

function loop(strike: Strike, name: string, upMs: number, downMs: number): void {
  strike.crash(name);
  strike.after(downMs, () => {
    strike.restart(name);
    strike.after(upMs, () => loop(strike, name, upMs, downMs));
  });
}

export const rollingRestart: NemesisKind = {
  kind: 'rollingRestart',
  says: 'Nodes are stopped in order and started again, one after the other.',
  draw: (chance, cluster) => {
    const whole = cluster.places[chance.pick(electedPlaces(cluster))]?.nodes ?? [];
    const targets = chance.is(0.5) ? whole : chance.shuffled(allNodes(cluster));
    return {
      targets,
      params: {
        downMs: Math.round(chance.scaled(1, 20_000)),
        upMs: Math.round(chance.scaled(1, 20_000)),
      },
    };
  },
  begin: (strike) => {
    const { downMs, upMs } = strike.nemesis.params;
    const left = [...nodesMeant(strike)];
    const next = (): void => {
      const name = left.shift();
      if (name === undefined) return;
      strike.stop(name);
      strike.after(Number(downMs), () => {
        strike.restart(name);
        strike.after(Number(upMs), next);
      });
    };
    next();
  },
};

export const pauseLeader: NemesisKind = {
  kind: 'pauseLeader',
  says: 'The leader of a place stands still for just longer than its lease, and goes on.',
  fits: hasStandby,
  draw: (chance, cluster) => {
    const { leaseMs, leaseMarginMs, leaseJitterMs } = cluster.lease;
    const beyondMs = chance.pick([-leaseMarginMs, 1, 100, leaseJitterMs, 2 * leaseMs]);
    const durMs = Math.max(1, leaseMs + beyondMs);
    return { targets: [placeWithStandby(chance, cluster)], params: {}, durMs };
  },
  begin: (strike) => {
    const leader = leaderOf(strike);
    if (leader !== undefined) strike.pause(leader.node, strike.lastsMs);
  },
};

export const pauseNodes: NemesisKind = {
  kind: 'pauseNodes',
  says: 'Some nodes stand still, from a millisecond to an hour, and go on.',
  draw: (chance, cluster) => ({
    targets: few(chance, allNodes(cluster)),
    params: {},
    durMs: Math.round(chance.scaled(1, 3_600_000)),
  }),
  begin: (strike) => {
    for (const name of nodesMeant(strike)) strike.pause(name, strike.lastsMs);
  },
};

function electedFirst(shape: ClusterShape): string[] {
  const elected = electedPlaces(shape);
  return [...elected, ...allPlaces(shape).filter((place) => !elected.includes(place))];
}

export const stallAtDeadline: NemesisKind = {
  kind: 'stallAtDeadline',
  says: 'The event loop of a leader stalls just before a deadline of it.',
  awaitsMoment: true,
  draw: (chance, cluster) => ({
    targets: [chance.pick(electedFirst(cluster))],
    params: {
      stallMs: Math.round(chance.scaled(10, 60_000)),
      beforeMs: chance.pick([0, 1, 2, 10, 100]),
    },
  }),
  begin: (strike) => {
    const { targets, params } = strike.nemesis;
    const { stallMs, beforeMs } = params;
    let stalledUntilMs = Number.NEGATIVE_INFINITY;
    strike.hear('timers', ({ place, node: name, timers }) => {
      if (!targets.includes(place)) return;
      const node = strike.world.node(name);
      for (const { dueAt } of timers) {
        const inMs = dueAt - node.ownNow - Number(beforeMs);
        if (inMs < 0 || inMs > strike.lastsMs) continue;
        strike.after(inMs, () => {
          const now = strike.world.now();
          if (now < stalledUntilMs) return;
          // Half of the time it works, otherwise nothing would be due any more.
          stalledUntilMs = now + 2 * Number(stallMs);
          strike.pause(name, Number(stallMs));
        });
      }
    });
  },
};

export const slowNodes: NemesisKind = {
  kind: 'slowNodes',
  says: 'Some processes take much longer for everything they do.',
  draw: (chance, cluster) => ({
    targets: few(chance, allNodes(cluster)),
    params: { factor: Math.round(chance.scaled(2, 100)) },
  }),
  begin: (strike) => {
    const factor = strike.number('factor');
    for (const name of nodesMeant(strike)) {
      const node = strike.world.node(name);
      if (!node.isUp) continue;
      node.slow(factor, strike.lastsMs);
      strike.hit({ slow: name, factor });
    }
  },
};
