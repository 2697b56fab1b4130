/** Issues of a machine that a person should look at, found without running a test. */

import type { AnyStateMachine } from 'xstate';
import { type Draft, draftOf, type StateDraft, statesIn } from '../model/definition.ts';

/** `error`: it does not do what it says. `warning`: it may never end, or ends at the wrong time. `note`: it is hard to follow. */
export type Level = 'error' | 'warning' | 'note';

export interface LintIssue {
  readonly rule: string;
  readonly level: Level;
  /** The state or transition, as the machine names it. */
  readonly where: string;
  readonly message: string;
}

/** What was found by exploring. */
export interface Explored {
  /** Ids of states that were entered. */
  readonly reached: ReadonlySet<string>;
  /** True where nothing was left out: no bound was met, and no event carries anything. */
  readonly isWhole: boolean;
  readonly initialContext: unknown;
}

/** What a rule looks at. */
export interface Linted extends Explored {
  readonly machine: AnyStateMachine;
  readonly draft: Draft;
  readonly states: readonly StateDraft[];
}

export type Rule = (linted: Linted) => Iterable<LintIssue>;

/** A copy of the machine to look at. */
export function lintedOf(machine: AnyStateMachine, explored: Explored): Linted {
  const draft = draftOf(machine);
  return { machine, draft, states: [...statesIn(draft.root)], ...explored };
}

/** The states around a state, from the inside out, without itself. */
export function around(state: StateDraft, states: readonly StateDraft[]): StateDraft[] {
  return state.path.map((_, index) => {
    const path = state.path.slice(0, state.path.length - 1 - index).join('.');
    return states.find((one) => one.path.join('.') === path) as StateDraft;
  });
}

/** Milliseconds of a delay where it is a number, in the definition or by its name; undefined where it is reckoned. */
export function delayMsOf(key: string, { implementations }: Draft): number | undefined {
  const delay = Number.isNaN(Number(key)) ? implementations.delays[key] : Number(key);
  return typeof delay === 'number' ? delay : undefined;
}
