/**
 * A test file that plays a plan and expects that nothing breaks: red while the fault is there, a guard
 * against its return once it is mended.
 *
 * Guarantees: nothing of the plan gets into the file but as JSON.
 */

import type { Plan } from '../plan.ts';

/** `entry`: where it finds the simulator. */
export function reproductionTest(
  plan: Plan,
  invariant: string,
  entry = 'escapement/simulator',
): string {
  const title = JSON.stringify(`${invariant} holds in the plan of seed ${plan.seed}`);
  return `/**
 * Plays the smallest known plan that broke ${oneWord(invariant)}, and expects that every invariant holds.
 *
 * Written by \`escapement simulate\`. ${entry.startsWith('.') ? 'Put it into the folder test' : 'Put it beside the other tests'}; it needs nothing but this file.
 */

import { type Plan, play } from '${entry}';
import { expect, test } from 'vitest';

const plan: Plan = ${JSON.stringify(plan, null, 2)};

test(${title}, { timeout: 60_000 }, async () => {
  const { judgement } = await play(plan);
  expect(judgement.violations).toEqual([]);
});
`;
}

/** Ids of invariants are words; in a comment nothing else may stand. */
function oneWord(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]/g, '');
}
