/**
 * A store that hands everything to the one behind it: what tests put in front of a store changes
 * the one or two methods it is about.
 */

import type { Group, Settle, Store } from '../runtime/ports/store.ts';

export class StoreInFront implements Store {
  /** May be replaced by a store that was opened again. */
  protected behind: Store;

  constructor(behind: Store) {
    this.behind = behind;
  }

  get isGroupAtomic(): boolean {
    return this.behind.isGroupAtomic;
  }

  open(place?: string): Promise<void> {
    return this.behind.open(place);
  }

  fence(shard: string): number {
    return this.behind.fence(shard);
  }

  load(address: string): string | undefined {
    return this.behind.load(address);
  }

  rows(address: string): ReturnType<Store['rows']> {
    return this.behind.rows(address);
  }

  entry(address: string): ReturnType<Store['entry']> {
    return this.behind.entry(address);
  }

  entries(): ReturnType<Store['entries']> {
    return this.behind.entries();
  }

  query(query: Parameters<Store['query']>[0]): ReturnType<Store['query']> {
    return this.behind.query(query);
  }

  history(address: string, limit: number): readonly string[] {
    return this.behind.history(address, limit);
  }

  undelivered(): ReturnType<Store['undelivered']> {
    return this.behind.undelivered();
  }

  damaged(): ReturnType<Store['damaged']> {
    return this.behind.damaged();
  }

  commit(group: Group, settle: Settle): void {
    this.behind.commit(group, settle);
  }

  close(): Promise<void> {
    return this.behind.close();
  }
}
