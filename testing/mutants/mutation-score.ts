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
  readonly boundSteps: number;
}

export interface ScoreOptions {
  readonly oracle?: Oracle;
  readonly searchStepsMax?: number;
  readonly onMutant?: (looked: number, all: number) => void;
  /** Says whether the suite kills it; by default the cases given. */
  readonly kills?: (mutant: Mutant) => boolean | Promise<boolean>;
}

export async function scoreOf(
  machine: AnyStateMachine,
  samples: Samples,
  cases: Iterable<TestCase>,
  options: ScoreOptions = {},
): Promise<MutationScore> {
  const { oracle = 'full', searchStepsMax: stepsMax = 4_000, onMutant } = options;
  const mutants = mutantsOf(machine);
  const expected = options.kills === undefined ? expectedOf(machine, samples, cases, oracle) : [];
  const kills =
    options.kills ?? ((mutant) => killedAfter(mutant, samples, expected, oracle) !== undefined);
  const survivors: Survivor[] = [];
  const equivalent: string[] = [];
  let killed = 0;
  for (const [looked, mutant] of mutants.entries()) {
    onMutant?.(looked, mutants.length);
    if (await kills(mutant)) {
      killed += 1;
      continue;
    }
    const test = killingTest(machine, mutant, samples, { oracle, stepsMax });
    if (test === undefined) equivalent.push(mutant.id);
    else survivors.push({ mutant: mutant.id, test });
  }
  return {
    mutants: mutants.length,
    killed,
    killable: killed + survivors.length,
    survivors,
    equivalent,
    boundSteps: stepsMax,
  };
}
