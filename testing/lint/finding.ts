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

/** What a rule looks at. */
export interface Linted {
  readonly machine: AnyStateMachine;
  readonly draft: Draft;
  readonly states: readonly StateDraft[];
  readonly initialContext: unknown;
  /** Ids of states that can be reached. */
  readonly reached: ReadonlySet<string>;
}

export type Rule = (linted: Linted) => Iterable<LintIssue>;

/** A copy of the machine to look at. */
export function lintedOf(
  machine: AnyStateMachine,
  reached: ReadonlySet<string>,
  initialContext: unknown,
): Linted {
  const draft = draftOf(machine);
  return { machine, draft, states: [...statesIn(draft.root)], reached, initialContext };
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
