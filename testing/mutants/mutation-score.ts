/** Mutation score of a suite: how many mutants it kills, and for each that lives the shortest test that would. */

import type { AnyStateMachine } from 'xstate';
import type { Oracle } from '../model/observation.ts';
import type { Samples } from '../model/samples.ts';
import type { TestCase } from '../model/step.ts';
import type { Mutant } from './mutant.ts';
import { mutantsOf } from './operators.ts';
import { expectedOf, killedAfter } from './score.ts';
import { killingTest } from './search.ts';

export interface Survivor {
  readonly mutant: string;
  readonly test: TestCase;
}

export interface MutationScore {
  readonly mutants: number;
  readonly killed: number;
  /** Those that some test can kill. */
  readonly killable: number;
  readonly survivors: readonly Survivor[];
  /** Mutants that no test within the bound tells from the machine. */
  readonly equivalent: readonly string[];
  /** Mutants that could not be put in the place of the machine; they count for nothing. */
  readonly untried: readonly string[];
  readonly boundSteps: number;
}

export interface ScoreOptions {
  readonly oracle?: Oracle;
  readonly searchStepsMax?: number;
  readonly onMutant?: (looked: number, all: number) => void;
  /** Of more mutants this number is taken, evenly from the list. Default: all. */
  readonly mutantsMax?: number;
  /** Says whether other tests than the cases given kill it; undefined where it cannot be tried. */
  readonly kills?: (mutant: Mutant) => Promise<boolean | undefined>;
  /** Mutants that are tried at the same time by other tests. Default 1. */
  readonly atOnce?: number;
}

export async function scoreOf(
  machine: AnyStateMachine,
  samples: Samples,
  cases: Iterable<TestCase>,
  options: ScoreOptions = {},
): Promise<MutationScore> {
  const { oracle = 'full', searchStepsMax: stepsMax = 4_000, onMutant } = options;
  const mutants = spread(mutantsOf(machine), options.mutantsMax);
  const expected = options.kills === undefined ? expectedOf(machine, samples, cases, oracle) : [];
  const kills = (mutant: Mutant) =>
    options.kills?.(mutant) ?? killedAfter(mutant, samples, expected, oracle) !== undefined;
  const verdicts = new Map<Mutant, boolean | undefined>();
  const waiting = mutants.values();
  const work = async (): Promise<void> => {
    for (const mutant of waiting) {
      onMutant?.(verdicts.size, mutants.length);
      verdicts.set(mutant, await kills(mutant));
    }
  };
  await Promise.all(Array.from({ length: options.atOnce ?? 1 }, work));
  const survivors: Survivor[] = [];
  const equivalent: string[] = [];
  for (const mutant of mutants.filter((one) => verdicts.get(one) === false)) {
    const test = killingTest(machine, mutant, samples, { oracle, stepsMax });
    if (test === undefined) equivalent.push(mutant.id);
    else survivors.push({ mutant: mutant.id, test });
  }
  const killed = mutants.filter((one) => verdicts.get(one) === true).length;
  return {
    mutants: mutants.length,
    killed,
    killable: killed + survivors.length,
    survivors,
    equivalent,
    untried: mutants.filter((one) => verdicts.get(one) === undefined).map(({ id }) => id),
    boundSteps: stepsMax,
  };
}

/** At most `max` of them, evenly spread: the list is in the order of operators. */
function spread<T>(all: readonly T[], max = all.length): T[] {
  if (all.length <= max) return [...all];
  return Array.from({ length: max }, (_, at) => all[Math.floor((at * all.length) / max)] as T);
}
