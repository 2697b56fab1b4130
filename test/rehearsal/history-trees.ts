/**
 * Trees of states with history that a test draws, what a next release does to them, and machines of them.
 *
 * A state is known by its number whatever a release calls it, and wherever it puts it: the number is its
 * tag, and part of the events that lead there.
 */

import fc from 'fast-check';
import type { AnyStateMachine } from 'xstate';
import { type Loose, machineOf } from '../statechart/stepping.ts';

export interface Tree {
  readonly number: number;
  key: string;
  id: string | undefined;
  type: 'atomic' | 'compound' | 'parallel' | 'shallow' | 'deep';
  /** Whether it begins where its first history state leads, if it has one. */
  readonly isResumed: boolean;
  states: Tree[];
}

/** One state that differs in the next release; the numbers are taken modulo what there is. */
export interface Edit {
  readonly what: (typeof EDITS)[number];
  /** Whether it is a state of the sort that the edit matters to most, if there are any. */
  readonly isAimed: boolean;
  readonly state: number;
  readonly other: number;
}

interface Drawn {
  readonly isParallel: boolean;
  readonly isResumed: boolean;
  readonly hasId: boolean;
  /** Whether its name has a dot, which XState takes for the end of a name where it looks for an id. */
  readonly isDotted: boolean;
  readonly history: ReadonlyArray<'shallow' | 'deep'>;
  readonly states: readonly Drawn[];
}

const EDITS = [
  'rename',
  'remove',
  'move',
  'identify',
  'nest',
  'turn',
  'flip',
  'replaceByHistory',
] as const;

const AIMS: { readonly [what in Edit['what']]?: (state: Tree) => boolean } = {
  move: ({ id, type }) => id !== undefined && type === 'atomic',
  turn: ({ type }) => type === 'parallel',
  replaceByHistory: ({ type }) => type === 'atomic',
};

export const EDIT: fc.Arbitrary<Edit> = fc.record({
  what: fc.constantFrom(...EDITS),
  isAimed: fc.boolean(),
  state: fc.nat(),
  other: fc.nat(),
});

const LEAF = { id: undefined, type: 'atomic', isResumed: false, states: [] as Tree[] } as const;

const LEVELS = 3;

/** A tree of up to three levels below its root, most of whose states that have states have history, many two of it. */
export const TREE: fc.Arbitrary<Tree> = drawn(LEVELS).map((root) => {
  let number = 0;
  const made = (from: Drawn, key: string): Tree => {
    const own = number;
    number += 1;
    const states = from.states.map((state, n) => made(state, `${state.isDotted ? 's.' : 's'}${n}`));
    const histories = states.length === 0 ? [] : from.history;
    for (const [n, type] of histories.entries()) {
      states.push({ ...LEAF, number, key: `h${n}`, type, states: [] });
      number += 1;
    }
    const inner = from.isParallel ? 'parallel' : 'compound';
    const type = states.length === 0 ? 'atomic' : inner;
    const id = from.hasId ? `id${own}` : undefined;
    return { number: own, key, id, type, isResumed: from.isResumed, states };
  };
  return { ...made({ ...root, hasId: false }, 'open'), id: undefined };
});

function drawn(levels: number): fc.Arbitrary<Drawn> {
  const below = { maxLength: levels === 0 ? 0 : 3, minLength: levels === LEVELS ? 2 : 0 };
  return fc.record({
    isParallel: fc.boolean(),
    isResumed: once(4),
    hasId: once(6),
    isDotted: once(10),
    history: fc.constantFrom(
      ...([[], ['shallow'], ['deep'], ['shallow', 'deep'], ['deep', 'deep']] as const),
    ),
    states: levels === 0 ? fc.constant([]) : fc.array(drawn(levels - 1), below),
  });
}

/** True once in this many cases, and false where a case is made smaller. */
function once(cases: number): fc.Arbitrary<boolean> {
  return fc.nat(cases - 1).map((n) => n === cases - 1);
}

/** Every state of the tree, the root of it first. */
export function statesOf(tree: Tree): Tree[] {
  return [tree, ...tree.states.flatMap(statesOf)];
}

function isHistory({ type }: Tree): boolean {
  return type === 'shallow' || type === 'deep';
}

