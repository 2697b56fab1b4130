/**
 * Microsteps by plan: what XState works out again at every step, worked out once.
 *
 * Which states a transition leaves and enters, in which order, and which actions that
 * means, depends only on the transition and on the states the machine is in; guards and
 * actions are evaluated as ever, by XState's own code. So a plan is kept per pair, and a
 * step that follows one costs less than half. Machines with history states are left to
 * XState: there the past decides as well.
 *
 * Follows XState's macrostep line by line (raise-*.js, private); the differential test
 * compares the two over machines of every shape.
 */

import {
  type AnyActorLogic,
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  and,
  createActor,
  type EventObject,
  spawnChild,
  stopChild,
} from 'xstate';
import type { ResolvedAction } from './xstate-children.ts';
import {
  Configurations,
  type Entry,
  type Plan,
  type StateNode,
  type Transition,
} from './xstate-sets.ts';

/** What of XState's actor scope a step needs: the root's is the host, a child's is its own. */
interface Scope {
  readonly self: unknown;
  readonly system: unknown;
  actionExecutor(action: ResolvedAction): void;
  defer(run: () => void): void;
}

type Transit = (snapshot: AnyMachineSnapshot, event: EventObject, scope: Scope) => AnyMachineSnapshot;

/** One of XState's own actions: a function that carries its data as properties (private). */
interface BuiltIn {
  readonly type: string;
  readonly assignment?: unknown;
  resolve(
    scope: unknown,
    snapshot: AnyMachineSnapshot,
    args: ActionArgs,
    params: unknown,
    self: unknown,
    extra: unknown,
  ): [AnyMachineSnapshot, unknown, readonly Action[] | undefined];
  retryResolve?(scope: unknown, snapshot: AnyMachineSnapshot, params: unknown): void;
  execute?(scope: unknown, params: unknown): void;
}

type Action = string | { readonly type: string; readonly params?: unknown } | BuiltIn | (() => void);

interface ActionArgs {
  readonly context: unknown;
  readonly event: EventObject;
  readonly self: unknown;
  readonly system: unknown;
}

/** Replaces `machine.transition` where plans can be kept. */
export function followPlans(machine: AnyStateMachine): void {
  const configurations = new Configurations(machine, { spawnChild, stopChild });
  if (configurations.hasHistory) return;
  const byXState = machine.transition as unknown as Transit;
  const byPlan: Transit = (snapshot, event, scope) => {
    if (event.type === 'xstate.stop') return byXState(snapshot, event, scope);
    const transitions = select(machine, snapshot, event);
    // An error of a child that nobody handles ends the machine; so rare that XState may do it.
    if (transitions.length === 0 && event.type.startsWith('xstate.error.actor')) return byXState(snapshot, event, scope);
    return new Macrostep(machine, configurations, scope).run(snapshot, event, transitions);
  };
  machine.transition = byPlan as never;
}

class Macrostep {
  readonly #machine: AnyStateMachine;
  readonly #configurations: Configurations;
  readonly #scope: Scope;
  /** Events raised inside, which are taken in the same step. */
  readonly #raised: EventObject[] = [];
  #snapshot!: AnyMachineSnapshot;

  constructor(machine: AnyStateMachine, configurations: Configurations, scope: Scope) {
    this.#machine = machine;
    this.#configurations = configurations;
    this.#scope = scope;
  }

