/**
 * Walks: random cases, short and long ones, that prefer what was done least so far, in this situation and in
 * these states, and stop at the last millisecond before a deadline half of the time.
 *
 * They find what no table of states and events can name: what only a history of many steps brings about.
 */

import { SeededRandom } from '../../simulator/world/random.ts';
import { Keys, stepsFrom } from './graph.ts';
import { atomicIn } from './kinds.ts';
import type { Samples } from './samples.ts';
import type { TestCase, TestStep } from './step.ts';
import type { Subject } from './subject.ts';
import { titleOf } from './tour.ts';

export interface WalkOptions {
  readonly seed: number;
  /** Steps of a case: those of the first, of the second, and so on, and again from the first. */
  readonly lengths: readonly number[];
  /** Name of the walk; steps of a walk of another name are drawn apart. */
  readonly title: string;
  /** Cases in a row that did nothing new, after which it ends. Default 40. */
  readonly quietMax?: number;
}

const QUIET_MAX = 40;

/** Cases one after the other, until nothing new was done for a while. */
export function* walks(
  subject: Subject,
  samples: Samples,
  { seed, lengths, title, quietMax = QUIET_MAX }: WalkOptions,
): Generator<TestCase> {
  const random = new SeededRandom(seed, title);
  const keys = new Keys(samples);
  const counts = new Map<string, number>();
  const inputs = Object.keys(samples.inputs);
  let quiet = 0;
  for (let number = 1; quiet < quietMax; number++) {
    const known = counts.size;
    const stepsMax = lengths[(number - 1) % lengths.length] as number;
    const input = inputs[Math.floor(random.next() * inputs.length)] as string;
    subject.begin(samples.inputs[input]);
    const steps: TestStep[] = [];
    while (steps.length < stepsMax && subject.isActive) {
      const step = draw(stepsFrom(subject, samples), subject, keys, counts, random);
      if (step === undefined) break;
      const taken = atBoundary(step, random);
      subject.perform(taken);
      steps.push(taken);
    }
    if (steps.length > 0) yield { input, title: `${title} ${number}: ${titleOf(steps)}`, steps };
    quiet = counts.size === known ? quiet + 1 : 0;
  }
}

/** One of the steps, the likelier the less often it was taken here, and one of its kind in these states. */
function draw(
  steps: readonly TestStep[],
  subject: Subject,
  keys: Keys,
  counts: Map<string, number>,
  random: SeededRandom,
): TestStep | undefined {
  const key = keys.of(subject);
  const states = atomicIn(subject.snapshot).join(' ');
  const namesOf = (step: TestStep): string[] => [
    `${key} ${JSON.stringify(step)}`,
    `${states} ${step.type === 'send' ? step.event.type : step.type}`,
  ];
  const count = (name: string): number => counts.get(name) ?? 0;
  const weights = steps.map((step) => {
    const [here, kind] = namesOf(step) as [string, string];
    return 1 / ((1 + count(here)) ** 2 * (1 + count(kind)));
  });
  let left = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, weight] of weights.entries()) {
    left -= weight;
    if (left > 0 && index < steps.length - 1) continue;
    const step = steps[index] as TestStep;
    for (const name of namesOf(step)) counts.set(name, count(name) + 1);
    return step;
  }
  return undefined;
}

/** The deadline itself, the moment before it, or something in between. */
function atBoundary(step: TestStep, random: SeededRandom): TestStep {
  if (step.type !== 'advance' || step.byMs < 2) return step;
  const drawn = random.next();
  if (drawn < 0.4) return { type: 'advance', byMs: step.byMs - 1 };
  if (drawn < 0.5) return { type: 'advance', byMs: Math.ceil(step.byMs * random.next()) };
  return step;
}
