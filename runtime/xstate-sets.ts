/**
 * Which states a transition leaves and enters: XState's SCXML algorithm, once per
 * configuration and transition, for machines without history states.
 *
 * A configuration is the list of states a machine is in, in XState's order, which
 * decides the order of eventless transitions. Both configurations and plans are kept,
 * a bounded number of them; beyond it they are worked out anew.
 */

import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';

/** What of XState's StateNode is read (private). */
export interface StateNode {
  readonly id: string;
  readonly key: string;
  readonly order: number;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly parent: StateNode | undefined;
  readonly states: Record<string, StateNode>;
  readonly initial: { readonly target: readonly StateNode[]; readonly actions: readonly unknown[] };
  readonly entry: readonly unknown[];
  readonly exit: readonly unknown[];
  readonly invoke: ReadonlyArray<{ readonly id: string; readonly src: unknown; readonly onSnapshot?: unknown }>;
  readonly always: readonly Transition[] | undefined;
  readonly tags: readonly string[];
  readonly output: unknown;
}

/** What of XState's transition definition is read (private). */
export interface Transition {
  readonly source: StateNode;
  readonly target: readonly StateNode[] | undefined;
  readonly reenter: boolean;
  readonly actions: readonly unknown[];
  readonly guard: unknown;
}

export interface Configuration {
  readonly nodes: readonly StateNode[];
  readonly value: unknown;
  readonly tags: ReadonlySet<string>;
  /** For each atomic state the eventless transitions of it and its ancestors, innermost first. */
  readonly eventless: ReadonlyArray<readonly Transition[]>;
  /** Every exit action, innermost first: what a machine that is done does last. */
  readonly exitActions: readonly unknown[];
  readonly plans: Map<Transition, Plan>;
  /** For several transitions at once, by their numbers. */
  readonly jointPlans: Map<string, Plan>;
}

/** What a microstep does, in this order. */
export interface Plan {
  readonly exitActions: readonly unknown[];
  readonly actions: readonly unknown[];
  readonly entries: readonly Entry[];
  readonly next: Configuration;
}

export interface Entry {
  readonly actions: readonly unknown[];
  readonly invokeIds: readonly string[];
  /** Parents that are done by this, as the events they raise. */
  readonly doneStates: ReadonlyArray<{ readonly id: string; readonly output: unknown }>;
  /** The node whose completion ends the machine. */
  readonly completes: StateNode | undefined;
}

/** XState's public action creators, which plans are made of. */
interface Creators {
  spawnChild(src: never, options: never): unknown;
  stopChild(id: string): unknown;
}

const CONFIGURATIONS_MAX = 2_000;
const JOINT_PLANS_MAX = 200;

export class Configurations {
  readonly hasHistory: boolean;
  readonly #root: StateNode;
  readonly #create: Creators;
  readonly #byKey = new Map<string, Configuration>();
  readonly #byNodes = new WeakMap<object, Configuration>();
  readonly #numbers = new Map<Transition, number>();

  constructor(machine: AnyStateMachine, create: Creators) {
    this.#root = machine.root as unknown as StateNode;
    this.#create = create;
    this.hasHistory = allNodes(this.#root).some(({ type }) => type === 'history');
  }

  of(snapshot: AnyMachineSnapshot): Configuration {
    const { _nodes: nodes } = snapshot as unknown as { _nodes: readonly StateNode[] };
    let configuration = this.#byNodes.get(nodes);
    if (configuration === undefined) {
      configuration = this.#intern(nodes);
      this.#byNodes.set(nodes, configuration);
    }
    return configuration;
  }

  plan(configuration: Configuration, transitions: readonly Transition[]): Plan {
    const [transition] = transitions;
    if (transition === undefined || transitions.length > 1) return this.#jointPlan(configuration, transitions);
    let plan = configuration.plans.get(transition);
    if (plan === undefined) {
      plan = this.#work(configuration, transitions);
      configuration.plans.set(transition, plan);
    }
    return plan;
  }

  #jointPlan(configuration: Configuration, transitions: readonly Transition[]): Plan {
    const key = transitions.map((transition) => this.#numberOf(transition)).join();
    let plan = configuration.jointPlans.get(key);
    if (plan === undefined) {
      plan = this.#work(configuration, transitions);
      if (configuration.jointPlans.size < JOINT_PLANS_MAX) configuration.jointPlans.set(key, plan);
    }
    return plan;
  }

  #numberOf(transition: Transition): number {
    const number = this.#numbers.get(transition) ?? this.#numbers.size;
    this.#numbers.set(transition, number);
    return number;
  }

