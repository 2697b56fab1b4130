/**
 * Noting copy: a machine that notes which states it enters, which transitions it takes, and what its guards say.
 *
 * It behaves as the original, for each note is an action that does nothing, or stands around a guard and hands on
 * what it says.
 */

import type { AnyStateMachine } from 'xstate';
import * as XState from 'xstate';
import { draftOf, rebuild, statesIn, transitionLists } from './definition.ts';

// XState's names are taken at run time: where another version lacks one, the check of its version can still speak.
const { and } = XState;

export const MEASURES = ['states', 'transitions', 'pairs', 'guards', 'timers'] as const;
export type Measure = (typeof MEASURES)[number];

export interface Found {
  /** Names of all that there is to note, but for pairs. */
  readonly wanted: Readonly<Record<Measure, Set<string>>>;
  /** How often each was noted. */
  readonly hits: Map<string, number>;
}

/** A copy that notes what it goes through. */
export function notingCopy(machine: AnyStateMachine): {
  readonly noting: AnyStateMachine;
  readonly found: Found;
} {
  const draft = draftOf(machine);
  const wanted = Object.fromEntries(
    MEASURES.map((measure) => [measure, new Set<string>()]),
  ) as unknown as Found['wanted'];
  const hits = new Map<string, number>();
  for (const state of statesIn(draft.root)) {
    if (state.type === 'history') continue;
    wanted.states.add(state.id);
    state.entry.unshift(note(hits, state.id));
    for (const { cause, list } of transitionLists(state)) {
      for (const [index, transition] of list.entries()) {
        const name = `${state.id} ${cause}${list.length > 1 ? ` (${index + 1})` : ''}`;
        // An `always` that does nothing would be taken without end.
        if (
          cause === 'always' &&
          transition.target === undefined &&
          transition.actions.length === 0
        )
          continue;
        wanted.transitions.add(name);
        if (cause.startsWith('after ')) wanted.timers.add(name);
        transition.actions.unshift(note(hits, name));
        if (transition.guard === undefined) continue;
        for (const outcome of ['holds', 'does not hold']) wanted.guards.add(`${name} ${outcome}`);
        transition.guard = heard(transition.guard, (holds) =>
          hit(hits, `${name} ${holds ? 'holds' : 'does not hold'}`),
        );
      }
    }
  }
  return { noting: rebuild(draft), found: { wanted, hits } };
}

export const hit = (hits: Map<string, number>, name: string): void => {
  hits.set(name, (hits.get(name) ?? 0) + 1);
};

/** XState resolves the parameters of an action in the microstep that takes it: that is when it counts. */
const note = (hits: Map<string, number>, name: string): unknown => ({
  type: 'escapement.note',
  params: () => hit(hits, name),
});

interface Check {
  check(...args: unknown[]): boolean;
}

/** The guard itself, and somebody who hears what it says. */
function heard(guard: unknown, hear: (holds: boolean) => void): unknown {
  const around = and([guard as never]) as unknown as Check;
  const { check } = around;
  around.check = (...args) => {
    const holds = check(...args);
    hear(holds);
    return holds;
  };
  return around;
}
