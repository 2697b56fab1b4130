/**
 * Nemeses of disks: slow, full, failing, torn by a crash, damaged.
 *
 * What was acknowledged stays on them: a disk that loses what it said it had written is no fault that
 * a system could live with. Damaged data is refused until it has been restored, and never served.
 */

import { placeOf } from '../../runtime/base/address.ts';
import type { Chance, Delay, GroupEnd } from '../world.ts';
import type { ClusterShape } from './cluster-shape.ts';
import { allPlaces } from './cluster-shape.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import type { Strike } from './strike.ts';

/** Where there is a disk. */
function somePlace(chance: Chance, cluster: ClusterShape): string[] {
  return [chance.pick(allPlaces(cluster))];
}

const placeStruck = ({ nemesis }: Strike): string => nemesis.targets[0] ?? '';

/** The nodes of the place. */
function nodesThere(strike: Strike): readonly string[] {
  const place = placeStruck(strike);
  return strike.world
    .nodes()
    .filter((node) => node.place === place)
    .map(({ node }) => node);
}

/** A node of the place that ends because of its disk is started again like one that was crashed. */
function watchDeaths(strike: Strike): void {
  const nodes = nodesThere(strike);
  strike.hear('node', ({ node, change }) => {
    if (change === 'crashed' && nodes.includes(node)) strike.broughtDown(node);
  });
}

export const slowDisk: NemesisKind = {
  kind: 'slowDisk',
  says: 'Groups of a place take their time to be on disk, some of them very long.',
  draw: (chance, cluster) => ({
    targets: somePlace(chance, cluster),
    params: { meanMs: Math.round(chance.scaled(2, 2_000)), isEven: chance.is(0.5) },
  }),
  begin: (strike) => {
    const { world } = strike;
    const place = placeStruck(strike);
    const meanMs = strike.number('meanMs');
    const delay: Delay = strike.is('isEven')
      ? { shape: 'exponential', minMs: 1, meanMs, maxMs: 10 * meanMs }
      : { shape: 'pareto', minMs: Math.max(1, meanMs / 3), tail: 1.2, maxMs: 20 * meanMs };
    world.diskOf(place).takes(delay);
    strike.whenOver(() => world.healDisk(place));
    hitByGroups(strike, place);
  },
};

export const stalledDisk: NemesisKind = {
  kind: 'stalledDisk',
  says: 'The disk of a place writes nothing for a while, then everything that waits.',
  draw: (chance, cluster) => ({ targets: somePlace(chance, cluster), params: {} }),
  begin: (strike) => {
    const place = placeStruck(strike);
    strike.keep(strike.world.diskOf(place).stall());
    hitByGroups(strike, place);
  },
};

function hitByGroups(strike: Strike, place: string): void {
  const stop = strike.world.readGroups((node, { shard }) => {
    if (shard === place) strike.hit({ node });
  });
  strike.whenOver(stop);
}

export const fullDisk: NemesisKind = {
  kind: 'fullDisk',
  says: 'The disk of a place refuses every group, every n-th, or a share, and says why.',
  draw: (chance, cluster) => {
    const how = chance.pick(['all', 'every', 'share']);
    return {
      targets: somePlace(chance, cluster),
      params: {
        reason: chance.pick(['ENOSPC', 'EIO', 'EROFS']),
        every: how === 'every' ? chance.whole(2, 10) : 1,
        share: how === 'share' ? chance.scaled(0.01, 0.9) : 1,
      },
    };
  },
  begin: (strike) => {
    const { id } = strike.nemesis;
    const rule = {
      id,
      reason: strike.word('reason'),
      every: strike.number('every') || 1,
      share: strike.number('share') || 1,
    };
    strike.keep(strike.world.diskOf(placeStruck(strike)).refuse(rule));
    // A process that could not even begin to host is started again.
    watchDeaths(strike);
  },
};

export const failedFlush: NemesisKind = {
  kind: 'failedFlush',
  says: 'A flush fails and nobody knows what is on disk; the process ends, or the power with it.',
  draw: (chance, cluster) => ({
    targets: somePlace(chance, cluster),
    params: { end: chance.pick(['written', 'lost', 'split']), powerCut: chance.is(0.5) },
  }),
  begin: (strike) => {
    const end = strike.word('end') as GroupEnd;
    const nodes = nodesThere(strike);
    strike.keep(strike.world.diskOf(placeStruck(strike)).failFlush(end));
    watchDeaths(strike);
    if (!strike.is('powerCut')) return;
    strike.hear('node', ({ node, change }) => {
      if (change !== 'crashed' || !nodes.includes(node)) return;
      strike.soon(() => {
        for (const name of nodes) strike.crash(name);
      });
    });
  },
};

export const splitGroup: NemesisKind = {
  kind: 'splitGroup',
  says: 'A node dies when only some records of a group are on disk.',
  awaitsMoment: true,
  draw: (chance, cluster) => ({
    targets: somePlace(chance, cluster),
    params: { times: chance.whole(1, 5), downMs: Math.round(chance.scaled(1, 10_000)) },
  }),
  begin: (strike) => {
    const { world } = strike;
    const place = placeStruck(strike);
    const downMs = strike.number('downMs');
    let left = strike.number('times');
    const stop = world.readGroups((node, { shard, writes }) => {
      if (shard !== place || writes.length < 2 || left <= 0) return;
      left -= 1;
      const { life } = world.node(node);
      strike.soon(() => {
        if (!strike.crashAmid(node, life, 'split')) return;
        strike.after(downMs, () => strike.restart(node));
      });
    });
    strike.whenOver(stop);
  },
};

export const damagedRecord: NemesisKind = {
  kind: 'damagedRecord',
  says: 'After a power cut a record is missing or has a wrong checksum, until it is restored.',
  // A single damaged record is refused for good: a plan that wants that says so.
  draw: (chance, cluster) => ({ targets: somePlace(chance, cluster), params: { isMissing: true } }),
  begin: (strike) => {
    const { world, chance } = strike;
    const place = placeStruck(strike);
    const nodes = nodesThere(strike);
    const disk = world.diskOf(place);
    const addresses = disk.addresses().filter((address) => placeOf(address) === place);
    if (addresses.length === 0) return;
    const address = chance.pick(addresses);
    for (const name of nodes) strike.crash(name);
    if (strike.is('isMissing')) disk.lose(address);
    else disk.damage(address);
    strike.whenOver(() => {
      // A node that could be started runs without that record, and is stopped to get it back.
      for (const name of nodes) strike.crash(name);
      disk.mend(address);
    });
    for (const name of strike.down) strike.restart(name);
    watchDeaths(strike);
  },
};
