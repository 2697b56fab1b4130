/**
 * A store whose commits take time, and which may die in the middle of one.
 *
 * When it dies, some records of the group under way are written and some are not: groups
 * are not atomic, records are. Nobody hears of what was written then.
 */

import type { Group, Settle, Store } from '../../runtime/store.ts';
import type { SimulatedClock } from '../../simulator/clock.ts';
import type { SeededRandom } from '../../simulator/random.ts';
import { memoryStore } from '../../stores/memory.ts';

export class DyingStore implements Store {
  readonly isGroupAtomic = false;
  /** Off while nobody moves the clock. */
  isSlow: boolean = true;
  readonly #inner = memoryStore();
  readonly #clock: SimulatedClock;
  readonly #random: SeededRandom;
  #underWay: Array<{ readonly group: Group; readonly settle: Settle }> = [];

  constructor(clock: SimulatedClock, random: SeededRandom) {
    this.#clock = clock;
    this.#random = random;
  }

  commit(group: Group, settle: Settle): void {
    if (!this.isSlow) {
      this.#inner.commit(group, settle);
      return;
    }
    const commit = { group, settle };
    this.#underWay.push(commit);
    const at = this.#clock.now() + Math.floor(this.#random.next() * 5);
    this.#clock.schedule(at, () => {
      if (this.#underWay[0] !== commit) return;
      this.#underWay.shift();
      this.#inner.commit(group, settle);
    });
  }

  /** To be called when its process dies. */
  die(): void {
    const [first] = this.#underWay;
    if (first !== undefined) {
      const writes = first.group.writes.filter(() => this.#random.next() < 0.5);
      this.#inner.commit({ ...first.group, writes }, () => {});
    }
    this.#underWay = [];
  }

  open(): Promise<void> {
    return this.#inner.open();
  }

  damaged(): ReturnType<Store['damaged']> {
    return this.#inner.damaged();
  }

  fence(shard: string): number {
    return this.#inner.fence(shard);
  }

  load(address: string): string | undefined {
    return this.#inner.load(address);
  }

  entries(): ReturnType<Store['entries']> {
    return this.#inner.entries();
  }

  query(query: Parameters<Store['query']>[0]): ReturnType<Store['query']> {
    return this.#inner.query(query);
  }

  history(address: string, limit: number): readonly string[] {
    return this.#inner.history(address, limit);
  }

  undelivered(): ReturnType<Store['undelivered']> {
    return this.#inner.undelivered();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
