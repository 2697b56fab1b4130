/** Table of kills: the share of killable mutants by contender, budget, oracle, operator and machine. */

import { ORACLES, type Oracle } from '../testing/model/observation.ts';
import type { Kills } from './model-kills.ts';
import { rounded } from './rounds.ts';

/** A mutant, and who killed it when. */
export interface Judged {
  readonly machine: string;
  readonly operator: string;
  readonly id: string;
  readonly by: Readonly<Record<string, Kills>>;
  /** Oracles by which somebody, or the search, tells it from its machine. */
  readonly killableBy: readonly Oracle[];
}

export const killable = (judged: readonly Judged[], oracle: Oracle): Judged[] =>
  judged.filter(({ killableBy }) => killableBy.includes(oracle));

/** Of those that can be killed. */
export function share(
  judged: readonly Judged[],
  contender: string,
  budget: number,
  oracle: Oracle = 'full',
): number {
  const all = killable(judged, oracle);
  if (all.length === 0) return 1;
  const killed = all.filter(({ by }) => (by[contender]?.[oracle] ?? Number.NaN) <= budget);
  return rounded(killed.length / all.length);
}

export interface Row {
  readonly contender: string;
  readonly oracle: Oracle;
  readonly operator: string;
  readonly killable: number;
  /** Share of them by the number of steps. */
  readonly within: Readonly<Record<string, number>>;
}

/**
 * A row for each contender, oracle and operator, and one for all operators together. Coarse oracles of others
 * than us are judged up to the second largest budget only.
 */
export function tableOf(
  judged: readonly Judged[],
  contenders: readonly string[],
  budgets: readonly number[],
): Row[] {
  const operators = ['all', ...new Set(judged.map(({ operator }) => operator))];
  return contenders.flatMap((contender) =>
    ORACLES.flatMap((oracle) =>
      operators.map((operator) => {
        const of = judged.filter((one) => operator === 'all' || one.operator === operator);
        const isWhole = oracle === 'full' || contender === 'ours';
        const shown = isWhole ? budgets : budgets.slice(0, -1);
        const within = shown.map((budget) => [budget, share(of, contender, budget, oracle)]);
        return {
          contender,
          oracle,
          operator,
          killable: killable(of, oracle).length,
          within: Object.fromEntries(within),
        };
      }),
    ),
  );
}

/** Shares of one contender by a key of each mutant. */
export function byKey(
  judged: readonly Judged[],
  keyOf: (one: Judged) => string,
  budget: number,
): Record<string, number> {
  const keys = [...new Set(judged.map(keyOf))];
  return Object.fromEntries(
    keys.map((key) => [
      key,
      share(
        judged.filter((one) => keyOf(one) === key),
        'ours',
        budget,
      ),
    ]),
  );
}

/** Steps, per machine, after which that share of all killable mutants is killed; null where it is never reached. */
export function stepsTo(
  judged: readonly Judged[],
  contender: string,
  wanted: number,
): number | null {
  const all = killable(judged, 'full');
  const steps = all
    .map(({ by }) => by[contender]?.full ?? Number.POSITIVE_INFINITY)
    .sort((one, other) => one - other);
  const found = steps[Math.ceil(wanted * all.length) - 1];
  return found === undefined || !Number.isFinite(found) ? null : found;
}
