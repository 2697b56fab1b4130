/**
 * Leases within one process: the first to ask holds, the others wait in the order they asked.
 *
 * Guarantees, besides those of every lease: exactly one holder at a time, and none is told anything
 * inside a call that it makes itself. A holder that lost a lease asks again, behind those who wait.
 * Nothing is stored: fences of an earlier process are known only through `lastFence`.
 */

import { checkFence } from '../base/fence.ts';
import type { Lease, LeaseClaim, LeaseHolder } from '../ports/lease.ts';

export interface LocalLeaseOptions {
  /**
   * The highest fence known for a name before this process, such as the store's.
   *
   * @defaultValue always 0
   */
  readonly lastFence?: (name: string) => number;
}

export interface LocalLease extends Lease {
  /** Takes the lease from its holder and gives it to the claim that waits next; for tests. */
  expire(name: string): void;
}

export function localLease(options: LocalLeaseOptions = {}): LocalLease {
  const lastFence = options.lastFence ?? (() => 0);
  const contests = new Map<string, Contest>();
  return {
    hold(name, holder) {
      let contest = contests.get(name);
      if (contest === undefined) {
        contest = new Contest(() => lastFence(name));
        contests.set(name, contest);
      }
      return contest.enter(holder);
    },
    expire(name) {
      contests.get(name)?.expire();
    },
  };
}

/** All who want one lease. */
class Contest {
  #fence = 0;
  #held: LeaseHolder | undefined;
  readonly #waiting: LeaseHolder[] = [];
  readonly #lastFence: () => number;

  constructor(lastFence: () => number) {
    this.#lastFence = lastFence;
  }

  enter(holder: LeaseHolder): LeaseClaim {
    // A copy, so that one holder may ask twice.
    const entrant: LeaseHolder = {
      acquired: (fence) => holder.acquired(fence),
      standsBy: () => holder.standsBy(),
      lost: () => holder.lost(),
    };
    this.#queue(entrant);
    queueMicrotask(() => {
      if (this.#waiting.includes(entrant)) entrant.standsBy();
    });
    return {
      isHeld: () => this.#held === entrant,
      raise: async (fence) => {
        if (this.#held === entrant) this.#fence = checkFence(Math.max(this.#fence, fence));
        return this.#fence;
      },
      release: () => this.#leave(entrant),
    };
  }

  expire(): void {
    const loser = this.#held;
    if (loser === undefined) return;
    this.#held = undefined;
    // Told at once, and so before the next one acquires it, which is a microtask away.
    this.#queue(loser);
    loser.lost();
  }

  #queue(entrant: LeaseHolder): void {
    this.#waiting.push(entrant);
    queueMicrotask(() => this.#passOn());
  }

  #leave(entrant: LeaseHolder): void {
    const place = this.#waiting.indexOf(entrant);
    if (place >= 0) this.#waiting.splice(place, 1);
    if (this.#held !== entrant) return;
    this.#held = undefined;
    queueMicrotask(() => this.#passOn());
  }

  /** Gives the lease to the first who waits, if nobody has it. */
  #passOn(): void {
    if (this.#held !== undefined) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#held = next;
    // Asked each time: somebody outside this process may have gone further meanwhile.
    this.#fence = Math.max(this.#fence, this.#lastFence()) + 1;
    next.acquired(this.#fence);
  }
}
