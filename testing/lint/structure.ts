/** Rules about structure: what can never happen, names that stand for nothing, and what a restart would lose. */

import { findLikelyOf } from '../../runtime/base/suggestion.ts';
import { type StateDraft, type TransitionDraft, transitionLists } from '../model/definition.ts';
import type { Linted, LintIssue } from './finding.ts';

/**
 * A state to which no transition leads is an error. One that is led to and was not entered is told of as well:
 * a guard may never hold, or the samples may not be what it waits for.
 */
export function* unreachableStates({
  machine,
  states,
  reached,
  isWhole,
}: Linted): Generator<LintIssue> {
  const ledTo = statesLedTo(machine.root as unknown as Node);
  for (const state of states) {
    if (reached.has(state.id) || state.type === 'history') continue;
    // Of a branch the first one says it all.
    if (states.some((one) => isParent(one, state) && !reached.has(one.id))) continue;
    if (!ledTo.has(state.id))
      yield {
        rule: 'unreachable-state',
        level: 'error',
        where: state.id,
        message: 'No event, deadline or outcome leads here.',
      };
    else
      yield {
        rule: 'unreached-state',
        level: isWhole ? 'warning' : 'note',
        where: state.id,
        message:
          'A transition leads here, and it was never taken: a guard never holds with these samples, or something before it always wins.',
      };
  }
}

/** What of XState's StateNode is read. */
interface Node {
  readonly id: string;
  readonly type: string;
  readonly parent?: Node;
  readonly states: Readonly<Record<string, Node>>;
  readonly initial: Edge | undefined;
  readonly transitions: ReadonlyMap<string, readonly Edge[]>;
  readonly always?: readonly Edge[];
}

interface Edge {
  readonly target: readonly Node[] | undefined;
}

/** Ids of states that can be entered when every guard may hold. */
function statesLedTo(root: Node): Set<string> {
  const entered = new Set<Node>();
  const open: Node[] = [];
  const enter = (node: Node | undefined): void => {
    if (node === undefined || entered.has(node)) return;
    entered.add(node);
    open.push(node);
    enter(node.parent);
  };
  enter(root);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const edge of [
      node.initial,
      ...(node.always ?? []),
      ...[...node.transitions.values()].flat(),
    ])
      for (const target of edge?.target ?? []) enter(target);
    if (node.type === 'parallel') for (const child of Object.values(node.states)) enter(child);
  }
  return new Set([...entered].map(({ id }) => id));
}

/** A candidate behind one that is always taken. */
export function* losingTransitions({ states }: Linted): Generator<LintIssue> {
  for (const state of states) {
    for (const { cause, list } of transitionLists(state)) {
      const winner = list.findIndex(({ guard }) => guard === undefined);
      if (winner < 0 || winner === list.length - 1) continue;
      yield {
        rule: 'losing-transition',
        level: 'error',
        where: `${state.id} ${cause} (${winner + 2})`,
        message: `It never wins: (${winner + 1}) before it has no guard and is always taken.`,
      };
    }
  }
}

/** Names in the definition that no implementation has. */
export function* unknownNames({ states, draft }: Linted): Generator<LintIssue> {
  const { actions, guards, delays, actors } = draft.implementations;
  const seen = new Set<string>();
  const issue = (
    what: string,
    name: string,
    where: string,
    known: object,
  ): LintIssue | undefined => {
    if (Object.hasOwn(known, name) || name.startsWith('xstate.') || seen.has(`${what} ${name}`))
      return undefined;
    seen.add(`${what} ${name}`);
    const near = findLikelyOf(name, Object.keys(known));
    // An action or a child that a program gives later is no mistake; one that is nearly another one is.
    const isLeftToOthers = what === 'action' && near === undefined;
    if (isLeftToOthers && Object.keys(known).length === 0) return undefined;
    const meant = near === undefined ? '' : ` Did you mean "${near}"?`;
    return {
      rule: `unknown-${what}`,
      level: isLeftToOthers ? 'note' : 'error',
      where,
      message: `The ${what} "${name}" is not among those of the machine.${meant}`,
    };
  };
  for (const state of states) {
    const found: Array<LintIssue | undefined> = [];
    for (const action of [...state.entry, ...state.exit])
      found.push(...namesIn(action).map((name) => issue('action', name, state.id, actions)));
    for (const name of Object.keys(state.after))
      if (Number.isNaN(Number(name))) found.push(issue('delay', name, state.id, delays));
    for (const { src } of state.invoke)
      if (typeof src === 'string') found.push(issue('actor', src, state.id, actors));
    for (const { cause, list } of transitionLists(state)) {
      for (const transition of list) {
        const where = `${state.id} ${cause}`;
        for (const name of guardNames(transition)) found.push(issue('guard', name, where, guards));
        for (const action of transition.actions)
          found.push(...namesIn(action).map((name) => issue('action', name, where, actions)));
      }
    }
    for (const one of found) if (one !== undefined) yield one;
  }
}

