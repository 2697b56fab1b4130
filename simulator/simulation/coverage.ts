/**
 * Coverage of the machines: states and transitions that the turns of runs have seen.
 *
 * A state is a node of a statechart that was active after a turn. A transition is a pair of such a
 * node and the type of the event that was taken while it was active: as many as the machines
 * declare, taken or ignored by a guard. A chart that a machine keeps in its context counts as a machine of its
 * own; of what it takes only the events are seen that its keeper takes. Coverage adds up over runs and processes; what was never seen
 * can be listed by name.
 */

import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { HistoryRecord } from '../history.ts';

/** What was seen, as plain data: `kind:node` and `kind:node:event`. */
export interface Seen {
  readonly states: readonly string[];
  readonly transitions: readonly string[];
}

/** Charts that the machine of a kind steps itself, and how its context has their states. */
export interface KeptCharts {
  readonly name: string;
  readonly machine: AnyStateMachine;
  /** States by the name of each chart, as text. */
  readonly statesIn: (context: never) => Readonly<Record<string, string>>;
  /** Which of them takes the event. */
  readonly takerOf: (event: { readonly type: string }) => unknown;
}

export class Coverage {
  readonly #nodesOf = new Map<string, Map<string, readonly string[]>>();
  readonly #states = new Set<string>();
  readonly #transitions = new Set<string>();
  /** Seen since somebody asked for news. */
  #news = { states: [] as string[], transitions: [] as string[] };
  readonly #declared: Declared;
  readonly #kept: Readonly<Record<string, KeptCharts>>;
  /** State after the last turn of each actor of this run. */
  readonly #active = new Map<string, string>();
  /** Types of events that each state of a kind has been seen to take. */
  readonly #taken = new Map<string, Map<string, Set<string>>>();

  constructor(
    machines: Readonly<Record<string, AnyStateMachine>>,
    kept: Readonly<Record<string, KeptCharts>> = {},
  ) {
    this.#declared = declaredBy(machines, kept);
    this.#kept = kept;
  }

  /** Another run begins. */
  begin(): void {
    this.#active.clear();
  }

  see(record: HistoryRecord): void {
    if (record.type !== 'turn' || record.context === undefined) return;
    const { address, kind, state, event } = record;
    this.#saw(kind, address, state, event.type);
    const kept = this.#kept[kind];
    if (kept === undefined) return;
    const taker = kept.takerOf(event);
    for (const [name, inner] of Object.entries(kept.statesIn(record.context as never)))
      this.#saw(kept.name, `${name} of ${address}`, inner, taker === name ? event.type : undefined);
  }

  #saw(kind: string, address: string, state: string, type: string | undefined): void {
    const before = this.#active.get(address);
    if (before !== undefined && type !== undefined) this.#took(kind, before, type);
    if (before === state) return;
    this.#active.set(address, state);
    this.#typesOf(kind, state);
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

  #took(kind: string, state: string, type: string): void {
    const types = this.#typesOf(kind, state);
    if (types.has(type)) return;
    types.add(type);
    for (const node of this.#nodes(kind, state)) {
      const transition = `${kind}:${node}:${type}`;
      if (this.#declared.transitions.has(transition)) this.#sawTransition(transition);
    }
  }

  /** Those that a state has been seen to take; the first time that it is seen, none. */
  #typesOf(kind: string, state: string): Set<string> {
    const states = this.#taken.get(kind) ?? new Map<string, Set<string>>();
    this.#taken.set(kind, states);
    let types = states.get(state);
    if (types === undefined) {
      types = new Set();
      states.set(state, types);
      for (const node of this.#nodes(kind, state)) this.#sawState(`${kind}:${node}`);
    }
    return types;
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

function declaredBy(
  machines: Readonly<Record<string, AnyStateMachine>>,
  kept: Readonly<Record<string, KeptCharts>>,
): Declared {
  const states = new Set<string>();
  const transitions = new Set<string>();
  const visit = (kind: string, node: AnyStateNode, seen: readonly string[] | null): void => {
    const path = node.path.join('.');
    // The root is always active, a history node never is.
    if (node.path.length > 0 && node.type !== 'history') states.add(`${kind}:${path}`);
    for (const type of Object.keys(node.config.on ?? {}))
      if (seen === null || seen.includes(type)) transitions.add(`${kind}:${path}:${type}`);
    for (const child of Object.values(node.states)) visit(kind, child as AnyStateNode, seen);
  };
  for (const [kind, machine] of Object.entries(machines)) {
    visit(kind, machine.root, null);
    const charts = kept[kind];
    if (charts !== undefined) visit(charts.name, charts.machine.root, machine.events);
  }
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
