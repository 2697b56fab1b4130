/**
 * Nemeses of links: frames are late, lost, doubled, out of order, damaged, held up.
 *
 * Whom they concern is drawn before the run; the fate of a single frame is noise, of which the
 * network has the streams.
 */

import type { Chance, Delay, Noise } from '../world.ts';
import { allNodes, electedPlaces } from './cluster-shape.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import type { Strike } from './strike.ts';
import { few, leaderOf, nodesMeant, othersThan } from './targets.ts';

/** Noise on all frames from and to the targets. */
function disturb(strike: Strike, noise: Noise): void {
  const { id } = strike.nemesis;
  const meant = nodesMeant(strike);
  const all = strike.world.nodes().map(({ node }) => node);
  const { network } = strike.world;
  strike.keep(network.disturb({ id: `${id}/to`, from: all, to: meant, noise }));
  const others = othersThan(meant, strike);
  if (others.length > 0)
    strike.keep(network.disturb({ id: `${id}/from`, from: meant, to: others, noise }));
}

const share = (chance: Chance): number => chance.scaled(0.001, 0.5);

export const lateFrames: NemesisKind = {
  kind: 'lateFrames',
  says: 'Frames from and to some nodes take longer, a few of them very much longer.',
  draw: (chance, cluster) => ({
    targets: few(chance, allNodes(cluster)),
    params: {
      shape: chance.pick(['uniform', 'exponential', 'pareto']),
      meanMs: Math.round(chance.scaled(1, 5_000)),
    },
  }),
  begin: (strike) => {
    const { shape, meanMs } = strike.nemesis.params as { shape: string; meanMs: number };
    disturb(strike, { delay: delayOf(shape, meanMs) });
  },
};

function delayOf(shape: string, meanMs: number): Delay {
  const maxMs = 10 * meanMs;
  if (shape === 'exponential') return { shape, minMs: 0, meanMs, maxMs };
  if (shape === 'pareto') return { shape, minMs: Math.max(1, meanMs / 3), tail: 1.5, maxMs };
  return { shape: 'uniform', minMs: 0, maxMs: 2 * meanMs };
}

export const lostFrames: NemesisKind = {
  kind: 'lostFrames',
  says: 'Some of the frames from and to some nodes are lost, on connections that stay up.',
  draw: (chance, cluster) => ({
    targets: few(chance, allNodes(cluster)),
    params: { share: share(chance) },
  }),
  begin: (strike) => disturb(strike, { loss: strike.number('share') }),
};

export const repeatedFrames: NemesisKind = {
  kind: 'repeatedFrames',
  says: 'Frames come a second time, at once or minutes later, over a later connection too.',
  draw: (chance, cluster) => ({
    targets: few(chance, allNodes(cluster)),
    params: {
      share: share(chance),
      withinMs: Math.round(chance.scaled(1, 300_000)),
      outlives: chance.is(0.5),
    },
  }),
  begin: (strike) => {
    const withinMs = strike.number('withinMs');
    const outlives = strike.is('outlives');
    disturb(strike, { duplicate: { share: strike.number('share'), withinMs, outlives } });
  },
};

export const reorderedFrames: NemesisKind = {
  kind: 'reorderedFrames',
  says: 'Frames are overtaken by later ones.',
  draw: (chance, cluster) => ({
    targets: few(chance, allNodes(cluster)),
    params: { share: share(chance), withinMs: Math.round(chance.scaled(10, 10_000)) },
  }),
  begin: (strike) => {
    disturb(strike, {
      reorder: { share: strike.number('share'), withinMs: strike.number('withinMs') },
    });
  },
};

export const damagedFrames: NemesisKind = {
  kind: 'damagedFrames',
  says: 'Bytes of frames are changed or cut off on the way.',
  draw: (chance, cluster) => ({
    targets: few(chance, allNodes(cluster)),
    params: { share: share(chance) },
  }),
  begin: (strike) => disturb(strike, { damage: strike.number('share') }),
};

export const slowConsumer: NemesisKind = {
  kind: 'slowConsumer',
  says: 'A node takes no more than a number of bytes a second; the rest waits.',
  draw: (chance, cluster) => ({
    targets: [chance.pick(allNodes(cluster))],
    params: { bytesPerSecond: Math.round(chance.scaled(200, 50_000)) },
  }),
  begin: (strike) => {
    const meant = nodesMeant(strike);
    const bytesPerSecond = strike.number('bytesPerSecond');
    const from = othersThan(meant, strike);
    strike.keep(
      strike.world.network.disturb({
        id: strike.nemesis.id,
        from,
        to: meant,
        noise: { bytesPerSecond },
      }),
    );
  },
};

export const deafLeader: NemesisKind = {
  kind: 'deafLeader',
  says: 'The leader of a place is heard and hears nothing, or hears and is not heard.',
  draw: (chance, cluster) => ({
    targets: [chance.pick(electedPlaces(cluster))],
    params: { isMute: chance.is(0.3) },
  }),
  begin: (strike) => {
    const leader = leaderOf(strike)?.node;
    if (leader === undefined) return;
    const others = othersThan([leader], strike);
    const isMute = strike.is('isMute');
    const [from, to] = isMute ? [[leader], others] : [others, [leader]];
    const { id } = strike.nemesis;
    strike.keep(strike.world.network.disturb({ id, from, to, noise: { loss: 1 } }));
  },
};

export const swizzleClog: NemesisKind = {
  kind: 'swizzleClog',
  says: 'A random set of ways is clogged one by one, and released in another order.',
  draw: (chance) => ({ targets: [], params: { share: 0.1 + 0.9 * chance.scaled(0.1, 1) } }),
  begin: (strike) => {
    const { chance, world, lastsMs } = strike;
    const nodes = world.nodes().map(({ node }) => node);
    const ways = nodes.flatMap((from) =>
      nodes.filter((to) => to !== from).map((to) => [from, to] as const),
    );
    const chosen = chance.shuffled(chance.some(ways, strike.number('share')));
    const clogged = new Set<string>();
    strike.hear('frame', ({ node, to, change }) => {
      if (change === 'held' && clogged.has(`${node}>${to}`)) strike.hit({ from: node, to });
    });
    for (const [from, to] of chosen) {
      const clogAtMs = chance.whole(0, Math.floor(lastsMs / 2));
      const releaseAtMs = chance.whole(Math.floor(lastsMs / 2), lastsMs);
      strike.after(clogAtMs, () => {
        const clog = world.network.clog(from, to);
        clogged.add(`${from}>${to}`);
        strike.keep(clog);
        strike.after(releaseAtMs - clogAtMs, () => {
          clogged.delete(`${from}>${to}`);
          clog.end();
        });
      });
    }
  },
};

export const connectionResets: NemesisKind = {
  kind: 'connectionResets',
  says: 'Connections of some nodes end with what is in flight, again and again, and are set up again.',
  draw: (chance, cluster) => ({
    targets: few(chance, allNodes(cluster)),
    params: { everyMs: Math.round(chance.scaled(50, 30_000)) },
  }),
  begin: (strike) => {
    const meant = nodesMeant(strike);
    const all = strike.world.nodes().map(({ node }) => node);
    const everyMs = strike.number('everyMs');
    const reset = (): void => {
      strike.world.network.reset(meant, all);
      if (meant.some((name) => strike.world.node(name).isUp)) strike.hit();
      strike.after(everyMs, reset);
    };
    reset();
  },
};
