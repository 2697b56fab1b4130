/**
 * Contests for the names of a lease within this process: those who want a name, and the one who has
 * it.
 *
 * Guarantees: one holder per name; the others wait in the order they asked, and one that lost
 * asks again behind them. Each is told at most once that it stands by, and only before anything
 * else. It decides nothing about the directory: its owner calls it.
 */

import type { LeaseHolder } from '../../runtime/ports/lease.ts';

export interface Entrant {
  readonly name: string;
  readonly holder: LeaseHolder;
  /** The fence it was given last. */
  fence: number;
  isHolding: boolean;
  isTold: boolean;
}

interface Contest {
  held: Entrant | undefined;
  readonly waiting: Entrant[];
}

export class LeaseContests {
  readonly #contests = new Map<string, Contest>();
  readonly #tell: (what: () => void) => void;

  /** `tell` calls a holder and survives what it throws. */
  constructor(tell: (what: () => void) => void) {
    this.#tell = tell;
  }

  /** True when nobody waits for anything or holds anything. */
  get isEmpty(): boolean {
    return this.#contests.size === 0;
  }

  enter(name: string, holder: LeaseHolder): Entrant {
    const entrant: Entrant = { name, holder, fence: 0, isHolding: false, isTold: false };
    const contest = this.#contests.get(name) ?? { held: undefined, waiting: [] };
    this.#contests.set(name, contest);
    contest.waiting.push(entrant);
    return entrant;
  }

  leave(entrant: Entrant): void {
    const contest = this.#contests.get(entrant.name);
    if (contest === undefined) return;
    const place = contest.waiting.indexOf(entrant);
    if (place >= 0) contest.waiting.splice(place, 1);
    if (contest.held === entrant) contest.held = undefined;
    entrant.isHolding = false;
    if (contest.held === undefined && contest.waiting.length === 0) {
      this.#contests.delete(entrant.name);
    }
  }

  /** The first in line for a name that nobody has. */
  next(): Entrant | undefined {
    for (const { held, waiting } of this.#contests.values()) {
      if (held === undefined && waiting.length > 0) return waiting[0];
    }
    return undefined;
  }

  /** Gives its name to `entrant`, which is the first in line for it. */
  grant(entrant: Entrant, fence: number): void {
    const contest = this.#contests.get(entrant.name) as Contest;
    contest.waiting.shift();
    contest.held = entrant;
    entrant.fence = fence;
    entrant.isHolding = true;
    entrant.isTold = true;
    this.#tell(() => entrant.holder.acquired(fence));
  }

  /** Tells those who wait for a name that somebody has: here or, with `isElsewhere`, in another process. */
  standBy(isElsewhere: boolean): void {
    for (const { held, waiting } of [...this.#contests.values()]) {
      if (held === undefined && !isElsewhere) continue;
      for (const entrant of [...waiting]) {
        // One that was told before may leave another, or itself.
        if (entrant.isTold || !waiting.includes(entrant)) continue;
        entrant.isTold = true;
        this.#tell(() => entrant.holder.standsBy());
      }
    }
  }

  /** Takes every name from its holder. */
  loseAll(): void {
    const losers: Entrant[] = [];
    for (const contest of this.#contests.values()) {
      if (contest.held === undefined) continue;
      contest.held.isHolding = false;
      losers.push(contest.held);
      contest.waiting.push(contest.held);
      contest.held = undefined;
    }
    for (const { holder } of losers) this.#tell(() => holder.lost());
  }
}
