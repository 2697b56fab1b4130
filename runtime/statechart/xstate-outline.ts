/**
 * Outline of a machine, to look at and not to run: its states, events and deadlines, those that are
 * active in a snapshot, and the states of a stored value that do not exist.
 *
 * Reads machines and snapshots and changes neither. Nothing here takes an event, and the
 * only code of the user's that is called is a delay.
 */

import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { pathOf } from './xstate-children.ts';
import { matchesDescriptor } from './xstate-configurations.ts';
import { recall } from './xstate-history.ts';
import { allNodes, type StateNode } from './xstate-sets.ts';

/** Part of XState's StateNode that is read beside the sets (public, but for `eventType`). */
interface DelayedNode extends StateNode {
  readonly after: ReadonlyArray<{ readonly eventType: string; readonly delay: unknown }>;
}

/** Part of XState's persisted snapshot that is looked through. */
interface Persisted {
  readonly value?: unknown;
  readonly historyValue?: unknown;
  readonly children?: Readonly<Record<string, PersistedChild>>;
  readonly shadows?: ReadonlyArray<PersistedChild & { readonly id: string }>;
}

interface PersistedChild {
  readonly src?: unknown;
  readonly snapshot?: Persisted;
}

/** The names of a machine and of the machines among its actors; those of `actors` begin with `name:`. */
export interface Outline {
  readonly states: readonly string[];
  readonly events: readonly string[];
  /** The ids under which deadlines are stored. */
  readonly timers: readonly string[];
}

/** The `after` of a state that is active. */
export interface ActiveDelay {
  /** Id of the timer, which is the type of its event too. */
  readonly id: string;
  readonly delay: unknown;
}

/** A machine of an actor's tree as it was restored. */
export interface LiveMachine {
  /** 0 is the root. */
  readonly session: number;
  /** Path such as `c/d`; empty for the root. */
  readonly path: string;
  readonly snapshot: AnyMachineSnapshot;
}

export function outlineOf(machine: AnyStateMachine): Outline {
  const outline = { states: [] as string[], events: [] as string[], timers: [] as string[] };
  collect(machine, '', outline, new Set());
  return outline;
}

/**
 * States that a stored snapshot is in, or that its history remembers, and the machine does not have;
 * those of child machines as `child:state`.
 */
export function missingStates(machine: AnyStateMachine, stored: unknown): string[] {
  const { value, children = {}, shadows = [], historyValue } = (stored ?? {}) as Persisted;
  const missing: string[] = [];
  walk(machine.root as unknown as DelayedNode, value, (path) => missing.push(path.join('.')));
  for (const state of recall(machine, historyValue).missing)
    if (!missing.includes(state)) missing.push(state);
  const below = [
    ...Object.entries(children),
    ...shadows.map((child) => [child.id, child] as const),
  ];
  for (const [id, child] of below) {
    const logic = typeof child?.src === 'string' ? actorsOf(machine)[child.src] : undefined;
    if (!isMachine(logic)) continue;
    for (const state of missingStates(logic, child.snapshot)) missing.push(`${id}:${state}`);
  }
  return missing;
}

/** The root and its machine children that run, at any depth. */
export function liveMachines(snapshot: AnyMachineSnapshot): LiveMachine[] {
  return [{ session: 0, path: '', snapshot }, ...liveChildren(snapshot)].filter(
    (live) => live.snapshot.status === 'active',
  );
}

/** Session numbers of all children, those that are no machines included. */
export function childSessions(snapshot: AnyMachineSnapshot): Set<number> {
  return new Set(membersOf(snapshot).keys());
}

/** True if an active state has a transition for the event, allowed by its guard or not. */
export function isHandled(snapshot: AnyMachineSnapshot, type: string): boolean {
  // A wildcard that catches a deadline of a state that is not active was not meant for it.
  const isOwn = type.startsWith('xstate.');
  return activeNodes(snapshot).some(({ transitions }) =>
    isOwn
      ? transitions.has(type)
      : [...transitions.keys()].some((descriptor) => matchesDescriptor(type, descriptor)),
  );
}

/** True if any state of the machine has a transition for the event. */
export function isDeclared(machine: AnyStateMachine, type: string): boolean {
  return allNodes(machine.root as unknown as StateNode).some(({ transitions }) =>
    [...transitions.keys()].some((descriptor) => matchesDescriptor(type, descriptor)),
  );
}

