/**
 * Lint: what is wrong with a machine before any test is run, above all what is wrong with its time.
 *
 * Reachability is found by exploring the machine, everything else in its definition. Errors and warnings
 * are meant to be mended; notes say what will be hard to test.
 */

import type { AnyStateMachine } from 'xstate';
import { reachedStates } from '../model/coverage.ts';
import { type GivenSamples, type Samples, samplesFor } from '../model/samples.ts';
import { type Explored, type LintIssue, lintedOf, type Rule } from './finding.ts';
import {
  inlineEffects,
  losingTransitions,
  lossyContext,
  unknownNames,
  unreachableStates,
  untakenEvents,
} from './structure.ts';
import {
  innerDeadlines,
  literalDelays,
  retriesOverDeadline,
  shadowedDeadlines,
  uncappedExtensions,
  untimedWaits,
} from './timing.ts';

const RULES: readonly Rule[] = [
  unknownNames,
  unreachableStates,
  losingTransitions,
  untakenEvents,
  lossyContext,
  innerDeadlines,
  retriesOverDeadline,
  shadowedDeadlines,
  uncappedExtensions,
  untimedWaits,
  literalDelays,
  inlineEffects,
];

/** Steps tried to reach every state. */
const TRIED_MAX = 4_000;

/** Rules of names come first: a machine that names a guard it has not cannot be explored. */
export function lint(machine: AnyStateMachine, given: GivenSamples = {}): LintIssue[] {
  const named = [...unknownNames(lintedOf(machine, NOWHERE))];
  if (named.some(({ level }) => level === 'error')) return named;
  const samples = samplesFor(machine, given);
  const { reached, graph } = reachedStates(machine, samples, { triedMax: TRIED_MAX });
  const begins = [...graph.roots.values()].map((key) => graph.situations.get(key)?.snapshot);
  const linted = lintedOf(machine, {
    reached,
    // Where exploring met its bound, or what is given is an example, nobody knows what is beyond.
    isWhole: graph.grew === undefined && !begins.includes(undefined) && isGivenNothing(samples),
    initialContext: begins[0]?.context,
  });
  const issues = RULES.flatMap((rule) => [...rule(linted)]);
  return begins.every((snapshot) => snapshot === undefined)
    ? [...issues.filter(({ rule }) => rule !== 'unreached-state'), notSpawned(machine)]
    : issues;
}

const NOWHERE: Explored = { reached: new Set(), isWhole: false, initialContext: undefined };

/** True where neither inputs nor events carry anything that might be another one. */
const isGivenNothing = ({ inputs, hasPayloads, learned, isInputGuessed }: Samples): boolean =>
  !isInputGuessed &&
  learned.length === 0 &&
  !hasPayloads &&
  Object.values(inputs).every((input) => input === undefined);

const notSpawned = ({ id }: AnyStateMachine): LintIssue => ({
  rule: 'not-spawned',
  level: 'note',
  where: id,
  message:
    'It throws as it is spawned with an input that was guessed, so it was not explored: give samples.inputs.',
});
