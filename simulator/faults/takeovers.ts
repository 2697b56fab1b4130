/**
 * A takeover in its narrowest place: what the leader before wrote last comes to the disk when its successor
 * has opened it already.
 */

import { hasStandby } from './cluster-shape.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import { leaderOf, placeWithStandby } from './targets.ts';

export const lateCommit: NemesisKind = {
  kind: 'lateCommit',
  says: 'A leader stands still, and its last group is on disk only when its successor has opened the store.',
  fits: hasStandby,
  awaitsMoment: true,
  draw: (chance, cluster) => {
    const { leaseMs, leaseRenewMs, leaseJitterMs } = cluster.lease;
    const lateMs = chance.whole(0, 2 * leaseRenewMs + leaseJitterMs);
    return {
      targets: [placeWithStandby(chance, cluster)],
      params: { holdsMs: leaseMs + leaseRenewMs + lateMs, minWrites: chance.pick([1, 1, 2]) },
    };
  },
  begin: (strike) => {
    const { world } = strike;
    const [place = ''] = strike.nemesis.targets;
    const holdsMs = strike.number('holdsMs');
    let isDone = false;
    const stop = world.readGroups((node, { shard, writes }) => {
      if (isDone || shard !== place || writes.length < strike.number('minWrites')) return;
      if (leaderOf(strike)?.node !== node) return;
      isDone = true;
      const stall = world.diskOf(place).stall();
      strike.whenOver(() => stall.end());
      strike.soon(() => {
        // It goes on a little later than its disk, and hears that its group was written.
        if (!strike.pause(node, holdsMs + 1)) return;
        strike.after(holdsMs, () => stall.end());
      });
    });
    strike.whenOver(stop);
  },
};
