/**
 * Shape of a machine, which is to be covered: its states, its transitions, and every state with every type
 * of event, by name.
 *
 * A transition is one entry of an `on`, an `after` or an `always`; to forbid one is an entry too.
 * A pair is a state in which the machine can be at rest, and an event type that the machine knows
 * anywhere: in most pairs the event is ignored. A state that an unguarded `always` leaves at once is
 * never at rest, so it is in no pair. Nothing is run here, and children are not looked into.
 */

import type { AnyStateMachine } from 'xstate';

/** What of XState's StateNode is read. */
export interface StateNode {
  readonly id: string;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly parent: StateNode | undefined;
  readonly states: Readonly<Record<string, StateNode>>;
  readonly transitions: ReadonlyMap<string, readonly Transition[]>;
  readonly always: readonly Transition[] | undefined;
}

/** What of XState's transition definition is read. */
export interface Transition {
  readonly source: StateNode;
  readonly eventType: string;
  readonly guard: unknown;
}

export interface Shape {
  /** By name, in the order of the chart. */
  readonly states: ReadonlyMap<string, StateNode>;
  /** The name of each, in the order of the chart. */
  readonly transitions: ReadonlyMap<Transition, string>;
  /** Event types that come from outside. */
  readonly eventTypes: readonly string[];
  /** By name. */
  readonly pairs: ReadonlyMap<string, Pair>;
}

export interface Pair {
  readonly node: StateNode;
  readonly eventType: string;
}

export const pairOf = (state: string, eventType: string): string => `${state} × ${eventType}`;

export function shapeOf(machine: AnyStateMachine): Shape {
  const nodes = [...nodesUnder(machine.root as unknown as StateNode)];
  const transitions = new Map<Transition, string>();
  const eventTypes = new Set<string>();
  for (const node of nodes) {
    for (const [descriptor, candidates] of node.transitions) {
      nameAll(transitions, `${node.id} ${wordsOf(descriptor, node)}`, candidates);
      if (isOutside(descriptor)) eventTypes.add(descriptor);
    }
    nameAll(transitions, `${node.id} always`, node.always ?? []);
  }
  const pairs = new Map<string, Pair>();
  for (const node of nodes.filter(canRest))
    for (const eventType of eventTypes) pairs.set(pairOf(node.id, eventType), { node, eventType });
  const states = new Map(nodes.map((node) => [node.id, node]));
  return { states, transitions, eventTypes: [...eventTypes], pairs };
}

/** The node and all it is in, from the inside out. */
export function* lineOf(node: StateNode): Generator<StateNode> {
  for (let one: StateNode | undefined = node; one !== undefined; one = one.parent) yield one;
}

function* nodesUnder(node: StateNode): Generator<StateNode> {
  if (node.type === 'history') return;
  yield node;
  for (const child of Object.values(node.states)) yield* nodesUnder(child);
}

function nameAll(
  names: Map<Transition, string>,
  what: string,
  candidates: readonly Transition[],
): void {
  for (const [index, transition] of candidates.entries())
    names.set(transition, candidates.length === 1 ? what : `${what} (${index + 1})`);
}

function wordsOf(descriptor: string, { id }: StateNode): string {
  const after = /^xstate\.after\.(.+)$/.exec(descriptor)?.[1];
  if (after === undefined) return `on ${descriptor}`;
  return `after ${after.endsWith(`.${id}`) ? after.slice(0, -id.length - 1) : after}`;
}

/** Wildcards stand for types that only the plan of a machine knows. */
function isOutside(descriptor: string): boolean {
  return !descriptor.startsWith('xstate.') && !descriptor.endsWith('*');
}

function canRest(node: StateNode): boolean {
  return [...lineOf(node)].every((one) => !isLeftAtOnce(one)) && hasRest(node);
}

const isLeftAtOnce = ({ always = [] }: StateNode): boolean =>
  always.some(({ guard }) => guard === undefined);

/** Whether there is anything below it to be at rest in. */
function hasRest(node: StateNode): boolean {
  if (isLeftAtOnce(node)) return false;
  const below = Object.values(node.states).filter(({ type }) => type !== 'history');
  if (below.length === 0) return true;
  return node.type === 'parallel' ? below.every(hasRest) : below.some(hasRest);
}
