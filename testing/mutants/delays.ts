/** Operators that change when a deadline comes: one millisecond earlier, one later, twice as late. */

import type { Draft, TransitionDraft } from '../model/definition.ts';
import { allStates, type Change, type Operator, stateAt } from './mutant.ts';

type Shift = (delayMs: number) => number;

const shifts = (shift: Shift): Operator =>
  function* shifted(draft) {
    yield* literalDelays(draft, shift);
    yield* namedDelays(draft, shift);
    yield* raisedDelays(draft, shift);
  };

export const delayShorter = shifts((delayMs) => Math.max(0, delayMs - 1));
export const delayLonger = shifts((delayMs) => delayMs + 1);
export const delayDoubled = shifts((delayMs) => delayMs * 2);

function* literalDelays(draft: Draft, shift: Shift): Generator<Change> {
  for (const state of allStates(draft)) {
    for (const key of Object.keys(state.after)) {
      if (Number.isNaN(Number(key))) continue;
      const changed = String(shift(Number(key)));
      if (changed === key) continue;
      yield {
        where: `${state.id} after ${key} → ${changed}`,
        make: (copy) => {
          const { after } = stateAt(copy, state.path);
          const list = after[key] as TransitionDraft[];
          delete after[key];
          after[changed] = [...(after[changed] ?? []), ...list];
        },
      };
    }
  }
}

function* namedDelays({ implementations: { delays } }: Draft, shift: Shift): Generator<Change> {
  for (const name of Object.keys(delays)) {
    yield {
      where: `delay ${name}`,
      make: ({ implementations }) => {
        implementations.delays[name] = shifted(implementations.delays[name], shift);
      },
    };
  }
}

/** Delays of `raise` and `sendTo`, of named actions; those of inline ones stand in the lists. */
function* raisedDelays(draft: Draft, shift: Shift): Generator<Change> {
  const { actions } = draft.implementations;
  for (const [name, action] of Object.entries(actions)) {
    if (!isDelayed(action)) continue;
    yield {
      where: `action ${name}`,
      make: ({ implementations }) => {
        implementations.actions[name] = later(action, shift);
      },
    };
  }
  for (const state of allStates(draft)) {
    for (const what of ['entry', 'exit'] as const) {
      for (const [index, action] of state[what].entries()) {
        if (!isDelayed(action)) continue;
        yield {
          where: `${state.id} ${what} ${index + 1}`,
          make: (copy) => {
            stateAt(copy, state.path)[what][index] = later(action, shift);
          },
        };
      }
    }
  }
}

interface Delayed {
  readonly delay: unknown;
}

const isDelayed = (action: unknown): action is Delayed => {
  if (typeof action !== 'function') return false;
  const { delay } = action as unknown as Delayed;
  return typeof delay === 'number' || typeof delay === 'function';
};

const later = (action: Delayed, shift: Shift): unknown =>
  Object.assign(() => {}, action, { delay: shifted(action.delay, shift) });

function shifted(delay: unknown, shift: Shift): unknown {
  if (typeof delay === 'number') return shift(delay);
  if (typeof delay !== 'function') return delay;
  return (...args: unknown[]) => shift(delay(...args));
}