  run(snapshot: AnyMachineSnapshot, event: EventObject, transitions: readonly Transition[]): AnyMachineSnapshot {
    this.#snapshot = snapshot;
    if (transitions.length > 0) this.#microstep(transitions, event);
    const { maxIterations } = this.#machine.options as { maxIterations: number };
    let next = event;
    let isEventlessDue = true;
    for (let iterations = 1; this.#snapshot.status === 'active'; iterations += 1) {
      if (iterations > maxIterations) throw new Error(`Infinite loop detected: more than ${maxIterations} microsteps in one step.`);
      let enabled: readonly Transition[] = isEventlessDue ? this.#selectEventless(next) : NONE;
      const before: AnyMachineSnapshot | undefined = enabled.length > 0 ? this.#snapshot : undefined;
      if (enabled.length === 0) {
        const raised = this.#raised.shift();
        if (raised === undefined) break;
        next = raised;
        enabled = select(this.#machine, this.#snapshot, next);
      }
      if (enabled.length > 0) this.#microstep(enabled, next);
      isEventlessDue = this.#snapshot !== before;
    }
    if (this.#snapshot.status !== 'active') this.#stopChildren(next);
    return this.#snapshot;
  }

  #microstep(transitions: readonly Transition[], event: EventObject): void {
    const configuration = this.#configurations.of(this.#snapshot);
    const plan = this.#configurations.plan(configuration, transitions);
    this.#perform(plan.exitActions as readonly Action[], event, undefined);
    this.#perform(plan.actions as readonly Action[], event, undefined);
    for (const entry of plan.entries) {
      this.#perform(entry.actions as readonly Action[], event, entry.invokeIds);
      if (entry.doneStates.length > 0 || entry.completes !== undefined) this.#complete(entry, event);
    }
    if (this.#snapshot.status === 'done') this.#perform(plan.next.exitActions as readonly Action[], event, undefined);
    if (plan.next !== configuration) this.#enter(plan);
  }

  #enter({ next }: Plan): void {
    const { status, output, context, children } = this.#snapshot as unknown as SnapshotFields;
    this.#set(status, output, context, children, next);
  }

  /** A snapshot as XState makes them, field by field: of all steps this is the one taken most often. */
  #set(status: unknown, output: unknown, context: unknown, children: unknown, at: Pick<SnapshotFields, 'value' | 'tags'> & { readonly nodes: unknown }): void {
    const old = this.#snapshot as unknown as SnapshotFields;
    this.#snapshot = {
      status,
      output,
      error: old.error,
      machine: old.machine,
      context,
      _nodes: at.nodes,
      value: at.value,
      tags: at.tags,
      children,
      historyValue: old.historyValue,
      matches: old.matches,
      hasTag: old.hasTag,
      can: old.can,
      getMeta: old.getMeta,
      toJSON: old.toJSON,
    } as never;
  }

  /** The snapshot with another context or other children, in the same states. */
  #update(context: unknown, children: unknown): void {
    const { status, output, _nodes: nodes, value, tags } = this.#snapshot as unknown as SnapshotFields;
    this.#set(status, output, context, children, { nodes, value, tags });
  }

  /** A final state was entered: its parents may be done, and the machine with them. */
  #complete(entry: Entry, event: EventObject): void {
    const { self } = this.#scope;
    const { context } = this.#snapshot;
    const outputOf = (mapper: unknown, of: EventObject): unknown =>
      typeof mapper === 'function' ? mapper({ context, event: of, self }) : mapper;
    for (const { id, output } of entry.doneStates) {
      this.#raised.push({ type: `xstate.done.state.${id}`, output: output === undefined ? undefined : outputOf(output, event) } as EventObject);
    }
    if (entry.completes === undefined) return;
    const { root } = this.#machine as unknown as { root: StateNode };
    const { id, output, parent } = entry.completes;
    const isMapped = output !== undefined && parent !== undefined;
    const done = { type: `xstate.done.state.${id}`, output: isMapped ? outputOf(output, event) : undefined };
    const { children, _nodes: nodes, value, tags } = this.#snapshot as unknown as SnapshotFields;
    this.#set('done', root.output === undefined ? undefined : outputOf(root.output, done), context, children, { nodes, value, tags });
  }

  #stopChildren(event: EventObject): void {
    const children = Object.values(this.#snapshot.children as Record<string, AnyActorRef | undefined>);
    this.#perform(children.map((child) => stopChild(child as AnyActorRef)) as never, event, undefined);
  }

  /** Resolves actions one by one, each on the context the one before left; `born` are ids of this entry's invokes. */
  #perform(actions: readonly Action[], event: EventObject, born: readonly string[] | undefined): void {
    if (actions.length === 0) return;
    const retries: Array<[BuiltIn, unknown]> | undefined = born === undefined || born.length === 0 ? undefined : [];
    this.#resolve(actions, event, born, retries);
    for (const [action, params] of retries ?? []) action.retryResolve?.(this.#scope, this.#snapshot, params);
  }

  #resolve(
    actions: readonly Action[],
    event: EventObject,
    born: readonly string[] | undefined,
    retries: Array<[BuiltIn, unknown]> | undefined,
  ): void {
    const scope = this.#scope;
    const known = (this.#machine.implementations as unknown as { actions: Record<string, unknown> }).actions;
    for (const action of actions) {
      const isInline = typeof action === 'function';
      const resolved = (isInline ? action : known[typeof action === 'string' ? action : action.type]) as BuiltIn | undefined;
      const { context } = this.#snapshot;
      const args: ActionArgs = { context, event, self: scope.self, system: scope.system };
      const params = isInline || typeof action === 'string' ? undefined : paramsOf(action as never, context, event);
      if (resolved === undefined || !('resolve' in resolved)) {
        const type = typeof action === 'string' ? action : isInline ? (action as { name: string }).name || '(anonymous)' : action.type;
        scope.actionExecutor({ type, info: args, params, exec: resolved as never });
      } else if (resolved.type === 'xstate.assign') {
        this.#assign(resolved, args, params);
      } else {
        this.#builtIn(resolved, args, params, event, born, retries);
      }
    }
  }

  #builtIn(
    action: BuiltIn,
    args: ActionArgs,
    params: unknown,
    event: EventObject,
    born: readonly string[] | undefined,
    retries: Array<[BuiltIn, unknown]> | undefined,
  ): void {
    const extra = { internalQueue: this.#raised, deferredActorIds: born };
    const [next, resolved, queued] = action.resolve(this.#scope, this.#snapshot, args, params, action, extra);
    this.#snapshot = next;
    if (action.retryResolve !== undefined) retries?.push([action, resolved]);
    if (action.execute !== undefined) {
      const exec = action.execute.bind(null, this.#scope, resolved);
      this.#scope.actionExecutor({ type: action.type, info: args, params: resolved, exec });
    }
    if (queued !== undefined) this.#resolve(queued, event, born, retries);
  }

  /** XState's `assign`, without making the whole snapshot anew. */
  #assign(action: BuiltIn, args: ActionArgs, params: unknown): void {
    const { assignment } = action;
    const { context, children } = this.#snapshot;
    const assignArgs = new AssignArgs(args, (spawned) => this.#spawner(args.event, spawned));
    const next = { ...(context as object) } as Record<string, unknown>;
    if (typeof assignment === 'function') {
      Object.assign(next, assignment(assignArgs, params));
    } else {
      const assigners = assignment as Record<string, unknown>;
      for (const key in assigners) {
        const value = assigners[key];
        next[key] = typeof value === 'function' ? value(assignArgs, params) : value;
      }
    }
    const { spawned } = assignArgs;
    this.#update(next, spawned === undefined ? children : { ...(children as object), ...spawned });
  }

  /** XState's `spawn`, as `assign` hands it out. */
  #spawner(event: EventObject, spawned: Record<string, AnyActorRef>): unknown {
    type Options = { id?: string; systemId?: string; syncSnapshot?: boolean; input?: unknown };
    return (src: string | AnyActorLogic, options: Options = {}): AnyActorRef => {
      const { self } = this.#scope;
      const { context, machine } = this.#snapshot;
      const logic = typeof src === 'string' ? machine.implementations.actors[src] : src;
      if (logic === undefined) throw new Error(`Actor logic '${src}' not implemented in machine '${machine.id}'`);
      const isMapped = typeof src === 'string' && typeof options.input === 'function';
      const input = isMapped ? (options.input as (args: object) => unknown)({ context, event, self }) : options.input;
      const child = createActor(logic as AnyActorLogic, { ...options, parent: self, input, src } as never) as unknown as AnyActorRef;
      spawned[child.id] = child;
      this.#scope.defer(() => {
        if ((child as unknown as { _processingStatus: number })._processingStatus !== STOPPED) child.start();
      });
      return child;
    };
  }

  #selectEventless(event: EventObject): readonly Transition[] {
    const { eventless } = this.#configurations.of(this.#snapshot);
    if (eventless.length === 0) return NONE;
    const enabled = new Set<Transition>();
    for (const candidates of eventless) {
      const found = candidates.find(({ guard }) => guard === undefined || this.#holds(guard, event));
      if (found !== undefined) enabled.add(found);
    }
    return enabled.size === 0 ? NONE : [...enabled];
  }

  /** Guards are evaluated by XState: an `and` of one is the public way to its evaluation. */
  #holds(guard: unknown, event: EventObject): boolean {
    const one = and([guard] as never) as unknown as {
      check(snapshot: unknown, args: object, params: object): boolean;
    };
    return one.check(this.#snapshot, { context: this.#snapshot.context, event }, { guards: [guard] });
  }
}

