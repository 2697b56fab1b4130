/** Operators that change what is done on the way: actions of transitions, entries and exits, and assignments. */

import * as XState from 'xstate';
import type { Draft, StateDraft, TransitionDraft } from '../model/definition.ts';
import { allStates, type Change, type Operator, stateAt } from './mutant.ts';
import { listAt, nameOf, placesIn } from './transitions.ts';

// XState's names are taken at run time: where another version lacks one, the check of its version can still speak.
const { assign } = XState;

interface ActionList {
  readonly where: string;
  readonly size: number;
  in(draft: Draft): unknown[];
  readonly of: readonly unknown[];
}

function* actionLists(states: readonly StateDraft[]): Generator<ActionList> {
  for (const state of states) {
    for (const what of ['entry', 'exit'] as const)
      yield {
        where: `${state.id} ${what}`,
        size: state[what].length,
        of: state[what],
        in: (draft) => stateAt(draft, state.path)[what],
      };
  }
  for (const place of placesIn(states)) {
    const { state, cause, index, transition } = place;
    yield {
      where: nameOf(place),
      size: transition.actions.length,
      of: transition.actions,
      in: (draft) => (listAt(stateAt(draft, state.path), cause)[index] as TransitionDraft).actions,
    };
  }
}

export const actionRemoved: Operator = (draft) =>
  eachAction(draft, (actions, index) => actions.splice(index, 1));

export const actionDoubled: Operator = (draft) =>
  eachAction(draft, (actions, index) => actions.splice(index, 0, actions[index]));

/** All of an entry or an exit of more than one action; of one, `actionRemoved` does the same. */
export const entryDropped: Operator = function* dropped(draft) {
  for (const list of actionLists(allStates(draft))) {
    if (list.size < 2 || !/ (entry|exit)$/.test(list.where)) continue;
    yield { where: list.where, make: (copy) => list.in(copy).splice(0) };
  }
};

/** The first number that an assignment changes comes out one higher. */
export const assignedOffByOne: Operator = function* offByOne(draft) {
  for (const list of actionLists(allStates(draft))) {
    for (const [index, action] of list.of.entries()) {
      if (!isAssign(resolved(action, draft))) continue;
      yield {
        where: `${list.where}: ${actionName(action, index)}`,
        make: (copy) => {
          list.in(copy)[index] = oneHigher(action, resolved(action, copy) as AssignAction);
        },
      };
    }
  }
};

interface AssignAction {
  readonly type: string;
  readonly assignment: unknown;
}

type Args = { readonly context: Record<string, unknown> };

/** An action, or what its name stands for. */
function resolved(action: unknown, { implementations: { actions } }: Draft): unknown {
  const name = typeof action === 'string' ? action : (action as { readonly type?: string }).type;
  return typeof action === 'function' ? action : actions[name as string];
}

const isAssign = (action: unknown): boolean =>
  typeof action === 'function' && (action as unknown as AssignAction).type === 'xstate.assign';

function oneHigher(action: unknown, { assignment }: AssignAction): unknown {
  const { params } = (typeof action === 'object' ? action : {}) as { readonly params?: unknown };
  return assign((args: Args) => {
    const given = typeof params === 'function' ? params(args) : params;
    const changes = assigned(assignment, args, given);
    for (const [key, value] of Object.entries(changes)) {
      if (typeof value === 'number') return { ...changes, [key]: value + 1 };
    }
    return changes;
  });
}

function assigned(assignment: unknown, args: Args, params: unknown): Record<string, unknown> {
  if (typeof assignment === 'function') return assignment(args, params);
  const entries = Object.entries(assignment as object).map(([key, value]) => [
    key,
    typeof value === 'function' ? value(args, params) : value,
  ]);
  return Object.fromEntries(entries);
}

function* eachAction(
  draft: Draft,
  change: (actions: unknown[], index: number) => void,
): Generator<Change> {
  for (const list of actionLists(allStates(draft))) {
    for (const [index, action] of list.of.entries())
      yield {
        where: `${list.where}: ${actionName(action, index)}`,
        make: (copy) => change(list.in(copy), index),
      };
  }
}

function actionName(action: unknown, index: number): string {
  if (typeof action === 'string') return action;
  const { type, name } = action as { readonly type?: string; readonly name?: string };
  return `${type ?? name ?? 'action'} ${index + 1}`;
}
