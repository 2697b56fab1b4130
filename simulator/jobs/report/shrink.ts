/**
 * Shrinking: from a plan that breaks an invariant to a small one that still does.
 *
 * Guarantees: what comes out breaks the same invariant, was played, and is no larger. A try counts only
 * when the same invariant breaks; one that cannot be played counts as one that does not. How long it
 * goes on is up to the caller, who has a clock; the same plan and the same number of tries give the
 * same result.
 */

import { RuntimeError } from '../../../runtime/base/errors.ts';
import type { Violation } from '../../invariants.ts';
import type { Plan } from '../plan.ts';
import type { Run } from '../run.ts';
import type { Candidate } from './reduction.ts';
import { REDUCTIONS } from './reductions.ts';

/** Plays a plan; only what concerns the invariant has to be judged. */
export type Player = (plan: Plan) => Promise<Run>;

export interface ShrinkOptions {
  readonly play: Player;
  /** Runs at most, the first one included. Default 1,000. */
  readonly triesMax?: number;
  /** Asked before every further try. Default: until nothing gets smaller. */
  readonly mayGoOn?: () => boolean;
  /** Hears of every try. */
  readonly onTry?: (tries: number, isSmaller: boolean) => void;
}

export interface Shrunk {
  readonly plan: Plan;
  readonly violation: Violation;
  readonly tries: number;
  /** Nothing that was left to try made it smaller. */
  readonly isMinimal: boolean;
  /** Changes of the result that make the invariant hold; those that say most come first. */
  readonly passing: readonly Candidate[];
}

const TRIES_MAX = 1_000;

/** Undefined when the plan itself does not break the invariant. */
export async function shrink(
  plan: Plan,
  invariant: string,
  options: ShrinkOptions,
): Promise<Shrunk | undefined> {
  const shrinking = new Shrinking(invariant, options);
  const violation = await shrinking.violationOf(plan);
  return violation === undefined ? undefined : shrinking.shrink(plan, violation);
}

class Shrinking {
  readonly #invariant: string;
  readonly #options: ShrinkOptions;
  /** Plans that did not break it, by their text, and whether they could be played. */
  readonly #known = new Map<string, boolean>();
  #tries = 0;

  constructor(invariant: string, options: ShrinkOptions) {
    this.#invariant = invariant;
    this.#options = options;
  }

  async violationOf(plan: Plan): Promise<Violation | undefined> {
    this.#tries += 1;
    try {
      const { judgement } = await this.#options.play(plan);
      this.#known.set(JSON.stringify(plan), true);
      return judgement.violations.find(({ invariant }) => invariant === this.#invariant);
    } catch (thrown) {
      // Whatever is wrong with the simulator itself must not be taken for a plan that passes.
      if (thrown instanceof RuntimeError && thrown.code === 'SEALED') throw thrown;
      this.#known.set(JSON.stringify(plan), false);
      return undefined;
    }
  }

  async shrink(plan: Plan, violation: Violation): Promise<Shrunk> {
    let best = { plan, violation };
    let round = await this.#round(best);
    while (round.isSmaller && this.#mayGoOn) {
      best = round.best;
      round = await this.#round(best);
    }
    const passing = round.passing
      .sort((one, other) => one.rank - other.rank)
      .map(({ candidate }) => candidate);
    const isMinimal = !round.isSmaller && this.#mayGoOn;
    return { ...round.best, tries: this.#tries, isMinimal, passing };
  }

  get #mayGoOn(): boolean {
    const { triesMax = TRIES_MAX, mayGoOn } = this.#options;
    return this.#tries < triesMax && (mayGoOn?.() ?? true);
  }

  /** Every reduction once, each as long as it makes something smaller. */
  async #round(begin: Failing): Promise<Round> {
    let best = begin;
    let passing: Passing[] = [];
    for (const { rank, candidates } of REDUCTIONS) {
      for (let isSmaller = true; isSmaller; ) {
        isSmaller = false;
        for (const candidate of candidates(best.plan, best.violation)) {
          const known = this.#known.get(JSON.stringify(candidate.plan));
          if (known === true) passing.push({ candidate, rank });
          if (known !== undefined) continue;
          if (!this.#mayGoOn) return { best, passing, isSmaller: best !== begin };
          const violation = await this.violationOf(candidate.plan);
          this.#options.onTry?.(this.#tries, violation !== undefined);
          if (violation === undefined) {
            if (this.#known.get(JSON.stringify(candidate.plan)) === true)
              passing.push({ candidate, rank });
            continue;
          }
          best = { plan: candidate.plan, violation };
          // What passed differs from a plan that is not the best any more.
          passing = [];
          isSmaller = true;
          break;
        }
      }
    }
    return { best, passing, isSmaller: best !== begin };
  }
}

interface Failing {
  readonly plan: Plan;
  readonly violation: Violation;
}

interface Passing {
  readonly candidate: Candidate;
  readonly rank: number;
}

interface Round {
  readonly best: Failing;
  readonly passing: Passing[];
  readonly isSmaller: boolean;
}
