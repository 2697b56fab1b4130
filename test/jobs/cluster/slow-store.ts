/**
 * A store that takes its time for every group, on a clock.
 *
 * Guarantees: groups are settled one after the other, in the order in which they were handed over.
 * Reading takes no time.
 */

import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Store } from '../../../runtime/ports/store.ts';

export function slowStore(below: Store, clock: Clock, commitMs: number): Store {
  let idleAt = 0;
  return {
    isGroupAtomic: below.isGroupAtomic,
    open: (place) => below.open(place),
    fence: (shard) => below.fence(shard),
    load: (address) => below.load(address),
    rows: (address) => below.rows(address),
    entry: (address) => below.entry(address),
    entries: () => below.entries(),
    query: (query) => below.query(query),
    history: (address, limit) => below.history(address, limit),
    undelivered: () => below.undelivered(),
    damaged: () => below.damaged(),
    commit(group, settle) {
      idleAt = Math.max(idleAt, clock.now()) + commitMs;
      clock.schedule(idleAt, () => below.commit(group, settle));
    },
    close: () => below.close(),
  };
}
