/**
 * Count of distinct states of a small cluster that are looked at, every one of them.
 *
 * Complete scopes only: a gate and two datacenters with one job, and what may go wrong is bounded. It
 * is a count; the time it took is a detail.
 */

import { explore } from '../test/exhaustive/explore.ts';
import { SCOPES } from '../test/exhaustive/scope.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

/** All that are looked at whole: those with both two crashes and two who die, or everything together, are too large. */
const COMPLETE = [
  'takeover',
  'crash',
  'leaderCrashes',
  'gateCrashes',
  'delays',
  'work',
  'grants',
  'dispatch',
] as const;
const QUICK = ['delays'] as const;

export const simulatorStates: Field = {
  name: 'exhaustiveStates',
  about: 'distinct states of one job, two datacenters and a gate, all looked at, none wrong',
  better: 'higher',
  goal: 1_000_000,
  stretch: 10_000_000,
  measure,
};

async function measure({ isQuick, progress }: MeasureOptions): Promise<Measured> {
  const details: Record<string, unknown> = {};
  let states = 0;
  for (const name of isQuick ? QUICK : COMPLETE) {
    const startedAt = performance.now();
    const explored = explore({ scope: SCOPES[name] });
    const seconds = (performance.now() - startedAt) / 1_000;
    if (!explored.isComplete) throw new Error(`Scope "${name}" was not looked at completely.`);
    if (explored.violations.length > 0)
      throw new Error(`Scope "${name}": ${explored.violations[0]?.invariant} was broken.`);
    states += explored.states;
    details[name] = {
      states: explored.states,
      transitions: explored.transitions,
      depth: explored.depth,
      seconds: Math.round(seconds),
    };
    progress(`  ${name}: ${explored.states} states in ${Math.round(seconds)} s`);
  }
  return { value: states, range: [states, states], rounds: 1, details, raw: {} };
}
