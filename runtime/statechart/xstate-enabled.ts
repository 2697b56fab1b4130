/**
 * Enabled transitions: those that a snapshot would take for an event, with its guards asked and nothing run.
 *
 * A transition is named `path|event|index`, the index being its place among the candidates of its state, so that
 * a drawing of the machine's definition finds it.
 */

import type { AnyMachineSnapshot, EventObject } from 'xstate';
import { pathOf } from './xstate-exits.ts';
import type { Transition } from './xstate-sets.ts';

/** Transition by its name, and where it leads. */
export interface EnabledTransition {
  readonly id: string;
  readonly source: string;
  /** Empty for a transition that stays where it is. */
  readonly targets: readonly string[];
  readonly hasActions: boolean;
}

/** Throws what a guard throws. */
export function enabledTransitions(
  snapshot: AnyMachineSnapshot,
  event: EventObject,
): EnabledTransition[] {
  const enabled = snapshot.machine.getTransitionData(snapshot, event) as unknown as Transition[];
  return enabled.map((transition) => {
    const { source, target, actions } = transition;
    return {
      id: nameOf(transition),
      source: pathOf(source),
      targets: (target ?? []).map(pathOf),
      hasActions: actions.length > 0,
    };
  });
}

function nameOf(transition: Transition): string {
  const { source } = transition;
  for (const [type, candidates] of [...source.transitions, ['', source.always ?? []] as const]) {
    const index = candidates.indexOf(transition);
    if (index >= 0) return `${pathOf(source)}|${type}|${index}`;
  }
  return `${pathOf(source)}||0`;
}
