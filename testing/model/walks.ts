/**
 * Walks: long random cases that prefer what was done least so far, and stop at the last millisecond before
 * a deadline half of the time.
 *
 * They find what no table of states and events can name: what only a history of many steps brings about.
 */

import { SeededRandom } from '../../simulator/world/random.ts';
import { Keys, stepsFrom } from './graph.ts';
import type { Samples } from './samples.ts';
import type { TestCase, TestStep } from './step.ts';
import type { Subject } from './subject.ts';
import { titleOf } from './tour.ts';

export interface WalkOptions {
  readonly seed: number;
  readonly stepsMax: number;
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
  { seed, stepsMax, title, quietMax = QUIET_MAX }: WalkOptions,
): Generator<TestCase> {
  const random = new SeededRandom(seed, title);
  const keys = new Keys(samples);
  const counts = new Map<string, number>();
  const inputs = Object.keys(samples.inputs);
  let quiet = 0;
  for (let number = 1; quiet < quietMax; number++) {
    const known = counts.size;
    const input = inputs[Math.floor(random.next() * inputs.length)] as string;
    subject.begin(samples.inputs[input]);
    const steps: TestStep[] = [];
    while (steps.length < stepsMax && subject.isActive) {
      const step = draw(stepsFrom(subject, samples), keys.of(subject), counts, random);
      if (step === undefined) break;
      const taken = atBoundary(step, random);
      subject.perform(taken);
      steps.push(taken);
    }
    if (steps.length > 0) yield { input, title: `${title} ${number}: ${titleOf(steps)}`, steps };
    quiet = counts.size === known ? quiet + 1 : 0;
  }
}

/** One of the steps, the likelier the less often it was taken here. */
function draw(
  steps: readonly TestStep[],
  key: string,
  counts: Map<string, number>,
  random: SeededRandom,
): TestStep | undefined {
  const names = steps.map((step) => `${key} ${JSON.stringify(step)}`);
  const weights = names.map((name) => 1 / (1 + (counts.get(name) ?? 0)) ** 2);
  let left = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, weight] of weights.entries()) {
    left -= weight;
    if (left > 0 && index < steps.length - 1) continue;
    const name = names[index] as string;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    return steps[index];
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