/** The tree as the next release has it. */
export function edited(tree: Tree, edits: readonly Edit[]): Tree {
  const next = structuredClone(tree);
  for (const edit of edits) apply(next, edit);
  return next;
}

function apply(root: Tree, { what, isAimed, state, other }: Edit): void {
  const all = statesOf(root);
  const fresh = Math.max(1_000, ...all.map(({ number }) => number + 1));
  const below = all.slice(1);
  const aimed = isAimed ? below.filter(AIMS[what] ?? isHistory) : [];
  const among = aimed.length > 0 ? aimed : below;
  const node = among[state % among.length] as Tree;
  const parent = all.find(({ states }) => states.includes(node)) as Tree;
  switch (what) {
    case 'rename':
      node.key += 'x';
      return;
    case 'remove':
      return take(parent, node);
    case 'move': {
      const own = statesOf(node);
      const places = all.filter((place) => place.states.length > 0 && !own.includes(place));
      const place = places[other % places.length] as Tree;
      take(parent, node);
      if (place.type === 'atomic') place.type = 'compound';
      if (place.states.some(({ key }) => key === node.key)) node.key += 'm';
      place.states.splice(isHistory(node) ? place.states.length : 0, 0, node);
      return settle(place);
    }
    case 'identify':
      node.id = node.id === undefined ? `new${node.number}` : undefined;
      return;
    case 'nest':
      if (isHistory(node)) return;
      node.states.push({ ...LEAF, number: fresh, key: 'n', states: [] });
      return settle(node);
    case 'turn':
      if (node.type === 'parallel') node.type = 'compound';
      else if (node.type === 'compound') node.type = 'parallel';
      return;
    case 'flip':
      if (isHistory(node)) node.type = node.type === 'deep' ? 'shallow' : 'deep';
      return;
    case 'replaceByHistory':
      take(parent, node);
      if (parent.type === 'atomic') return;
      parent.states.push({ ...LEAF, number: fresh, key: node.key, id: node.id, type: 'deep' });
  }
}

function take(parent: Tree, node: Tree): void {
  parent.states = parent.states.filter((state) => state !== node);
  settle(parent);
}

/** A state without any below it but history is atomic, and has no history. */
function settle(node: Tree): void {
  if (node.states.every(isHistory)) {
    node.states = [];
    node.type = 'atomic';
  } else if (node.type === 'atomic') node.type = 'compound';
}

/** `go.N` leads to the state of that number, `in.N` too, from inside its parent; `hold` leaves them all. */
export function machineWith(tree: Tree, id: string): AnyStateMachine {
  const root = `#${escaped(id)}`;
  const open = `${root}.${escaped(tree.key)}`;
  return machineOf({
    id,
    initial: tree.key,
    on: { ...Object.fromEntries(targetsOf(tree, open)), hold: '.held' },
    states: { [tree.key]: configOf(tree, open), held: {} },
  });
}

function targetsOf({ number, states }: Tree, path: string): Array<[string, string]> {
  const below = states.flatMap((state) => targetsOf(state, `${path}.${escaped(state.key)}`));
  return [[`go.${number}`, path], ...below];
}

function configOf(tree: Tree, path: string, first?: string): Loose {
  const { type, states } = tree;
  const own = { ...(tree.id === undefined ? {} : { id: tree.id }), tags: [tagOf(tree)] };
  if (isHistory(tree)) return { ...own, type: 'history', history: type, target: first };
  if (type === 'atomic') return own;
  const pathTo = ({ key }: Tree): string => `${path}.${escaped(key)}`;
  const begun = states.find((state) => !isHistory(state)) as Tree;
  const initial = (tree.isResumed && states.find(isHistory)) || begun;
  // A history state that its parent begins with needs another state to lead to at first.
  const target = initial === begun || type === 'parallel' ? undefined : pathTo(begun);
  return {
    ...own,
    ...(type === 'parallel' ? { type } : { initial: initial.key }),
    states: Object.fromEntries(
      states.map((state) => [state.key, configOf(state, pathTo(state), target)]),
    ),
    on: Object.fromEntries(states.map((state) => [`in.${state.number}`, pathTo(state)])),
  };
}

function escaped(name: string): string {
  return name.replaceAll('.', '\\.');
}

export function tagOf({ number }: Tree): string {
  return `n${number}`;
}
