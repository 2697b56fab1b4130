/**
 * Search for the shortest test that kills a mutant: both are walked side by side, breadth first, until
 * something else is seen of one than of the other.
 *
 * Where nothing is found within the bound the mutant is equal to the machine as far as anybody has looked.
 */

import type { AnyStateMachine } from 'xstate';
import { Keys, stepsFrom } from '../model/graph.ts';
import { type Oracle, observed } from '../model/observation.ts';
import type { Samples } from '../model/samples.ts';
import type { TestCase, TestStep } from '../model/step.ts';
import { type Moment, Subject } from '../model/subject.ts';
import type { Mutant } from './mutant.ts';

export interface SearchOptions {
  readonly oracle?: Oracle;
  /** Steps tried at most. Default 4,000. */
  readonly stepsMax?: number;
}

const STEPS_MAX = 4_000;
const DEPTH_MAX = 30;

interface Pair {
  readonly input: string;
  readonly way: readonly TestStep[];
  readonly moments: readonly [Moment, Moment] | undefined;
}

/** The shortest case that tells them apart; undefined when none was found. */
export function killingTest(
  machine: AnyStateMachine,
  mutant: Mutant,
  samples: Samples,
  { oracle = 'full', stepsMax = STEPS_MAX }: SearchOptions = {},
): TestCase | undefined {
  const original = new Subject(machine);
  const other = new Subject(mutant.machine());
  const keys = new Keys(samples);
  const seen = new Set<string>();
  const pairs: Pair[] = [];
  const title = `kills ${mutant.id}`;
  const differs = (): boolean => observed(original, oracle) !== observed(other, oracle);
  const add = (input: string, way: readonly TestStep[]): void => {
    const key = `${keys.of(original)} | ${keys.of(other)} | ${lagOf(original, other)}`;
    if (seen.has(key) || way.length >= DEPTH_MAX || !original.isActive) return;
    seen.add(key);
    const [one, two] = [original.moment(), other.moment()];
    pairs.push({ input, way, moments: one && two && [one, two] });
  };
  for (const [input, value] of Object.entries(samples.inputs)) {
    original.begin(value);
    other.begin(value);
    if (differs()) return { input, title, steps: [] };
    add(input, []);
  }
  let tried = 0;
  for (const { input, way, moments } of pairs) {
    const back = (): void => {
      if (moments !== undefined) {
        original.standAt(moments[0]);
        other.standAt(moments[1]);
        return;
      }
      for (const subject of [original, other]) {
        subject.begin(samples.inputs[input]);
        for (const step of way) subject.perform(step);
      }
    };
    back();
    for (const step of stepsOf(original, other, samples)) {
      if (tried >= stepsMax) return undefined;
      tried += 1;
      back();
      original.perform(step);
      other.perform(step);
      const longer = [...way, step];
      if (differs()) return { input, title, steps: longer };
      add(input, longer);
    }
  }
  return undefined;
}

/** What may happen to the original, and the moments at which a deadline of the other one comes. */
function stepsOf(original: Subject, other: Subject, samples: Samples): TestStep[] {
  const steps = stepsFrom(original, samples);
  const moments = new Set<number>();
  for (const subject of [original, other]) {
    const due = subject.earliest?.dueAt;
    if (due === undefined) continue;
    for (const byMs of [due - 1 - subject.at, due - subject.at]) if (byMs > 0) moments.add(byMs);
  }
  for (const byMs of moments)
    if (!steps.some((step) => step.type === 'advance' && step.byMs === byMs))
      steps.push({ type: 'advance', byMs });
  return steps;
}

/** Which of their next deadlines comes first, and whether it comes in a millisecond: pairs that differ in it are not the same. */
function lagOf(original: Subject, other: Subject): string {
  const [one, two] = [original, other].map(({ earliest, at }) =>
    earliest === undefined ? undefined : earliest.dueAt - at,
  );
  if (one === undefined || two === undefined) return '';
  return `${Math.sign(one - two)} ${one <= 1} ${two <= 1}`;
}
