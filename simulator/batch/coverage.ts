/**
 * Which states and transitions of the machines the turns of runs have seen.
 *
 * A state is a node of a statechart that was active after a turn. A transition is a pair of such a
 * node and the type of the event that was taken while it was active: as many as the machines
 * declare, taken or ignored by a guard. Coverage adds up over runs and processes; what was never seen
 * can be listed by name.
 */

import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { HistoryRecord } from '../history.ts';

/** What was seen, as plain data: `kind:node` and `kind:node:event`. */
export interface Seen {
  readonly states: readonly string[];
  readonly transitions: readonly string[];
}

export class Coverage {
  readonly #nodesOf = new Map<string, Map<string, readonly string[]>>();
  readonly #states = new Set<string>();
  readonly #transitions = new Set<string>();
  /** Seen since somebody asked for news. */
  #news = { states: [] as string[], transitions: [] as string[] };
  readonly #declared: Declared;
  /** Nodes active after the last turn of each actor of this run. */
  readonly #active = new Map<string, readonly string[]>();

  constructor(machines: Readonly<Record<string, AnyStateMachine>>) {
    this.#declared = declaredBy(machines);
  }

  /** Another run begins. */
  begin(): void {
    this.#active.clear();
  }

  see(record: HistoryRecord): void {
    if (record.type !== 'turn' || record.context === undefined) return;
    const { address, kind, state, event } = record;
    for (const node of this.#active.get(address) ?? []) {
      const transition = `${kind}:${node}:${event.type}`;
      if (this.#declared.transitions.has(transition)) this.#sawTransition(transition);
    }
    const nodes = this.#nodes(kind, state);
    this.#active.set(address, nodes);
    for (const node of nodes) this.#sawState(`${kind}:${node}`);
  }

  add({ states, transitions }: Seen): void {
    for (const state of states) this.#sawState(state);
    for (const transition of transitions) this.#sawTransition(transition);
  }

  /** What was seen for the first time since this was last asked. */
  news(): Seen {
    const news = this.#news;
    this.#news = { states: [], transitions: [] };
    return news;
  }

  /** How much there is, and what of it was never seen. */
  figures() {
    const { states, transitions } = this.#declared;
    const missing = (all: ReadonlySet<string>, some: ReadonlySet<string>) =>
      [...all].filter((one) => !some.has(one)).sort();
    return {
      states: { seen: count(states, this.#states), all: states.size },
      transitions: { seen: count(transitions, this.#transitions), all: transitions.size },
      missingStates: missing(states, this.#states),
      missingTransitions: missing(transitions, this.#transitions),
    };
  }

  #sawState(state: string): void {
    if (this.#states.has(state)) return;
    this.#states.add(state);
    this.#news.states.push(state);
  }

  #sawTransition(transition: string): void {
    if (this.#transitions.has(transition)) return;
    this.#transitions.add(transition);
    this.#news.transitions.push(transition);
  }

  #nodes(kind: string, state: string): readonly string[] {
    const known = this.#nodesOf.get(kind) ?? new Map<string, readonly string[]>();
    this.#nodesOf.set(kind, known);
    const nodes = known.get(state) ?? nodesIn(state);
    known.set(state, nodes);
    return nodes;
  }
}

interface Declared {
  readonly states: ReadonlySet<string>;
  readonly transitions: ReadonlySet<string>;
}

function declaredBy(machines: Readonly<Record<string, AnyStateMachine>>): Declared {
  const states = new Set<string>();
  const transitions = new Set<string>();
  const visit = (kind: string, node: AnyStateNode): void => {
    const path = node.path.join('.');
    // The root is always active, a history node never is.
    if (node.path.length > 0 && node.type !== 'history') states.add(`${kind}:${path}`);
    for (const type of Object.keys(node.config.on ?? {}))
      transitions.add(`${kind}:${path}:${type}`);
    for (const child of Object.values(node.states)) visit(kind, child as AnyStateNode);
  };
  for (const [kind, machine] of Object.entries(machines)) visit(kind, machine.root);
  return { states, transitions };
}

function count(all: ReadonlySet<string>, some: ReadonlySet<string>): number {
  let seen = 0;
  for (const one of all) if (some.has(one)) seen += 1;
  return seen;
}

/** The paths of all nodes that are active in a state as text; the root's is empty. */
function nodesIn(state: string): readonly string[] {
  const value: unknown = state.startsWith('{') ? JSON.parse(state) : state;
  const nodes = [''];
  const visit = (path: string, below: unknown): void => {
    if (typeof below === 'string') {
      if (below !== '') nodes.push(path === '' ? below : `${path}.${below}`);
      return;
    }
    for (const [name, deeper] of Object.entries(below as object)) {
      const child = path === '' ? name : `${path}.${name}`;
      nodes.push(child);
      visit(child, deeper);
    }
  };
  visit('', value);
  return nodes;
}
