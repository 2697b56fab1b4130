/** Operators that change when a transition may be taken. */

import * as XState from 'xstate';
import type { TransitionDraft } from '../model/definition.ts';
import { allStates, type Operator, stateAt } from './mutant.ts';
import { listAt, nameOf, placesIn } from './transitions.ts';

// XState's names are taken at run time: where another version lacks one, the check of its version can still speak.
const { not } = XState;

const never = (): boolean => false;

function changing(change: (transition: TransitionDraft) => void): Operator {
  return function* changed(draft) {
    for (const place of placesIn(allStates(draft))) {
      const { state, cause, index, transition } = place;
      if (transition.guard === undefined) continue;
      yield {
        where: nameOf(place),
        make: (copy) => change(listAt(stateAt(copy, state.path), cause)[index] as TransitionDraft),
      };
    }
  };
}

export const guardNegated = changing((transition) => {
  transition.guard = not(transition.guard as never);
});

export const guardRemoved = changing((transition) => {
  delete transition.guard;
});

export const guardNever = changing((transition) => {
  transition.guard = never;
});
