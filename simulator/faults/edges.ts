/**
 * Moments at which something is due in a plan, for times that chance places next to them.
 *
 * They are reckoned from the plan alone, as if nothing went wrong: near enough, since what matters
 * is that events of a run fall together more often than chance alone would let them.
 */

import type { Chance } from '../world.ts';

const EDGE_PROBABILITY = 0.3;
/** Share of deadlines among moments next to something, where deadlines of actors are known. */
const DEADLINE_PROBABILITY = 0.5;
const JITTER_MS = [-1_000, -50, -20, -2, -1, 0, 1, 2, 20, 50, 1_000];

export class Edges {
  readonly #moments: number[] = [];
  /** Deadlines of actors, as they were in a run without faults. */
  readonly #deadlines: number[] = [];
  readonly #afterMs: readonly number[];

  /** `afterMs`: what may be due so long after anything that happens. */
  constructor(afterMs: readonly number[]) {
    this.#afterMs = afterMs;
  }

  /** Something of a plan happens then. */
  add(atMs: number): void {
    this.#moments.push(atMs, ...this.#afterMs.map((ms) => atMs + ms));
  }

  /** Something is due then. */
  addMoments(...moments: readonly number[]): void {
    this.#moments.push(...moments);
  }

  /** A deadline of an actor, known from a run without faults. */
  addDeadline(atMs: number): void {
    this.#deadlines.push(atMs);
  }

  /** A moment from `fromMs` to `untilMs`, often next to one at which something is due. */
  draw(chance: Chance, fromMs: number, untilMs: number): number {
    const isNear = chance.is(EDGE_PROBABILITY);
    const anywhere = chance.whole(fromMs, untilMs);
    const jitterMs = chance.pick(JITTER_MS);
    const isInside = (moment: number): boolean => moment >= fromMs && moment <= untilMs;
    const deadlines = this.#deadlines.filter(isInside);
    const isAtDeadline = deadlines.length > 0 && chance.is(DEADLINE_PROBABILITY);
    const inside = isAtDeadline ? deadlines : this.#moments.filter(isInside);
    if (!isNear || inside.length === 0) return anywhere;
    return Math.round(Math.min(untilMs, Math.max(fromMs, chance.pick(inside) + jitterMs)));
  }
}