export function activeDelays(snapshot: AnyMachineSnapshot): ActiveDelay[] {
  const delays = new Map<string, ActiveDelay>();
  for (const node of activeNodes(snapshot))
    for (const { eventType, delay } of node.after) delays.set(eventType, { id: eventType, delay });
  return [...delays.values()];
}

/** The delay in ms as the machine would have it for this context; undefined where it depends on an event that is not given. */
export function delayMsOf(
  snapshot: AnyMachineSnapshot,
  delay: unknown,
  event: object = UNKNOWN,
): number | undefined {
  const { delays } = snapshot.machine.implementations as { delays: Record<string, unknown> };
  const isNamed = typeof delay === 'string';
  const expression = isNamed ? (Object.hasOwn(delays, delay) ? delays[delay] : undefined) : delay;
  if (typeof expression !== 'function')
    return typeof expression === 'number' ? expression : undefined;
  const args = { context: snapshot.context, event, self: UNKNOWN, system: UNKNOWN };
  try {
    const delayMs: unknown = expression(args, undefined);
    return typeof delayMs === 'number' ? delayMs : undefined;
  } catch {
    return undefined;
  }
}

/** Stands for what nobody knows any more: code that looks at it gets no answer. */
const UNKNOWN: object = new Proxy(
  {},
  {
    get() {
      throw new Error('not known');
    },
  },
);

function collect(
  machine: AnyStateMachine,
  prefix: string,
  outline: { states: string[]; events: string[]; timers: string[] },
  seen: Set<AnyStateMachine>,
): void {
  // A machine may have itself among its actors.
  if (seen.has(machine)) return;
  const within = new Set(seen).add(machine);
  const events = new Set<string>();
  for (const node of allNodes(machine.root as unknown as StateNode) as DelayedNode[]) {
    if (node.path.length > 0) outline.states.push(prefix + node.path.join('.'));
    for (const descriptor of node.transitions.keys())
      if (!descriptor.startsWith('xstate.')) events.add(prefix + descriptor);
    for (const id of new Set(node.after.map(({ eventType }) => eventType)))
      outline.timers.push(prefix + id);
  }
  outline.events.push(...events);
  for (const [name, logic] of Object.entries(actorsOf(machine)))
    if (isMachine(logic)) collect(logic, `${prefix}${name}:`, outline, within);
}

function* liveChildren(snapshot: AnyMachineSnapshot): Generator<LiveMachine> {
  for (const [session, child] of membersOf(snapshot)) {
    const inner = snapshotOf(child);
    if (inner !== undefined) yield { session, path: pathOf(child as never), snapshot: inner };
  }
}

/** All children of the tree by their numbers, at any depth, with those whose id another one has. */
function membersOf(root: AnyMachineSnapshot): ReadonlyMap<number, unknown> {
  const [shown] = Object.values(root.children) as Array<{
    readonly system?: { readonly children?: { readonly bySession?: ReadonlyMap<number, unknown> } };
  }>;
  return shown?.system?.children?.bySession ?? new Map();
}

/** Snapshot of a child that is a machine. */
function snapshotOf(child: unknown): AnyMachineSnapshot | undefined {
  const snapshot = (child as { getSnapshot(): { machine?: unknown } }).getSnapshot();
  return snapshot.machine === undefined ? undefined : (snapshot as AnyMachineSnapshot);
}

export function activeNodes({ machine, value }: AnyMachineSnapshot): DelayedNode[] {
  return walk(machine.root as unknown as DelayedNode, value, () => {});
}

/** The node and every one below it that a state value names; those it does not have are reported. */
function walk(
  node: DelayedNode,
  value: unknown,
  missing: (path: readonly string[]) => void,
): DelayedNode[] {
  const found = [node];
  const isKey = typeof value === 'string';
  const keys = isKey ? [value] : Object.keys(value ?? {});
  for (const key of keys) {
    const below = Object.hasOwn(node.states, key) ? node.states[key] : undefined;
    if (below === undefined) missing([...node.path, key]);
    else {
      const inner = isKey ? {} : (value as Record<string, unknown>)[key];
      found.push(...walk(below as DelayedNode, inner, missing));
    }
  }
  return found;
}

function actorsOf(machine: AnyStateMachine): Record<string, unknown> {
  return (machine.implementations as { actors: Record<string, unknown> }).actors;
}

function isMachine(logic: unknown): logic is AnyStateMachine {
  return typeof logic === 'object' && logic !== null && '__xstatenode' in logic;
}
