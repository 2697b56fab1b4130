/**
 * A store that settles a group before the store behind it has even seen it: the fault that the
 * crash rig and the trace must find.
 *
 * The page cache survives a killed process, so settling before LMDB's sync would go unnoticed
 * by a kill; what is lost here was never handed over.
 */

import type { Group, Settle, Store } from '../../runtime/store.ts';

const LATE_MS = 30;

export class EarlyStore implements Store {
  readonly isGroupAtomic: boolean;
  readonly #behind: Store;
  #handedOver: Promise<void> = Promise.resolve();

  constructor(behind: Store) {
    this.#behind = behind;
    this.isGroupAtomic = behind.isGroupAtomic;
  }

  commit(group: Group, settle: Settle): void {
    setImmediate(() => settle());
    // The engine changes nothing of a group that it has handed over.
    const waited = new Promise((resolve) => setTimeout(resolve, LATE_MS));
    this.#handedOver = Promise.all([this.#handedOver, waited]).then(
      () => new Promise((resolve) => this.#behind.commit(group, () => resolve())),
    );
  }

  open(place?: string): Promise<void> {
    return this.#behind.open(place);
  }

  async close(): Promise<void> {
    await this.#handedOver;
    await this.#behind.close();
  }

  fence(shard: string): number {
    return this.#behind.fence(shard);
  }

  load(address: string): string | undefined {
    return this.#behind.load(address);
  }

  entries(): ReturnType<Store['entries']> {
    return this.#behind.entries();
  }

  query(query: Parameters<Store['query']>[0]): ReturnType<Store['query']> {
    return this.#behind.query(query);
  }

  history(address: string, limit: number): readonly string[] {
    return this.#behind.history(address, limit);
  }

  undelivered(): ReturnType<Store['undelivered']> {
    return this.#behind.undelivered();
  }

  damaged(): ReturnType<Store['damaged']> {
    return this.#behind.damaged();
  }
}
