/** Operators by name: every way in which a mutant may differ from its machine. */

import type { AnyStateMachine } from 'xstate';
import { actionDoubled, actionRemoved, assignedOffByOne, entryDropped } from './actions.ts';
import { delayDoubled, delayLonger, delayShorter } from './delays.ts';
import { guardNegated, guardNever, guardRemoved } from './guards.ts';
import { type Mutant, mutantsBy, type Operator } from './mutant.ts';
import {
  eventRenamed,
  historyChanged,
  initialChanged,
  orderSwapped,
  targetSwapped,
  transitionAdded,
  transitionRemoved,
} from './transitions.ts';

export const OPERATORS: Readonly<Record<string, Operator>> = {
  targetSwapped,
  transitionRemoved,
  transitionAdded,
  eventRenamed,
  initialChanged,
  historyChanged,
  orderSwapped,
  guardNegated,
  guardRemoved,
  guardNever,
  actionRemoved,
  actionDoubled,
  entryDropped,
  assignedOffByOne,
  delayShorter,
  delayLonger,
  delayDoubled,
};

/** Those that change a moment in time. */
export const TIMING_OPERATORS: readonly string[] = ['delayShorter', 'delayLonger', 'delayDoubled'];

export function mutantsOf(machine: AnyStateMachine): Mutant[] {
  return mutantsBy(OPERATORS, machine);
}
