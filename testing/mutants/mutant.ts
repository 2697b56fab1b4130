/** Mutant: a machine that differs from the original in one place, and what that place is. */

import type { AnyStateMachine } from 'xstate';
import { type Draft, draftOf, rebuild, type StateDraft, statesIn } from '../model/definition.ts';

export interface Mutant {
  /** The same for the same machine: operator and place. */
  readonly id: string;
  readonly operator: string;
  readonly where: string;
  machine(): AnyStateMachine;
  /** A draft of the machine with the change made. */
  draft(): Draft;
}

/** A change that an operator can make to a draft, found on one copy and made on another. */
export interface Change {
  readonly where: string;
  make(draft: Draft): void;
}

export type Operator = (draft: Draft, machine: AnyStateMachine) => Iterable<Change>;

/** The same state of another draft of the same machine. */
export function stateAt({ root }: Draft, path: readonly string[]): StateDraft {
  let state = root;
  for (const key of path) state = state.states[key] as StateDraft;
  return state;
}

export const allStates = ({ root }: Draft): StateDraft[] => [...statesIn(root)];

export function mutantsBy(
  operators: Readonly<Record<string, Operator>>,
  machine: AnyStateMachine,
): Mutant[] {
  const mutants: Mutant[] = [];
  for (const [operator, changesOf] of Object.entries(operators)) {
    for (const { where, make } of changesOf(draftOf(machine), machine)) {
      const draft = (): Draft => {
        const changed = draftOf(machine);
        make(changed);
        return changed;
      };
      const id = `${operator}: ${where}`;
      mutants.push({ id, operator, where, draft, machine: () => rebuild(draft()) });
    }
  }
  return mutants;
}
