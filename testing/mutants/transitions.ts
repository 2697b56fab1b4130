/** Operators that change where a transition leads, what sets it off, and whether it is there at all. */

import type { AnyStateMachine } from 'xstate';
import { type StateDraft, type TransitionDraft, transitionLists } from '../model/definition.ts';
import { allStates, type Change, type Operator, stateAt } from './mutant.ts';

/** Transitions that are added at most: there are as many as states times events. */
const ADDED_MAX = 40;

interface Place {
  readonly state: StateDraft;
  readonly cause: string;
  readonly index: number;
  readonly transition: TransitionDraft;
  readonly size: number;
}

export function* placesIn(states: readonly StateDraft[]): Generator<Place> {
  for (const state of states) {
    for (const { cause, list } of transitionLists(state)) {
      for (const [index, transition] of list.entries())
        yield { state, cause, index, transition, size: list.length };
    }
  }
}

export const nameOf = ({ state, cause, index, size }: Place): string =>
  `${state.id} ${cause}${size > 1 ? ` (${index + 1})` : ''}`;

/** The list of transitions with that cause. */
export function listAt(state: StateDraft, wanted: string): TransitionDraft[] {
  for (const { cause, list } of transitionLists(state)) if (cause === wanted) return list;
  throw new Error(`No transitions ${wanted} in ${state.id}.`);
}

export const targetSwapped: Operator = function* swapped(draft, machine) {
  const states = allStates(draft);
  for (const place of placesIn(states)) {
    const { state, cause, index, transition } = place;
    if (transition.target === undefined) continue;
    const target = otherTarget(state, states, [transition.target].flat(), machine, cause + index);
    if (target === undefined) continue;
    yield {
      where: `${nameOf(place)} → ${target.id}`,
      make: (copy) => {
        const one = listAt(stateAt(copy, state.path), cause)[index] as TransitionDraft;
        one.target = `#${target.id}`;
      },
    };
  }
};

export const transitionRemoved: Operator = function* removed(draft) {
  for (const place of placesIn(allStates(draft))) {
    const { state, cause, index } = place;
    yield {
      where: nameOf(place),
      make: (copy) => {
        listAt(stateAt(copy, state.path), cause).splice(index, 1);
      },
    };
  }
};

export const transitionAdded: Operator = (draft, machine) => {
  const states = allStates(draft);
  const types = outsideEvents(states);
  const changes: Change[] = [];
  for (const state of states) {
    if (!isPlain(state)) continue;
    for (const type of types) {
      if (state.on[type] !== undefined) continue;
      const target = otherTarget(state, states, [], machine, type);
      if (target === undefined) continue;
      changes.push({
        where: `${state.id} on ${type} → ${target.id}`,
        make: (copy) => {
          stateAt(copy, state.path).on[type] = [{ target: `#${target.id}`, actions: [] }];
        },
      });
    }
  }
  return spread(changes, ADDED_MAX);
};

export const eventRenamed: Operator = function* renamed(draft) {
  const states = allStates(draft);
  const types = outsideEvents(states);
  for (const state of states) {
    for (const [index, type] of Object.keys(state.on).entries()) {
      if (type.startsWith('xstate.')) continue;
      const free = types.filter((other) => state.on[other] === undefined);
      const name = free[index % Math.max(1, free.length)] ?? `${type}.renamed`;
      yield {
        where: `${state.id} on ${type} → on ${name}`,
        make: (copy) => {
          const { on } = stateAt(copy, state.path);
          const list = on[type] as TransitionDraft[];
          delete on[type];
          on[name] = list;
        },
      };
    }
  }
};

export const initialChanged: Operator = function* changed(draft) {
  for (const state of allStates(draft)) {
    const { initial } = state;
    if (initial === undefined) continue;
    const others = Object.entries(state.states).filter(
      ([key, { type }]) => key !== initial.target && type !== 'history',
    );
    const other = others[0]?.[0];
    if (other === undefined) continue;
    yield {
      where: `${state.id} begins in ${other}`,
      make: (copy) => {
        const changed = stateAt(copy, state.path);
        changed.initial = { ...(changed.initial as TransitionDraft), target: other };
      },
    };
  }
};

export const historyChanged: Operator = function* changed(draft) {
  for (const state of allStates(draft)) {
    if (state.type !== 'history') continue;
    const kind = state.history === 'deep' ? 'shallow' : 'deep';
    yield {
      where: `${state.id} is ${kind}`,
      make: (copy) => {
        stateAt(copy, state.path).history = kind;
      },
    };
  }
};

export const orderSwapped: Operator = function* swapped(draft) {
  for (const state of allStates(draft)) {
    for (const { cause, list } of transitionLists(state)) {
      for (let index = 0; index + 1 < list.length; index++) {
        yield {
          where: `${state.id} ${cause} (${index + 1}) after (${index + 2})`,
          make: (copy) => {
            const copied = listAt(stateAt(copy, state.path), cause);
            const [one, two] = copied.slice(index, index + 2) as [TransitionDraft, TransitionDraft];
            copied.splice(index, 2, two, one);
          },
        };
      }
    }
  }
};

/** Events that may come from outside, wildcards left out. */
function outsideEvents(states: readonly StateDraft[]): string[] {
  const types = states.flatMap(({ on }) => Object.keys(on));
  return [...new Set(types)].filter((type) => !type.startsWith('xstate.') && !type.endsWith('*'));
}

/** A state that a transition may lead to and leave. */
const isPlain = ({ path, type }: StateDraft): boolean =>
  path.length > 0 && type !== 'history' && type !== 'final';

/** A sibling of the state, else any other one, always the same for the same place. */
function otherTarget(
  state: StateDraft,
  states: readonly StateDraft[],
  taken: readonly string[],
  machine: AnyStateMachine,
  place: string,
): StateDraft | undefined {
  const isTaken = ({ id, path }: StateDraft): boolean =>
    taken.some((target) => {
      const name = target.replace(/^[#.]/, '');
      return name === id || name === path.at(-1) || `${machine.id}.${name}` === id;
    });
  const possible = states.filter((one) => {
    if (one.path.length === 0 || one === state || one.type === 'history' || isTaken(one))
      return false;
    // A region of parallel states cannot be entered in place of its siblings.
    return parentOf(one, states)?.type !== 'parallel';
  });
  const siblings = possible.filter(
    (one) => one.path.length === state.path.length && isSibling(one, state),
  );
  const from = siblings.length > 0 ? siblings : possible;
  return from[sumOf(state.id + place) % Math.max(1, from.length)];
}

const isSibling = (one: StateDraft, other: StateDraft): boolean =>
  one.path.slice(0, -1).join('.') === other.path.slice(0, -1).join('.');

const parentOf = (state: StateDraft, states: readonly StateDraft[]): StateDraft | undefined =>
  states.find(({ path }) => path.join('.') === state.path.slice(0, -1).join('.'));

/** A number that depends on every letter. */
function sumOf(text: string): number {
  let sum = 7;
  for (const letter of text) sum = (sum * 31 + letter.charCodeAt(0)) % 1_000_003;
  return sum;
}

/** At most `max` of them, evenly spread. */
function spread<T>(all: readonly T[], max: number): T[] {
  if (all.length <= max) return [...all];
  return Array.from(
    { length: max },
    (_, index) => all[Math.floor((index * all.length) / max)] as T,
  );
}