/** What `assign` hands to its functions; a spawner is made only for those that look at it. */
class AssignArgs {
  readonly context: unknown;
  readonly event: EventObject;
  readonly self: unknown;
  readonly system: unknown;
  spawned: Record<string, AnyActorRef> | undefined;
  readonly #spawner: (spawned: Record<string, AnyActorRef>) => unknown;

  constructor(args: ActionArgs, spawner: (spawned: Record<string, AnyActorRef>) => unknown) {
    this.context = args.context;
    this.event = args.event;
    this.self = args.self;
    this.system = args.system;
    this.#spawner = spawner;
  }

  get spawn(): unknown {
    this.spawned ??= {};
    return this.#spawner(this.spawned);
  }
}

/** The fields of XState's machine snapshot, in its order (private). */
interface SnapshotFields {
  readonly status: unknown;
  readonly output: unknown;
  readonly error: unknown;
  readonly machine: unknown;
  readonly context: unknown;
  readonly _nodes: unknown;
  readonly value: unknown;
  readonly tags: unknown;
  readonly children: unknown;
  readonly historyValue: unknown;
  readonly matches: unknown;
  readonly hasTag: unknown;
  readonly can: unknown;
  readonly getMeta: unknown;
  readonly toJSON: unknown;
}

const NONE: readonly Transition[] = [];
/** XState's ProcessingStatus (private). */
const STOPPED = 2;

/** XState's own selection: guards included. */
function select(machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: EventObject): readonly Transition[] {
  return machine.getTransitionData(snapshot, event as never) as unknown as readonly Transition[];
}

function paramsOf(action: { params?: unknown }, context: unknown, event: EventObject): unknown {
  const { params } = action;
  return typeof params === 'function' ? params({ context, event }) : params;
}
