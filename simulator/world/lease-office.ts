/**
 * The lease store of a cluster, as each of its nodes reaches it.
 *
 * A place elects its holder like any other, or the script appoints it: then nobody else is
 * given the lease, and its holder loses it at that moment.
 */

import type { Clock } from '../../runtime/ports/clock.ts';
import type { LeaseStore } from '../../runtime/ports/lease-store.ts';
import { type MemoryLeaseStore, memoryLeaseStore } from '../../stores/lease-store.ts';

/** A node's own way to the lease store. */
export interface LeaseCounter {
  readonly leaseStore: LeaseStore;
  /** False: the node does not reach the lease store. */
  isOpen: boolean;
}

export class LeaseOffice {
  readonly #clock: Clock;
  readonly #leaseStores = new Map<string, MemoryLeaseStore>();
  /** Who may have the lease of a name; undefined as long as the script has named nobody. */
  readonly #appointed = new Map<string, string | undefined>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From now on only the script says who has this lease. */
  reserve(name: string): void {
    this.#appointed.set(name, undefined);
  }

  /** Hands the lease over, as if it had just ended. */
  appoint(name: string, node: string): void {
    this.#appointed.set(name, node);
    this.#storeOf(name).revoke(name);
    // Nobody may have had it: those who wait are told all the same.
    for (const changed of this.#watchers.get(name) ?? []) changed();
  }

  /** What was known of a lease, its highest fence too, is gone, as after the restoring of an old copy. */
  forget(name: string): void {
    this.#leaseStores.delete(name);
  }

  holderOf(name: string): string | undefined {
    return this.#storeOf(name).holderOf(name);
  }

  /** `clock` is the node's own: while it is paused it hears nothing of the lease store. */
  counter(clock: Clock): LeaseCounter {
    const counter = { isOpen: true, leaseStore: undefined as unknown as LeaseStore };
    const reach = async <T>(call: () => Promise<T>): Promise<T> => {
      if (!counter.isOpen) throw new Error('The lease store cannot be reached.');
      return call();
    };
    counter.leaseStore = {
      acquire: (name, holder, leaseMs) =>
        reach(async () => {
          const isBarred = this.#appointed.has(name) && this.#appointed.get(name) !== holder;
          return isBarred ? undefined : this.#storeOf(name).acquire(name, holder, leaseMs);
        }),
      renew: (...asked) => reach(() => this.#storeOf(asked[0]).renew(...asked)),
      release: (...asked) => reach(() => this.#storeOf(asked[0]).release(...asked)),
      raise: (...asked) => reach(() => this.#storeOf(asked[0]).raise(...asked)),
      watch: (name, changed) =>
        this.#watch(name, () => {
          clock.defer(() => counter.isOpen && changed());
        }),
    };
    return counter;
  }

  #storeOf(name: string): MemoryLeaseStore {
    const leaseStore = this.#leaseStores.get(name) ?? memoryLeaseStore(this.#clock);
    this.#leaseStores.set(name, leaseStore);
    return leaseStore;
  }

  readonly #watchers = new Map<string, Set<() => void>>();

  #watch(name: string, changed: () => void): () => void {
    const watchers = this.#watchers.get(name) ?? new Set();
    this.#watchers.set(name, watchers);
    watchers.add(changed);
    const unwatch = this.#storeOf(name).watch?.(name, changed);
    return () => {
      watchers.delete(changed);
      unwatch?.();
    };
  }
}
