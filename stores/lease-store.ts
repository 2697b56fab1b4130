/**
 * Lease store in memory, for nodes that share a process: tests, simulations, one machine.
 *
 * Guarantees what every lease store does for as long as the process lives; it forgets fences with
 * it, so stores that outlive the process have to know better. Watchers are told in a task of the
 * clock.
 */

import { checkFence } from '../runtime/base/fence.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import type { LeaseStore } from '../runtime/ports/lease-store.ts';

export interface MemoryLeaseStore extends LeaseStore {
  /** Takes the lease from its holder, as if it had run out; for tests. */
  revoke(name: string): void;
  /** Holder of the lease now. */
  holderOf(name: string): string | undefined;
}

export function memoryLeaseStore(clock: Clock): MemoryLeaseStore {
  return new LeaseStoreInMemory(clock);
}

interface Holding {
  readonly holder: string;
  readonly fence: number;
  readonly endsAt: number;
}

class LeaseStoreInMemory implements MemoryLeaseStore {
  readonly #clock: Clock;
  readonly #fences = new Map<string, number>();
  readonly #holdings = new Map<string, Holding>();
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async acquire(name: string, holder: string, leaseMs: number): Promise<number | undefined> {
    if (this.#find(name) !== undefined) return undefined;
    const fence = checkFence(this.#fenceOf(name) + 1);
    this.#hold(name, holder, fence, this.#clock.now() + leaseMs);
    return fence;
  }

  async renew(name: string, holder: string, fence: number, leaseMs: number): Promise<boolean> {
    if (!this.#isHeldBy(name, holder, fence)) return false;
    this.#hold(name, holder, fence, this.#clock.now() + leaseMs);
    return true;
  }

  async release(name: string, holder: string, fence: number): Promise<void> {
    if (this.#isHeldBy(name, holder, fence)) this.revoke(name);
  }

  async raise(
    name: string,
    holder: string,
    fence: number,
    atLeast: number,
  ): Promise<number | undefined> {
    const holding = this.#find(name);
    if (holding === undefined || !this.#isHeldBy(name, holder, fence)) return undefined;
    const raised = checkFence(Math.max(fence, atLeast));
    this.#hold(name, holder, raised, holding.endsAt);
    return raised;
  }

  watch(name: string, changed: () => void): () => void {
    const watchers = this.#watchers.get(name) ?? new Set();
    this.#watchers.set(name, watchers);
    // A function of its own, so that one caller may watch twice.
    const tell = () => changed();
    watchers.add(tell);
    return () => void watchers.delete(tell);
  }

  revoke(name: string): void {
    if (!this.#holdings.delete(name)) return;
    for (const tell of this.#watchers.get(name) ?? [])
      this.#clock.defer(() => {
        if (this.#watchers.get(name)?.has(tell)) tell();
      });
  }

  holderOf(name: string): string | undefined {
    return this.#find(name)?.holder;
  }

  #find(name: string): Holding | undefined {
    const holding = this.#holdings.get(name);
    return holding !== undefined && this.#clock.now() < holding.endsAt ? holding : undefined;
  }

  #isHeldBy(name: string, holder: string, fence: number): boolean {
    const holding = this.#find(name);
    return holding?.holder === holder && holding.fence === fence;
  }

  #fenceOf(name: string): number {
    return this.#fences.get(name) ?? 0;
  }

  #hold(name: string, holder: string, fence: number, endsAt: number): void {
    this.#fences.set(name, fence);
    this.#holdings.set(name, { holder, fence, endsAt });
  }
}