/** A function in the definition that acts on the world: nobody can replace it, repeat it or see it. */
export function* inlineEffects({ states }: Linted): Generator<LintIssue> {
  const isInline = (action: unknown): boolean =>
    typeof action === 'function' && !('resolve' in action);
  const issue = (where: string): LintIssue => ({
    rule: 'inline-effect',
    level: 'note',
    where,
    message:
      'An inline function is an effect without a name: tests cannot replace it, and a restart does not repeat it.',
  });
  for (const state of states) {
    if ([...state.entry, ...state.exit].some(isInline)) yield issue(state.id);
    for (const { cause, list } of transitionLists(state))
      if (list.some(({ actions }) => actions.some(isInline))) yield issue(`${state.id} ${cause}`);
  }
}

/** Values of the context that are not themselves again after a restart. */
export function* lossyContext({ initialContext }: Linted): Generator<LintIssue> {
  const visit = function* visit(value: unknown, path: string): Generator<LintIssue> {
    const lost = lossOf(value);
    if (lost !== undefined) {
      yield {
        rule: 'lossy-context',
        level: 'error',
        where: path,
        message: `${lost} is not the same after a restart: keep JSON in contexts.`,
      };
    } else if (typeof value === 'object' && value !== null && path.split('.').length < 6) {
      for (const [key, inner] of Object.entries(value)) yield* visit(inner, `${path}.${key}`);
    }
  };
  yield* visit(initialContext, 'context');
}

/** Events that the machine raises for itself and takes nowhere. */
export function* untakenEvents({ states, draft }: Linted): Generator<LintIssue> {
  const types = new Set(states.flatMap(({ on }) => Object.keys(on)));
  const isTaken = (type: string): boolean =>
    types.has(type) ||
    [...types].some((known) => known.endsWith('*') && type.startsWith(known.slice(0, -1)));
  const raised = new Map<string, string>();
  const note = (action: unknown, where: string): void => {
    const whole = typeof action === 'string' ? draft.implementations.actions[action] : action;
    const { type, event } = (whole ?? {}) as { readonly type?: string; readonly event?: unknown };
    const name = typeof event === 'string' ? event : (event as { readonly type?: string })?.type;
    if (type === 'xstate.raise' && typeof event !== 'function' && name !== undefined)
      raised.set(name, where);
  };
  for (const state of states) {
    for (const action of [...state.entry, ...state.exit]) note(action, state.id);
    for (const { cause, list } of transitionLists(state))
      for (const { actions } of list)
        for (const action of actions) note(action, `${state.id} ${cause}`);
  }
  for (const [type, where] of raised) {
    if (isTaken(type)) continue;
    const near = findLikelyOf(type, [...types]);
    const meant = near === undefined ? '' : ` Did you mean "${near}"?`;
    yield {
      rule: 'untaken-event',
      level: 'error',
      where,
      message: `It raises "${type}", which no state takes.${meant}`,
    };
  }
}

const isParent = (one: StateDraft, state: StateDraft): boolean =>
  one.path.length === state.path.length - 1 && one.path.every((key, at) => state.path[at] === key);

function namesIn(action: unknown): string[] {
  if (typeof action === 'string') return [action];
  const { type } = (typeof action === 'object' ? action : {}) as { readonly type?: string };
  return type === undefined ? [] : [type];
}

function guardNames({ guard }: Pick<TransitionDraft, 'guard'>): string[] {
  if (typeof guard === 'string') return [guard];
  const { type, guards } = (guard ?? {}) as {
    readonly type?: string;
    readonly guards?: readonly unknown[];
  };
  if (guards !== undefined) return guards.flatMap((one) => guardNames({ guard: one }));
  return typeof guard === 'object' && type !== undefined ? [type] : [];
}

function lossOf(value: unknown): string | undefined {
  if (typeof value === 'function') return 'A function';
  if (typeof value === 'bigint' || typeof value === 'symbol') return `A ${typeof value}`;
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if ('sessionId' in value || 'toJSON' in value) {
    return value instanceof Date ? 'A Date' : undefined;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return undefined;
  return `An object of ${prototype.constructor?.name ?? 'a class'}`;
}
