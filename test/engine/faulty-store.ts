/**
 * A store that refuses groups and takes its time, in front of a real one.
 *
 * A refused group never reaches the store behind. A slow group reaches it only when it
 * is settled, so that until then nobody can read it.
 */

import type { Group, Settle, Store } from '../../runtime/store.ts';
import type { SimulatedClock } from '../../simulator/clock.ts';
import { memoryStore } from '../../stores/memory.ts';

export interface FaultyStore extends Store {
  /** Groups handed over and not settled yet. */
  readonly waiting: number;
  /** Groups settled so far, and how many of them were refused. */
  readonly settled: number;
  readonly refused: number;
  /** Says whether the next group is refused; asked when it is about to be settled. */
  refuse: (group: Group) => Error | undefined;
  /** Clock tasks between the handing over and the settlement. */
  delayTasks: number;
}

export function faultyStore(clock: SimulatedClock, behind: Store = memoryStore()): FaultyStore {
  const queue: Array<{ group: Group; settle: Settle }> = [];
  let settled = 0;
  let refused = 0;
  let closing: (() => void) | undefined;

  const settleNext = (): void => {
    const { group, settle } = queue[0] as { group: Group; settle: Settle };
    const refusal = store.refuse(group);
    const done = (error?: Error): void => {
      queue.shift();
      settled += 1;
      if (error !== undefined) refused += 1;
      settle(error);
      if (queue.length > 0) wait(store.delayTasks);
      else closing?.();
    };
    if (refusal === undefined) behind.commit(group, done);
    else done(refusal);
  };
  const wait = (tasks: number): void => clock.defer(tasks > 1 ? () => wait(tasks - 1) : settleNext);

  const store: FaultyStore = {
    isGroupAtomic: behind.isGroupAtomic,
    refuse: () => undefined,
    delayTasks: 1,
    get waiting() {
      return queue.length;
    },
    get settled() {
      return settled;
    },
    get refused() {
      return refused;
    },
    open: (place) => behind.open(place),
    damaged: () => behind.damaged(),
    fence: (shard) => behind.fence(shard),
    load: (address) => behind.load(address),
    entries: () => behind.entries(),
    query: (query) => behind.query(query),
    history: (address, limit) => behind.history(address, limit),
    undelivered: () => behind.undelivered(),
    commit(group, settle) {
      queue.push({ group, settle });
      if (queue.length === 1) wait(store.delayTasks);
    },
    async close() {
      if (queue.length > 0)
        await new Promise<void>((resolve) => {
          closing = resolve;
        });
      await behind.close();
    },
  };
  return store;
}

/** What a full disk says. */
export function diskFull(): Error {
  return new Error('ENOSPC: no space left on device.');
}
