/**
 * Instrumented machine: the copy that is stepped in place of the user's own, which stays untouched.
 *
 * It has the same states, guards and actions, and six traps of XState less: a cycle of microsteps
 * ends with an error; a delay that nobody defined is an error and not a zero; events raised inside
 * the machine carry the turn's `at` like those from outside; a child spawned without an id is kept
 * under its own name; a stored snapshot is checked before XState sees it, in children too; the
 * memory of event types from outside is bounded.
 */

import type { AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import { RuntimeError } from '../base/errors.ts';
import { knob } from '../base/knob.ts';
import { type Collect, enqueuing } from './xstate-enqueue.ts';
import { type Recalled, recall } from './xstate-history.ts';
import { followPlans } from './xstate-plans.ts';
import { type PendingRef, takeRefs, withStoredRefs } from './xstate-refs.ts';

/** The turn under way, shared by all copies that one `Statechart` made. */
export interface Turn {
  at: number;
}

/** Part of the host that a copy may use, reached through the actor scope and the arguments of actions. */
interface Keeper {
  readonly children: { readonly nextId: string; readonly pendingRefs: PendingRef[] };
  fail(thrown: unknown): unknown;
}

interface ActionArgs {
  readonly system: Keeper;
}

type Expression<T> = T | ((args: ActionArgs, params: unknown) => T);

/** One of XState's own actions: a function that carries its data as properties (private). */
interface BuiltIn {
  readonly type: string;
  readonly resolve: unknown;
  readonly event?: Expression<EventObject>;
  readonly delay?: Expression<unknown>;
  readonly id?: unknown;
  readonly collect?: Collect;
}

interface Transition {
  actions: readonly unknown[];
}

/** Part of XState's StateNode that the copy touches (private). */
interface Node {
  readonly key: string;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly states: Record<string, Node>;
  readonly transitions: Map<string, Transition[]>;
  readonly always: Transition[] | undefined;
  readonly initial: Transition;
  entry: readonly unknown[];
  exit: readonly unknown[];
  next(snapshot: unknown, event: { readonly type: string }): unknown;
}

/** Part of XState's persisted snapshot that is checked. */
interface Persisted {
  readonly status: string;
  readonly value: unknown;
  readonly context: unknown;
  readonly historyValue?: unknown;
  readonly children: Record<string, { readonly snapshot?: { readonly status?: string } }>;
}

const STATUSES = ['active', 'done', 'error', 'stopped'];
/** Event types for which XState may remember, in each state, what they enable. */
const REMEMBERED_MAX = knob('stepsRememberedMax', 1_000);
const DONE_STATE = 'xstate.done.state.';

export function copyOf(
  machine: AnyStateMachine,
  microstepsMax: number,
  turn: Turn,
): AnyStateMachine {
  const copy = machine.provide({});
  const own =
    (machine.options as { maxIterations?: number }).maxIterations ?? Number.POSITIVE_INFINITY;
  copy.options = { ...copy.options, maxIterations: Math.min(own, microstepsMax) };
  adaptActions(copy, turn);
  followPlans(copy);
  stampEvents(copy, turn);
  keepRefs(copy);
  checkRestores(copy);
  boundMemory(copy);
  return copy;
}

function adaptActions(copy: AnyStateMachine, turn: Turn): void {
  const { actions, delays } = copy.implementations as unknown as {
    actions: Record<string, unknown>;
    delays: Record<string, Expression<unknown>>;
  };

  /** Adapts XState's own actions, and of these only what is said above. */
  function adapt(action: unknown): unknown {
    if (typeof action !== 'function' || !('resolve' in action)) return action;
    const { type, event, delay, id, collect } = action as unknown as BuiltIn;
    const changes: Record<string, unknown> = {};
    if (typeof delay === 'string' || typeof delay === 'function') {
      changes.delay = checked(delay as Parameters<typeof checked>[0]);
    }
    if (type === 'xstate.raise' && delay === undefined) changes.event = stamped(event);
    if (type === 'xstate.spawnChild' && id === undefined) {
      changes.id = ({ system }: ActionArgs) => system.children.nextId;
    }
    if (type === 'xstate.enqueueActions') Object.assign(changes, gathering(collect));
    if (Object.keys(changes).length === 0) return action;
    return Object.assign(() => {}, action, changes);
  }

  function stamped(event: BuiltIn['event']): unknown {
    if (typeof event === 'string') return event;
    return (args: ActionArgs, params: unknown) => ({
      ...(typeof event === 'function' ? event(args, params) : event),
      at: turn.at,
    });
  }

  function checked(delay: string | ((args: ActionArgs, params: unknown) => unknown)): unknown {
    const isNamed = typeof delay === 'string';
    const expression = isNamed ? (Object.hasOwn(delays, delay) ? delays[delay] : undefined) : delay;
    return (args: ActionArgs, params: unknown) => {
      const delayMs = typeof expression === 'function' ? expression(args, params) : expression;
      if (typeof delayMs === 'number') return delayMs;
      const what = isNamed ? `The delay "${delay}"` : 'A delay';
      const advice = isNamed ? ` Is it in setup({ delays }) of machine "${copy.id}"?` : '';
      const why = `${what} is ${String(delayMs)} and not a number of ms.${advice}`;
      throw args.system.fail(new RuntimeError('DELAY_INVALID', why));
    };
  }

  const gathering = enqueuing(adapt);

  for (const name of Object.keys(actions)) actions[name] = adapt(actions[name]);
  for (const node of nodesUnder(copy.root as unknown as Node)) {
    node.entry = node.entry.map(adapt);
    node.exit = node.exit.map(adapt);
    const transitions = [...[...node.transitions.values()].flat(), ...(node.always ?? [])];
    if (node.type === 'compound') transitions.push(node.initial);
    for (const transition of transitions) transition.actions = transition.actions.map(adapt);
  }
}

/** Every event descriptor that stands in a state, those with an empty transition ("ignore this here") included. */
export function descriptorsOf(machine: AnyStateMachine): readonly string[] {
  const nodes = [...nodesUnder(machine.root as unknown as Node)];
  return [...new Set(nodes.flatMap((node) => [...node.transitions.keys()]))];
}

function* nodesUnder(node: Node): Generator<Node> {
  yield node;
  for (const child of Object.values(node.states)) yield* nodesUnder(child);
}

/** XState makes the events of spawn and of completed states itself; these are the first places that see them. */
function stampEvents(copy: AnyStateMachine, turn: Turn): void {
  const select = copy.getTransitionData.bind(copy);
  copy.getTransitionData = (snapshot, event) => {
    const stampable = event as { type: string; at?: number };
    if (stampable.at === undefined && event.type.startsWith(DONE_STATE)) stampable.at = turn.at;
    return select(snapshot, event);
  };
  const { getInitialSnapshot } = copy;
  copy.getInitialSnapshot = (scope, input) =>
    getInitialSnapshot(scope, withSpawnTime(input, turn.at));
  const spawned = copy as unknown as { _getPreInitialState(...args: unknown[]): unknown };
  const begin = spawned._getPreInitialState.bind(copy);
  spawned._getPreInitialState = (scope, event, queue) => {
    (event as { at?: number }).at = turn.at;
    return begin(scope, event, queue);
  };
}

/** The moment of the spawn, visible as `input.at` and to nothing that copies or stores the input. */
function withSpawnTime(input: unknown, at: number): unknown {
  if (!isRecord(input)) return input;
  return Object.defineProperty({ ...input }, 'at', { value: at, enumerable: false });
}

/**
 * XState remembers every event type it has met, for ever, and to a wildcard any type will do.
 * Beyond a number of them it is asked through a throw-away object, to which its memory is tied.
 */
function boundMemory(copy: AnyStateMachine): void {
  const remembered = new Set<string>();
  for (const node of nodesUnder(copy.root as unknown as Node)) {
    const { next } = node;
    node.next = (snapshot, event) => {
      const { type } = event;
      if (remembered.has(type)) return next.call(node, snapshot, event);
      if (remembered.size >= REMEMBERED_MAX.value)
        return next.call(Object.create(node), snapshot, event);
      remembered.add(type);
      return next.call(node, snapshot, event);
    };
  }
}

/** XState stores a reference as an id only. */
function keepRefs(copy: AnyStateMachine): void {
  const persist = copy.getPersistedSnapshot.bind(copy);
  copy.getPersistedSnapshot = (snapshot, options) =>
    persist({ ...snapshot, context: withStoredRefs(snapshot.context) } as never, options);
}

/** An actor swallows what its logic throws at restore, so the host is told. */
function checkRestores(copy: AnyStateMachine): void {
  const restore = copy.restoreSnapshot;
  copy.restoreSnapshot = (stored, scope) => {
    try {
      const persisted = stored as unknown as Persisted;
      checkPersisted(copy, persisted);
      const historyValue = recallWhole(copy, persisted.historyValue);
      const { pendingRefs } = (scope.system as unknown as Keeper).children;
      const siblings: Record<string, unknown> = {};
      takeRefs(persisted.context, siblings, pendingRefs);
      const restored = restore({ ...stored, historyValue } as never, scope) as AnyMachineSnapshot;
      const found = restored.children as object;
      Object.assign(siblings, found);
      const lost = Object.keys(persisted.children).find((id) => !Object.hasOwn(found, id));
      if (lost !== undefined) {
        throw new Error(`child "${lost}" has a source that the machine does not know`);
      }
      return restored;
    } catch (thrown) {
      throw (scope.system as unknown as Keeper).fail(thrown);
    }
  };
}

function checkPersisted(machine: AnyStateMachine, persisted: Persisted): void {
  const { status, value, context, children } = persisted;
  if (!STATUSES.includes(status)) throw new Error(`status "${status}"`);
  if (!isRecord(context)) throw new Error('no context');
  if (!isRecord(children)) throw new Error('no children');
  for (const [id, child] of Object.entries(children)) {
    const stored = child?.snapshot?.status as string;
    if (!STATUSES.includes(stored)) throw new Error(`child "${id}" has status "${stored}"`);
  }
  checkValue(machine.root as unknown as Node, value);
}

function recallWhole(machine: AnyStateMachine, stored: unknown): Recalled['nodes'] {
  const { nodes, missing } = recall(machine, stored);
  if (missing.length === 0) return nodes;
  throw new Error(`its history names "${missing[0]}", which is no state that it can go back to`);
}

/** XState takes much for the initial state, `"__proto__"` for one: a value must name states that exist, all of them. */
function checkValue(node: Node, value: unknown): void {
  if (typeof value !== 'string' && !isRecord(value)) {
    throw new Error(`state "${node.key}" has the value ${JSON.stringify(value)}`);
  }
  const keys = typeof value === 'string' ? [value] : Object.keys(value);
  for (const key of keys) {
    const child = Object.hasOwn(node.states, key) ? node.states[key] : undefined;
    if (child === undefined || child.type === 'history') {
      throw new Error(`state "${node.key}" has no state "${key}"`);
    }
    checkValue(child, typeof value === 'string' ? {} : value[key]);
  }
  const regions = Object.values(node.states).filter((child) => child.type !== 'history');
  const expected = { compound: 1, parallel: regions.length }[node.type as string] ?? 0;
  if (keys.length !== expected) {
    throw new Error(`state "${node.key}" is in ${keys.length} states below it, not in ${expected}`);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
