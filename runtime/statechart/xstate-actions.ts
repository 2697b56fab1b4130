/**
 * Actions of a microstep, resolved one by one on the context the one before left.
 *
 * Follows XState's resolution line by line (raise-*.js, private). What a built-in action resolves
 * to is XState's own code; only `assign` is done here, because XState's makes a whole new snapshot
 * for it, and `enqueueActions`, because XState's makes a function for each thing that may be enqueued.
 */

import type { AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import type { ResolvedAction } from './xstate-children.ts';
import { holds } from './xstate-guards.ts';
import type { StateNode } from './xstate-sets.ts';
import { type Spawned, spawner } from './xstate-spawner.ts';

/** Part of XState's actor scope that a step needs: the root's is the host, a child's is its own. */
export interface Scope {
  readonly self: unknown;
  readonly system: unknown;
  actionExecutor(action: ResolvedAction): void;
  defer(run: () => void): void;
}

/** One of XState's own actions: a function that carries its data as properties (private). */
interface BuiltIn {
  readonly type: string;
  readonly assignment?: unknown;
  /** Of `enqueueActions`: the actions that its function has enqueued. */
  gather?(args: object, params: unknown): readonly Action[];
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

export type Action =
  | string
  | { readonly type: string; readonly params?: unknown }
  | BuiltIn
  | (() => void);

interface ActionArgs {
  readonly context: unknown;
  readonly event: EventObject;
  readonly self: unknown;
  readonly system: unknown;
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

/** The states of a snapshot, as it shows them. */
export interface States {
  readonly nodes: unknown;
  readonly value: unknown;
  readonly tags: unknown;
}

export class ActionRun {
  /** Events raised inside, which are taken in the same step. */
  readonly raised: EventObject[] = [];
  /** Count of the changes so far: XState would have made a snapshot for each. */
  changes = 0;
  /** The last snapshot that was made; its context may be an older one. */
  #made: SnapshotFields;
  #context: unknown;
  readonly #machine: AnyStateMachine;
  readonly #scope: Scope;
  readonly #known: Record<string, unknown>;

  constructor(machine: AnyStateMachine, scope: Scope, snapshot: AnyMachineSnapshot) {
    this.#made = snapshot as unknown as SnapshotFields;
    this.#context = snapshot.context;
    this.#machine = machine;
    this.#scope = scope;
    this.#known = (machine.implementations as { actions: object }).actions as Record<
      string,
      unknown
    >;
  }

  get snapshot(): AnyMachineSnapshot {
    const { status, output, context, children, _nodes: nodes, value, tags } = this.#made;
    if (context !== this.#context) this.#make(status, output, children, { nodes, value, tags });
    return this.#made as unknown as AnyMachineSnapshot;
  }

  get context(): unknown {
    return this.#context;
  }

  get status(): unknown {
    return this.#made.status;
  }

  get value(): unknown {
    return this.#made.value;
  }

  get nodes(): readonly StateNode[] {
    return this.#made._nodes as readonly StateNode[];
  }

  /** `born`: ids of the invokes that start in the same entry, for sends to them. */
  perform(actions: readonly Action[], event: EventObject, born?: readonly string[]): void {
    if (actions.length === 0) return;
    const retries: Array<[BuiltIn, unknown]> | undefined =
      born === undefined || born.length === 0 ? undefined : [];
    this.#resolve(actions, event, born, retries);
    for (const [action, params] of retries ?? []) {
      action.retryResolve?.(this.#scope, this.snapshot, params);
    }
  }

  enter(states: States): void {
    const { status, output, children } = this.#made;
    this.changes += 1;
    this.#make(status, output, children, states);
  }

  finish(output: unknown): void {
    const { children, _nodes: nodes, value, tags } = this.#made;
    this.changes += 1;
    this.#make('done', output, children, { nodes, value, tags });
  }

  /** Evaluates XState's `output`: a value, or a function of the context. */
  outputOf(mapper: unknown, event: EventObject): unknown {
    const { self } = this.#scope;
    return typeof mapper === 'function' ? mapper({ context: this.#context, event, self }) : mapper;
  }

  /** A snapshot as XState makes them, field by field: this runs at every step. */
  #make(status: unknown, output: unknown, children: unknown, states: States): void {
    const old = this.#made;
    this.#made = {
      status,
      output,
      error: old.error,
      machine: old.machine,
      context: this.#context,
      _nodes: states.nodes,
      value: states.value,
      tags: states.tags,
      children,
      historyValue: old.historyValue,
      matches: old.matches,
      hasTag: old.hasTag,
      can: old.can,
      getMeta: old.getMeta,
      toJSON: old.toJSON,
    };
  }

  #resolve(
    actions: readonly Action[],
    event: EventObject,
    born: readonly string[] | undefined,
    retries: Array<[BuiltIn, unknown]> | undefined,
  ): void {
    const { self, system } = this.#scope;
    for (const action of actions) {
      const isInline = typeof action === 'function';
      const found = isInline
        ? action
        : this.#known[typeof action === 'string' ? action : action.type];
      const context = this.#context;
      const args: ActionArgs = { context, event, self, system };
      const params =
        isInline || typeof action === 'string'
          ? undefined
          : paramsOf(action as never, context, event);
      const resolved = found as BuiltIn | undefined;
      if (resolved === undefined || !('resolve' in resolved)) {
        const exec = resolved as ResolvedAction['exec'];
        this.#scope.actionExecutor({ type: nameOf(action), info: args as never, params, exec });
      } else if (resolved.type === 'xstate.assign') {
        this.#assign(resolved, args, params);
      } else if (resolved.gather !== undefined) {
        const check = (guard: unknown): boolean => holds(guard, this.#machine, args, this);
        this.#resolve(resolved.gather({ ...args, check }, params), event, born, retries);
      } else {
        this.#builtIn(resolved, args, params, born, retries);
      }
    }
  }

  #builtIn(
    action: BuiltIn,
    args: ActionArgs,
    params: unknown,
    born: readonly string[] | undefined,
    retries: Array<[BuiltIn, unknown]> | undefined,
  ): void {
    const scope = this.#scope;
    const extra = { internalQueue: this.raised, deferredActorIds: born };
    const [next, resolved, queued] = action.resolve(
      scope,
      this.snapshot,
      args,
      params,
      action,
      extra,
    );
    if (next !== this.snapshot) {
      this.#made = next as unknown as SnapshotFields;
      this.#context = next.context;
      this.changes += 1;
    }
    if (action.retryResolve !== undefined) retries?.push([action, resolved]);
    if (action.execute !== undefined) {
      const exec = action.execute.bind(null, scope, resolved);
      scope.actionExecutor({ type: action.type, info: args as never, params: resolved, exec });
    }
    if (queued !== undefined) this.#resolve(queued, args.event, born, retries);
  }

  #assign({ assignment }: BuiltIn, args: ActionArgs, params: unknown): void {
    const context = this.#context;
    const spawned: Spawned = {};
    const { event, self, system } = args;
    const assignArgs = {
      context,
      event,
      spawn: spawner(this.#scope, this, event, spawned),
      self,
      system,
    };
    const next = { ...(context as object) } as Record<string, unknown>;
    if (typeof assignment === 'function') {
      Object.assign(next, assignment(assignArgs, params));
    } else {
      const assigners = assignment as Record<string, unknown>;
      for (const key in assigners) {
        const assigner = assigners[key];
        next[key] = typeof assigner === 'function' ? assigner(assignArgs, params) : assigner;
      }
    }
    this.#context = next;
    this.changes += 1;
    const born = spawned.children;
    if (born === undefined) return;
    const { status, output, children, _nodes: nodes, value, tags } = this.#made;
    const all = { ...(children as object), ...born };
    this.#make(status, output, all, { nodes, value, tags });
  }
}

function nameOf(action: Action): string {
  if (typeof action === 'string') return action;
  return typeof action === 'function'
    ? (action as { name: string }).name || '(anonymous)'
    : action.type;
}

function paramsOf(action: { params?: unknown }, context: unknown, event: EventObject): unknown {
  const { params } = action;
  return typeof params === 'function' ? params({ context, event }) : params;
}
