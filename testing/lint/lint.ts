/**
 * Lint: what is wrong with a machine before any test is run, above all what is wrong with its time.
 *
 * Reachability is found by exploring the machine, everything else in its definition. Errors and warnings
 * are meant to be mended; notes say what will be hard to test.
 */

import type { AnyStateMachine } from 'xstate';
import { coverageOf } from '../model/coverage.ts';
import type { GivenSamples } from '../model/samples.ts';
import { Suite } from '../model/suite.ts';
import { type LintIssue, lintedOf, type Rule } from './finding.ts';
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

/** Steps that may be spent on reaching every state. */
const STEPS_MAX = 50_000;

/** Rules of names come first: a machine that names a guard it has not cannot be explored. */
export function lint(machine: AnyStateMachine, given: GivenSamples = {}): LintIssue[] {
  const named = [...unknownNames(lintedOf(machine, new Set(), undefined))];
  if (named.some(({ level }) => level === 'error')) return named;
  const suite = new Suite(machine, { samples: given, phases: ['transitions'] });
  const { samples, graph } = suite;
  const { hits, shares } = coverageOf(machine, samples, suite.cases(STEPS_MAX));
  // Where exploring met its bound, nobody knows what is beyond it.
  const missing = graph.grew === undefined ? shares.states.missing : [];
  const reached = new Set([...hits.keys()].filter((name) => !missing.includes(name)));
  const [root] = graph.roots.values();
  const initial = graph.situations.get(root ?? '')?.snapshot?.context;
  const linted = lintedOf(machine, reached, initial);
  const isKnown = ({ rule, where }: LintIssue): boolean =>
    rule !== 'unreachable-state' || missing.includes(where);
  return RULES.flatMap((rule) => [...rule(linted)]).filter(isKnown);
}
