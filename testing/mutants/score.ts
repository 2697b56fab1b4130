/**
 * Score of test cases: which mutants they tell from the original, and after how many steps.
 *
 * The original is played first and what is seen of it written down; a mutant is killed by the first step
 * after which something else is seen.
 */

import type { AnyStateMachine } from 'xstate';
import { type Oracle, observed } from '../model/observation.ts';
import type { Samples } from '../model/samples.ts';
import type { TestCase } from '../model/step.ts';
import { Subject } from '../model/subject.ts';
import type { Mutant } from './mutant.ts';

/** Cases with what was seen of the original: after the beginning, and after each step. */
export interface Expected {
  readonly test: TestCase;
  readonly seen: readonly string[];
}

export function expectedOf(
  machine: AnyStateMachine,
  samples: Pick<Samples, 'inputs'>,
  cases: Iterable<TestCase>,
  oracle: Oracle,
): Expected[] {
  const subject = new Subject(machine);
  const expected: Expected[] = [];
  for (const test of cases) {
    subject.begin(samples.inputs[test.input]);
    const seen = [observed(subject, oracle)];
    for (const step of test.steps) {
      subject.perform(step);
      seen.push(observed(subject, oracle));
    }
    expected.push({ test, seen });
  }
  return expected;
}

/** The number of the step that killed it, counted over all cases; undefined when it lives. */
export function killedAfter(
  mutant: Mutant,
  samples: Pick<Samples, 'inputs'>,
  expected: readonly Expected[],
  oracle: Oracle,
): number | undefined {
  let subject: Subject;
  try {
    subject = new Subject(mutant.machine());
  } catch {
    // It is no machine at all, which building it shows.
    return 0;
  }
  let steps = 0;
  for (const { test, seen } of expected) {
    subject.begin(samples.inputs[test.input]);
    if (observed(subject, oracle) !== seen[0]) return steps;
    for (const [index, step] of test.steps.entries()) {
      subject.perform(step);
      steps += 1;
      if (observed(subject, oracle) !== seen[index + 1]) return steps;
    }
  }
  return undefined;
}
