/**
 * A store whose commits take time, and which may die in the middle of one.
 *
 * When it dies, some records of the group under way are written and some are not: groups
 * are not atomic, records are. One whose groups are atomic writes all of them or none. Nobody hears of what was
 * written then.
 */

import type { Group, Settle } from '../../runtime/ports/store.ts';
import type { SimulatedClock } from '../../simulator/world/clock.ts';
import type { SeededRandom } from '../../simulator/world/random.ts';
import { memoryStore } from '../../stores/memory.ts';
import { StoreInFront } from '../store-in-front.ts';

export class DyingStore extends StoreInFront {
  /** Off while nobody moves the clock. */
  isSlow: boolean = true;
  readonly #isGroupAtomic: boolean;
  readonly #clock: SimulatedClock;
  readonly #random: SeededRandom;
  #underWay: Array<{ readonly group: Group; readonly settle: Settle }> = [];

  constructor(clock: SimulatedClock, random: SeededRandom, isGroupAtomic = false) {
    super(memoryStore());
    this.#isGroupAtomic = isGroupAtomic;
    this.#clock = clock;
    this.#random = random;
  }

  override get isGroupAtomic(): boolean {
    return this.#isGroupAtomic;
  }

  override commit(group: Group, settle: Settle): void {
    if (!this.isSlow) {
      this.behind.commit(group, settle);
      return;
    }
    const commit = { group, settle };
    this.#underWay.push(commit);
    const at = this.#clock.now() + Math.floor(this.#random.next() * 5);
    this.#clock.schedule(at, () => {
      if (this.#underWay[0] !== commit) return;
      this.#underWay.shift();
      this.behind.commit(group, settle);
    });
  }

  /** To be called when its process dies. */
  die(): void {
    const [first] = this.#underWay;
    if (first !== undefined) {
      const isWritten = this.#random.next() < 0.5;
      const writes = first.group.writes.filter(() =>
        this.#isGroupAtomic ? isWritten : this.#random.next() < 0.5,
      );
      this.behind.commit({ ...first.group, writes }, () => {});
    }
    this.#underWay = [];
  }
}