  #intern(nodes: readonly StateNode[]): Configuration {
    const key = nodes.map(({ order }) => order).join();
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const configuration: Configuration = {
      nodes,
      value: valueOf(this.#root, new Set(nodes)),
      tags: new Set(nodes.flatMap(({ tags }) => tags)),
      eventless: nodes.filter(isAtomic).map(eventlessOf).filter(({ length }) => length > 0),
      exitActions: inExitOrder(nodes).flatMap(({ exit }) => exit),
      plans: new Map(),
      jointPlans: new Map(),
    };
    if (this.#byKey.size >= CONFIGURATIONS_MAX) this.#byKey.clear();
    this.#byKey.set(key, configuration);
    this.#byNodes.set(nodes, configuration);
    return configuration;
  }

  #work(configuration: Configuration, transitions: readonly Transition[]): Plan {
    const active = new Set(configuration.nodes);
    const taken = withoutConflicts(transitions, active);
    const exits = inExitOrder([...exitSet(taken, active)]);
    for (const node of exits) active.delete(node);
    const { entered, byDefault } = entrySet(taken);
    const completed = new Set<StateNode>();
    const entries = [...entered]
      .sort((a, b) => a.order - b.order)
      .map((node) => {
        active.add(node);
        return this.#entry(node, byDefault.has(node), active, completed);
      });
    const isSame = active.size === configuration.nodes.length && configuration.nodes.every((node) => active.has(node));
    return {
      exitActions: exits.flatMap(({ exit, invoke }) => [...exit, ...invoke.map(({ id }) => this.#create.stopChild(id))]),
      actions: taken.flatMap(({ actions }) => actions),
      entries,
      next: isSame ? configuration : this.#intern([...active]),
    };
  }

  #entry(node: StateNode, isDefault: boolean, active: ReadonlySet<StateNode>, completed: Set<StateNode>): Entry {
    const invokes = node.invoke.map(({ src, ...options }) =>
      this.#create.spawnChild(src as never, { src, ...options, syncSnapshot: options.onSnapshot !== undefined && !!options.onSnapshot } as never),
    );
    const initial = isDefault && node.initial !== undefined ? node.initial.actions : [];
    const done = node.type === 'final' ? completions(node, active, completed) : { doneStates: [], completes: undefined };
    return { actions: [...node.entry, ...invokes, ...initial], invokeIds: node.invoke.map(({ id }) => id), ...done };
  }
}

/** Whose completion the entry of a final state brings about. */
function completions(
  node: StateNode,
  active: ReadonlySet<StateNode>,
  completed: Set<StateNode>,
): Pick<Entry, 'doneStates' | 'completes'> {
  const { parent } = node;
  const doneStates: Array<{ id: string; output: unknown }> = [];
  let ancestor = parent?.type === 'parallel' ? parent : parent?.parent;
  let completes = ancestor ?? node;
  if (parent?.type === 'compound') doneStates.push({ id: parent.id, output: node.output });
  while (ancestor?.type === 'parallel' && !completed.has(ancestor) && isFinal(ancestor, active)) {
    completed.add(ancestor);
    doneStates.push({ id: ancestor.id, output: undefined });
    completes = ancestor;
    ancestor = ancestor.parent;
  }
  return { doneStates, completes: ancestor === undefined ? completes : undefined };
}

function isFinal(node: StateNode, active: ReadonlySet<StateNode>): boolean {
  const children = Object.values(node.states);
  if (node.type === 'compound') return children.some((child) => child.type === 'final' && active.has(child));
  if (node.type === 'parallel') return children.every((child) => isFinal(child, active));
  return node.type === 'final';
}

/** Of transitions that leave the same states, the one of the inner state wins. */
function withoutConflicts(transitions: readonly Transition[], active: ReadonlySet<StateNode>): Transition[] {
  const taken = new Set<Transition>();
  for (const transition of transitions) {
    const exits = exitSet([transition], active);
    const conflicting = [...taken].filter((other) => [...exitSet([other], active)].some((node) => exits.has(node)));
    // XState stops at the first one that is not outer; what it would have replaced before then stays.
    if (conflicting.some((other) => !isDescendant(transition.source, other.source))) continue;
    for (const other of conflicting) taken.delete(other);
    taken.add(transition);
  }
  return [...taken];
}

function exitSet(transitions: readonly Transition[], active: ReadonlySet<StateNode>): Set<StateNode> {
  const exits = new Set<StateNode>();
  for (const transition of transitions) {
    if (transition.target === undefined || transition.target.length === 0) continue;
    const domain = domainOf(transition);
    if (transition.reenter && transition.source === domain) exits.add(domain);
    for (const node of active) if (isDescendant(node, domain)) exits.add(node);
  }
  return exits;
}

function entrySet(transitions: readonly Transition[]): { entered: Set<StateNode>; byDefault: Set<StateNode> } {
  const entered = new Set<StateNode>();
  const byDefault = new Set<StateNode>();
  for (const transition of transitions) {
    const { source, reenter, target = [] } = transition;
    const domain = domainOf(transition);
    for (const node of target) {
      if (source !== node || source !== domain || reenter) {
        entered.add(node);
        byDefault.add(node);
      }
      enterBelow(node, entered, byDefault);
    }
    for (const node of new Set(target)) {
      const ancestors = ancestorsOf(node, domain);
      if (domain?.type === 'parallel') ancestors.push(domain);
      enterAbove(ancestors, source.parent === undefined && reenter ? undefined : domain, entered, byDefault);
    }
  }
  return { entered, byDefault };
}

function enterBelow(node: StateNode, entered: Set<StateNode>, byDefault: Set<StateNode>): void {
  if (node.type === 'compound') {
    const initial = node.initial.target[0] as StateNode;
    entered.add(initial);
    byDefault.add(initial);
    enterBelow(initial, entered, byDefault);
    enterAbove(ancestorsOf(initial, node), undefined, entered, byDefault);
  } else if (node.type === 'parallel') {
    for (const child of Object.values(node.states)) {
      if ([...entered].some((other) => isDescendant(other, child))) continue;
      entered.add(child);
      byDefault.add(child);
      enterBelow(child, entered, byDefault);
    }
  }
}

function enterAbove(ancestors: readonly StateNode[], within: StateNode | undefined, entered: Set<StateNode>, byDefault: Set<StateNode>): void {
  for (const ancestor of ancestors) {
    if (within === undefined || isDescendant(ancestor, within)) entered.add(ancestor);
    if (ancestor.type !== 'parallel') continue;
    for (const child of Object.values(ancestor.states)) {
      if ([...entered].some((other) => isDescendant(other, child))) continue;
      entered.add(child);
      enterBelow(child, entered, byDefault);
    }
  }
}

/** The state within which a transition happens; undefined when it leaves the root itself. */
function domainOf({ source, target = [], reenter }: Transition): StateNode | undefined {
  if (!reenter && target.every((node) => node === source || isDescendant(node, source))) return source;
  const [head, ...tail] = [...new Set(target), source];
  const common = ancestorsOf(head as StateNode, undefined).find((ancestor) => tail.every((node) => isDescendant(node, ancestor)));
  if (common !== undefined) return common;
  return reenter ? undefined : rootOf(source);
}

function rootOf(node: StateNode): StateNode {
  return node.parent === undefined ? node : rootOf(node.parent);
}

function isDescendant(node: StateNode, ancestor: StateNode | undefined): boolean {
  let marker = node;
  while (marker.parent !== undefined && marker.parent !== ancestor) marker = marker.parent;
  return marker.parent === ancestor;
}

function ancestorsOf(node: StateNode, below: StateNode | undefined): StateNode[] {
  const ancestors: StateNode[] = [];
  if (node === below) return ancestors;
  for (let marker = node.parent; marker !== undefined && marker !== below; marker = marker.parent) ancestors.push(marker);
  return ancestors;
}

function inExitOrder(nodes: readonly StateNode[]): StateNode[] {
  return [...nodes].sort((a, b) => b.order - a.order);
}

function isAtomic({ type }: StateNode): boolean {
  return type === 'atomic' || type === 'final';
}

function eventlessOf(node: StateNode): Transition[] {
  return [node, ...ancestorsOf(node, undefined)].flatMap(({ always }) => always ?? []);
}

function allNodes(node: StateNode): StateNode[] {
  return [node, ...Object.values(node.states).flatMap(allNodes)];
}

function valueOf(node: StateNode, active: ReadonlySet<StateNode>): unknown {
  const children = Object.values(node.states).filter((child) => active.has(child));
  if (node.type === 'compound') {
    const [child] = children;
    if (child === undefined) return {};
    if (isAtomic(child)) return child.key;
  }
  return Object.fromEntries(children.map((child) => [child.key, valueOf(child, active)]));
}
