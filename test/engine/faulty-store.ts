/**
 * A store that refuses groups and takes its time, in front of a real one.
 *
 * A refused group never reaches the store behind. A slow group reaches it only when it
 * is settled, so that until then nobody can read it.
 */

import type { Group, Settle, Store } from '../../runtime/ports/store.ts';
import type { SimulatedClock } from '../../simulator/world/clock.ts';
import { memoryStore } from '../../stores/memory.ts';
import { StoreInFront } from '../store-in-front.ts';

export class FaultyStore extends StoreInFront {
  /** Groups settled so far, and how many of them were refused. */
  settled = 0;
  refused = 0;
  /** Says whether the next group is refused; asked when it is about to be settled. */
  refuse: (group: Group) => Error | undefined = () => undefined;
  /** Clock tasks between the handing over and the settlement. */
  delayTasks = 1;
  readonly #clock: SimulatedClock;
  readonly #queue: Array<{ readonly group: Group; readonly settle: Settle }> = [];
  #closing: (() => void) | undefined;

  constructor(clock: SimulatedClock, behind: Store) {
    super(behind);
    this.#clock = clock;
  }

  /** Groups handed over and not settled yet. */
  get waiting(): number {
    return this.#queue.length;
  }

  override commit(group: Group, settle: Settle): void {
    this.#queue.push({ group, settle });
    if (this.#queue.length === 1) this.#wait(this.delayTasks);
  }

  override async close(): Promise<void> {
    if (this.#queue.length > 0)
      await new Promise<void>((resolve) => {
        this.#closing = resolve;
      });
    await super.close();
  }

  #wait(tasks: number): void {
    this.#clock.defer(() => (tasks > 1 ? this.#wait(tasks - 1) : this.#settleNext()));
  }

  #settleNext(): void {
    const { group, settle } = this.#queue[0] as { group: Group; settle: Settle };
    const refusal = this.refuse(group);
    const done = (error?: Error): void => {
      this.#queue.shift();
      this.settled += 1;
      if (error !== undefined) this.refused += 1;
      settle(error);
      if (this.#queue.length > 0) this.#wait(this.delayTasks);
      else this.#closing?.();
    };
    if (refusal === undefined) this.behind.commit(group, done);
    else done(refusal);
  }
}

export function faultyStore(clock: SimulatedClock, behind: Store = memoryStore()): FaultyStore {
  return new FaultyStore(clock, behind);
}

/** What a full disk says. */
export function diskFull(): Error {
  return new Error('ENOSPC: no space left on device.');
}
