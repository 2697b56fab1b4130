/**
 * Definition of a machine, copied so that it can be changed: every transition an object in a list, every
 * list of actions a list, functions and references to logic as they are.
 *
 * `rebuild` makes a machine of it that behaves as the original does. Mutants and instruments are changes
 * to such a copy: no source is rewritten, and the user's machine stays untouched.
 */

import type { AnyStateMachine } from 'xstate';
import * as XState from 'xstate';

// XState's names are taken at run time: where another version lacks one, the check of its version can still speak.
const { createMachine } = XState;

/** A transition as it stands in a definition. */
export interface TransitionDraft {
  target?: string | readonly string[] | undefined;
  guard?: unknown;
  actions: unknown[];
  reenter?: boolean | undefined;
}

export interface InvokeDraft {
  onDone?: TransitionDraft[];
  onError?: TransitionDraft[];
  onSnapshot?: TransitionDraft[];
  readonly id?: string;
  readonly src?: unknown;
}

export interface StateDraft {
  /** Keys from the root; empty for the root itself. */
  readonly path: readonly string[];
  /** As the machine names it, usable as `#id`. */
  readonly id: string;
  type?: string;
  initial?: TransitionDraft | undefined;
  history?: string | boolean;
  on: Record<string, TransitionDraft[]>;
  after: Record<string, TransitionDraft[]>;
  always: TransitionDraft[];
  onDone: TransitionDraft[];
  invoke: InvokeDraft[];
  entry: unknown[];
  exit: unknown[];
  states: Record<string, StateDraft>;
  /** Everything else: tags, meta, output, description, route. */
  readonly rest: Readonly<Record<string, unknown>>;
}

export interface Implementations {
  actions: Record<string, unknown>;
  guards: Record<string, unknown>;
  delays: Record<string, unknown>;
  actors: Record<string, unknown>;
}

export interface Draft {
  readonly root: StateDraft;
  readonly implementations: Implementations;
}

/** What of XState's StateNode is read. */
interface Node {
  readonly id: string;
  readonly type: string;
  readonly config: Record<string, unknown>;
  readonly states: Readonly<Record<string, Node>>;
}

const READ_KEYS = new Set([
  ...['type', 'initial', 'history', 'on', 'after', 'always', 'onDone', 'invoke'],
  ...['entry', 'exit', 'states'],
]);

export function draftOf(machine: AnyStateMachine): Draft {
  const { actions, guards, delays, actors } = machine.implementations as unknown as Implementations;
  return {
    root: stateDraft(machine.root as unknown as Node, []),
    implementations: {
      actions: { ...actions },
      guards: { ...guards },
      delays: { ...delays },
      actors: { ...actors },
    },
  };
}

export function rebuild({ root, implementations }: Draft): AnyStateMachine {
  return createMachine(configOf(root) as never, implementations as never) as AnyStateMachine;
}

export function* statesIn(state: StateDraft): Generator<StateDraft> {
  yield state;
  for (const child of Object.values(state.states)) yield* statesIn(child);
}

/** Every list of transitions of a state, with what sets them off; an empty list forbids the event. */
export function* transitionLists(
  state: StateDraft,
): Generator<{ readonly cause: string; readonly list: TransitionDraft[] }> {
  for (const [type, list] of Object.entries(state.on)) yield { cause: `on ${type}`, list };
  for (const [delay, list] of Object.entries(state.after)) yield { cause: `after ${delay}`, list };
  yield { cause: 'always', list: state.always };
  yield { cause: 'onDone', list: state.onDone };
  for (const [index, { id, onDone, onError, onSnapshot }] of state.invoke.entries()) {
    const name = id ?? String(index);
    if (onDone !== undefined) yield { cause: `invoke ${name} onDone`, list: onDone };
    if (onError !== undefined) yield { cause: `invoke ${name} onError`, list: onError };
    if (onSnapshot !== undefined) yield { cause: `invoke ${name} onSnapshot`, list: onSnapshot };
  }
}

function stateDraft({ id, type, config, states }: Node, path: readonly string[]): StateDraft {
  const rest = Object.entries(config).filter(([key]) => !READ_KEYS.has(key));
  return {
    path,
    id,
    ...(config.type !== undefined && { type: config.type as string }),
    ...(type === 'history' && { type }),
    ...(config.initial !== undefined && { initial: transitions(config.initial)[0] }),
    ...(config.history !== undefined && { history: config.history as string | boolean }),
    on: lists(config.on),
    after: lists(config.after),
    always: transitions(config.always),
    onDone: transitions(config.onDone),
    invoke: asList(config.invoke).map((one) => invokeDraft(one as Record<string, unknown>)),
    entry: [...asList(config.entry)],
    exit: [...asList(config.exit)],
    states: Object.fromEntries(
      Object.entries(states).map(([key, node]) => [key, stateDraft(node, [...path, key])]),
    ),
    rest: Object.fromEntries(rest),
  };
}

function invokeDraft(config: Record<string, unknown>): InvokeDraft {
  const { onDone, onError, onSnapshot, ...rest } = config;
  return {
    ...rest,
    ...(onDone !== undefined && { onDone: transitions(onDone) }),
    ...(onError !== undefined && { onError: transitions(onError) }),
    ...(onSnapshot !== undefined && { onSnapshot: transitions(onSnapshot) }),
  };
}

const lists = (config: unknown): Record<string, TransitionDraft[]> =>
  Object.fromEntries(
    Object.entries((config ?? {}) as object).map(([key, value]) => [
      key,
      // XState takes an event without anything to do as forbidden here.
      value === undefined ? [{ actions: [] }] : transitions(value),
    ]),
  );

function transitions(config: unknown): TransitionDraft[] {
  return asList(config).map((one) => {
    if (typeof one === 'string') return { target: one, actions: [] };
    const { actions, ...rest } = one as { readonly actions?: unknown };
    return { ...rest, actions: [...asList(actions)] };
  });
}

function asList(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** The definition that the draft of a state stands for, as XState takes it. */
export function configOf(state: StateDraft): Record<string, unknown> {
  const { rest, type, initial, history, on, after, always, onDone, invoke, entry, exit, states } =
    state;
  const isFilled = (list: readonly unknown[]): boolean => list.length > 0;
  return {
    ...rest,
    ...(type !== undefined && { type }),
    ...(initial !== undefined && { initial }),
    ...(history !== undefined && { history }),
    ...(Object.keys(on).length > 0 && { on }),
    ...(Object.keys(after).length > 0 && { after }),
    ...(isFilled(always) && { always }),
    ...(isFilled(onDone) && { onDone }),
    ...(isFilled(invoke) && { invoke }),
    ...(isFilled(entry) && { entry }),
    ...(isFilled(exit) && { exit }),
    ...(Object.keys(states).length > 0 && {
      states: Object.fromEntries(
        Object.entries(states).map(([key, child]) => [key, configOf(child)]),
      ),
    }),
  };
}
