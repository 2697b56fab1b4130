/**
 * The board of leases of a cluster, as each of its managers reaches it.
 *
 * A datacenter elects its leader like any other, or the script appoints it: then nobody else is
 * given the lease, and its holder loses it at that moment.
 */

import type { Clock } from '../../runtime/ports/clock.ts';
import type { LeaseBoard } from '../../runtime/ports/lease-store.ts';
import { type MemoryLeaseBoard, memoryLeaseBoard } from '../../stores/lease-board.ts';

/** A node's own way to the board. */
export interface LeaseCounter {
  readonly board: LeaseBoard;
  /** False: the node does not reach the board. */
  isOpen: boolean;
}

export class LeaseOffice {
  readonly #clock: Clock;
  readonly #boards = new Map<string, MemoryLeaseBoard>();
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
    this.#boardOf(name).revoke(name);
    // Nobody may have had it: those who wait are told all the same.
    for (const changed of this.#watchers.get(name) ?? []) changed();
  }

  /** What was known of a lease, its highest fence too, is gone, as after the restoring of an old copy. */
  forget(name: string): void {
    this.#boards.delete(name);
  }

  holderOf(name: string): string | undefined {
    return this.#boardOf(name).holderOf(name);
  }

  /** `clock` is the node's own: while it is paused it hears nothing of the board. */
  counter(clock: Clock): LeaseCounter {
    const counter = { isOpen: true, board: undefined as unknown as LeaseBoard };
    const reach = async <T>(call: () => Promise<T>): Promise<T> => {
      if (!counter.isOpen) throw new Error('The board of leases cannot be reached.');
      return call();
    };
    counter.board = {
      acquire: (name, holder, leaseMs) =>
        reach(async () => {
          const isBarred = this.#appointed.has(name) && this.#appointed.get(name) !== holder;
          return isBarred ? undefined : this.#boardOf(name).acquire(name, holder, leaseMs);
        }),
      renew: (...asked) => reach(() => this.#boardOf(asked[0]).renew(...asked)),
      release: (...asked) => reach(() => this.#boardOf(asked[0]).release(...asked)),
      raise: (...asked) => reach(() => this.#boardOf(asked[0]).raise(...asked)),
      watch: (name, changed) =>
        this.#watch(name, () => {
          clock.defer(() => counter.isOpen && changed());
        }),
    };
    return counter;
  }

  #boardOf(name: string): MemoryLeaseBoard {
    const board = this.#boards.get(name) ?? memoryLeaseBoard(this.#clock);
    this.#boards.set(name, board);
    return board;
  }

  readonly #watchers = new Map<string, Set<() => void>>();

  #watch(name: string, changed: () => void): () => void {
    const watchers = this.#watchers.get(name) ?? new Set();
    this.#watchers.set(name, watchers);
    watchers.add(changed);
    const unwatch = this.#boardOf(name).watch?.(name, changed);
    return () => {
      watchers.delete(changed);
      unwatch?.();
    };
  }
}
