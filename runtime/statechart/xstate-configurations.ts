/**
 * Configurations and plans: the parts of XState's algorithm that are kept instead of worked out at
 * every step.
 *
 * A configuration is the list of states a machine is in, in XState's order, which decides the order
 * of eventless transitions. A plan is what a microstep does in a configuration for a transition. A
 * bounded number of both is kept; beyond it they are worked out again. Only for machines without
 * history states.
 */

import type { AnyStateMachine } from 'xstate';
import { knob } from '../base/knob.ts';
import {
  allNodes,
  type Completions,
  completions,
  entrySet,
  eventlessOf,
  exitSet,
  inExitOrder,
  initialOf,
  isAtomic,
  type StateNode,
  stateValueOf,
  type Transition,
  withoutConflicts,
} from './xstate-sets.ts';

export interface Configuration {
  readonly nodes: readonly StateNode[];
  readonly value: unknown;
  readonly tags: ReadonlySet<string>;
  /** Eventless transitions of each atomic state and its ancestors, innermost first. */
  readonly eventless: ReadonlyArray<readonly Transition[]>;
  /** Every exit action, innermost first: what a machine that is done does last. */
  readonly exitActions: readonly unknown[];
  /** Choice that an event of this type may enable; undefined when nothing. */
  choice(type: string): Choice | undefined;
  readonly plans: Map<Transition, Plan>;
  /** Plans of several transitions at once, by their numbers. */
  readonly jointPlans: Map<string, Plan>;
}

/**
 * Choice of a state and those in it: what is enabled inside of it comes first, and only without that its
 * own.
 */
export interface Choice {
  readonly inside: readonly Choice[];
  readonly own: readonly Candidate[];
}

/** A transition, and the list that it alone makes. */
export interface Candidate {
  readonly guard: unknown;
  readonly alone: readonly [Transition];
}

/** Steps of a microstep, in this order. */
export interface Plan {
  readonly exitActions: readonly unknown[];
  readonly actions: readonly unknown[];
  readonly entries: readonly Entry[];
  readonly next: Configuration;
}

export interface Entry extends Completions {
  readonly actions: readonly unknown[];
  readonly invokeIds: readonly string[];
  readonly isFinal: boolean;
}

/** XState's public action creators, which plans are made of. */
interface Creators {
  spawnChild(src: never, options: never): unknown;
  stopChild(id: string): unknown;
}

const NO_NODES: readonly StateNode[] = [];
const CONFIGURATIONS_MAX = knob('configurationsMax', 2_000);
const JOINT_PLANS_MAX = knob('jointPlansMax', 200);
const CANDIDATES_MAX = knob('candidatesMax', 1_000);

export class Configurations {
  readonly hasHistory: boolean;
  readonly #root: StateNode;
  readonly #create: Creators;
  readonly #byKey = new Map<string, Configuration>();
  readonly #byNodes = new WeakMap<object, Configuration>();
  readonly #numbers = new Map<Transition, number>();
  #initialPlan: Plan | undefined;

  constructor(machine: AnyStateMachine, create: Creators) {
    this.#root = machine.root as unknown as StateNode;
    this.#create = create;
    this.hasHistory = allNodes(this.#root).some(({ type }) => type === 'history');
  }

  of(nodes: readonly StateNode[]): Configuration {
    let configuration = this.#byNodes.get(nodes);
    if (configuration === undefined) {
      configuration = this.#intern(nodes);
      this.#byNodes.set(nodes, configuration);
    }
    return configuration;
  }

  /** Plan of the first microstep: it leaves nothing, and enters the root and all that is initial in it. */
  initialPlan(): Plan {
    this.#initialPlan ??= this.#work(this.#intern(NO_NODES), [initialOf(this.#root)]);
    return this.#initialPlan;
  }

  plan(configuration: Configuration, transitions: readonly Transition[]): Plan {
    const [transition] = transitions;
    if (transition === undefined || transitions.length > 1)
      return this.#jointPlan(configuration, transitions);
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
      if (configuration.jointPlans.size < JOINT_PLANS_MAX.value)
        configuration.jointPlans.set(key, plan);
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
      choice: choices(this.#root, new Set(nodes)),
      value: stateValueOf(this.#root, new Set(nodes)),
      tags: new Set(nodes.flatMap(({ tags }) => tags)),
      eventless: nodes
        .filter(isAtomic)
        .map(eventlessOf)
        .filter(({ length }) => length > 0),
      exitActions: inExitOrder(nodes).flatMap(({ exit }) => exit),
      plans: new Map(),
      jointPlans: new Map(),
    };
    if (this.#byKey.size >= CONFIGURATIONS_MAX.value) this.#byKey.clear();
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
    const isSame =
      active.size === configuration.nodes.length &&
      configuration.nodes.every((node) => active.has(node));
    return {
      exitActions: exits.flatMap(({ exit, invoke }) => [
        ...exit,
        ...invoke.map(({ id }) => this.#create.stopChild(id)),
      ]),
      actions: taken.flatMap(({ actions }) => actions),
      entries,
      next: isSame ? configuration : this.#intern([...active]),
    };
  }

  #entry(
    node: StateNode,
    isDefault: boolean,
    active: ReadonlySet<StateNode>,
    completed: Set<StateNode>,
  ): Entry {
    const invokes = node.invoke.map((invoke) =>
      this.#create.spawnChild(
        invoke.src as never,
        { ...invoke, syncSnapshot: !!invoke.onSnapshot } as never,
      ),
    );
    const isFinal = node.type === 'final';
    const initial = isDefault && node.initial !== undefined ? node.initial.actions : [];
    return {
      actions: [...node.entry, ...invokes, ...initial],
      invokeIds: node.invoke.map(({ id }) => id),
      isFinal,
      ...(isFinal
        ? completions(node, active, completed)
        : { doneStates: [], completes: undefined }),
    };
  }
}

/** Choices that an event may enable, by its type. */
function choices(root: StateNode, active: ReadonlySet<StateNode>): Configuration['choice'] {
  const byType = new Map<string, Choice | undefined>();
  return (type) => {
    if (byType.has(type)) return byType.get(type);
    const choice = choiceOf(root, active, type);
    if (byType.size < CANDIDATES_MAX.value) byType.set(type, choice);
    return choice;
  };
}

function choiceOf(
  node: StateNode,
  active: ReadonlySet<StateNode>,
  type: string,
): Choice | undefined {
  const own = transitionsFor(node, type).map(
    (transition): Candidate => ({ guard: transition.guard, alone: [transition] }),
  );
  const inside = Object.values(node.states)
    .filter((child) => active.has(child))
    .map((child) => choiceOf(child, active, type))
    .filter((choice) => choice !== undefined);
  return own.length + inside.length === 0 ? undefined : { inside, own };
}

/** Transitions of one state: those of the exact type, then those of wildcards, the longest first. */
function transitionsFor({ transitions }: StateNode, type: string): readonly Transition[] {
  const wildcards = [...transitions.keys()]
    .filter((descriptor) => descriptor !== type && matchesDescriptor(type, descriptor))
    .sort((a, b) => b.length - a.length);
  return [
    ...(transitions.get(type) ?? []),
    ...wildcards.flatMap((descriptor) => transitions.get(descriptor) ?? []),
  ];
}

/** XState's rule: an exact type, `*`, or a prefix that ends in `.*`. */
export function matchesDescriptor(type: string, descriptor: string): boolean {
  if (descriptor === type || descriptor === '*') return true;
  if (!descriptor.endsWith('.*')) return false;
  return type === descriptor.slice(0, -2) || type.startsWith(descriptor.slice(0, -1));
}
