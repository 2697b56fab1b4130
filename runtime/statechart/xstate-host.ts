/**
 * Host: the object that XState calls back into while one tree is stepped. It is its actor scope,
 * its actor system and its scheduler in one. Together with the statechart files it is the only
 * place that knows how XState works inside; each private member used here is pinned by a contract
 * test.
 *
 * The host collects and never performs: actions, sends, deadlines and spawned children end up as
 * data in `effects`, in the order in which XState would have carried them out. An error is kept in
 * `failure`, because XState swallows some errors and throws others into a timer of the process.
 */

import type { EventObject } from 'xstate';
import { AddressRef } from '../machine.ts';
import type { ActionEffect, ChildLogic, Effect } from './effect.ts';
import { armOf } from './xstate-arm.ts';
import {
  type AnyRef,
  type ChildActor,
  ChildTable,
  type ResolvedAction,
  type Root,
  RootRef,
  RUNNING,
} from './xstate-children.ts';
import { GoneRef, storedRef } from './xstate-refs.ts';
import { endlessTalk, outsider, tooManyChildren, unregistered } from './xstate-refusals.ts';

export interface StatechartLimits {
  readonly microstepsMax: number;
  readonly childrenMax: number;
}

/** The statechart to which a host belongs. */
interface Chart {
  readonly limits: StatechartLimits;
  /** Takes the place of a child's logic while it is stepped. */
  standIn(logic: ChildLogic): object;
}

/** Takes what code outside of any turn sends to an actor of the tree, to be a turn of its own. */
export type Outside = (address: string, session: number, event: EventObject) => void;

export class Host {
  readonly self: RootRef;
  readonly id: string;
  readonly sessionId = '0';
  readonly system = this;
  readonly scheduler = this;
  readonly root: Root;
  readonly #chart: Chart;
  readonly children = new ChildTable();
  /** XState replaces it during a microstep and puts it back, so it is a property and not a method. */
  actionExecutor = (action: ResolvedAction): void => this.#execute(action);
  readonly logger = (...args: unknown[]): void => this.#log(0, args);

  effects: Effect[] = [];
  deferred: Array<Effect | (() => void)> = [];
  at = 0;
  /** True until the root has its first state: XState lets the first actions wait for the children. */
  isStarting: boolean = false;
  failure: { readonly thrown: unknown } | undefined;
  readonly #outside: Outside;
  #isOpen: boolean = false;
  #relays = 0;

  constructor(chart: Chart, root: Root, id: string, outside: Outside) {
    this.#chart = chart;
    this.#outside = outside;
    this.root = root;
    this.id = id;
    this.self = new RootRef(id, this);
  }

  open(at: number, effects: Effect[]): void {
    this.at = at;
    this.effects = effects;
    this.failure = undefined;
    this.#isOpen = true;
    this.#relays = 0;
    this.children.mark();
  }

  /** The step is over: what is sent from now on is sent by code that runs after it. */
  close(): void {
    this.#isOpen = false;
  }

  /** Forgets a failed step as far as it can. */
  rollBack(): void {
    this.deferred = [];
    this.children.rollBack();
  }

  /** Remembers the failure, so that no XState code on the stack can swallow it. */
  fail(thrown: unknown): unknown {
    this.failure ??= { thrown };
    return thrown;
  }

  runDeferred(): void {
    const { deferred } = this;
    for (let index = 0; index < deferred.length; index += 1) {
      const next = deferred[index] as Effect | (() => void);
      if (typeof next === 'function') next();
      else this.effects.push(next);
    }
    deferred.length = 0;
  }

  // The actor scope of the root:

  defer(run: () => void): void {
    this.deferred.push(run);
  }

  emit(event: EventObject): void {
    this.effects.push({ type: 'emit', session: 0, event });
  }

  stopChild(child: ChildActor): void {
    if (child._parent !== this.self) {
      throw new Error(
        `Cannot stop child actor ${child.id} of ${this.id} because it is not a child`,
      );
    }
    child._stop();
  }

  // The actor system (private to XState but for `get` and `getAll`):

  get(systemId: string): unknown {
    return this.children.get(systemId);
  }

  getAll(): object {
    return this.children.getAll();
  }

  inspect(): { unsubscribe(): void } {
    return { unsubscribe() {} };
  }

  _bookId(): string {
    return this.children.bookId();
  }

  _register(): void {}

  _set(systemId: string, ref: AnyRef): void {
    this.children.register(systemId, ref);
  }

  _unregister(ref: AnyRef): void {
    this.children.unregister(ref);
  }

  /** XState announces a child when it is built, before it takes its first state: the moment to take it over. */
  _sendInspectionEvent(event: { readonly type: string; readonly actorRef: unknown }): void {
    if (event.type === '@xstate.actor') this.#adopt(event.actorRef as ChildActor);
  }

  /**
   * Delivers inside the tree, or turns a foreign target into an effect. Never throws within a step:
   * observers call it. Outside of one, code sends that holds a reference: an action after the
   * commit, a promise, a reader of a snapshot. That is another turn.
   */
  _relay(_source: unknown, target: unknown, event: EventObject): void {
    if (this.children.restoring !== undefined) return;
    if (!this.#isOpen) {
      if (!this.#belongs(target)) throw outsider(event);
      if (!(target instanceof GoneRef)) this.#outside(this.id, Number(target.sessionId), event);
      return;
    }
    if (this.failure !== undefined) return;
    if (target instanceof AddressRef) {
      this.effects.push({ type: 'send', to: target.address, event, isHint: target.isHint });
      return;
    }
    const { microstepsMax } = this.#chart.limits;
    this.#relays += 1;
    if (this.#relays > microstepsMax) {
      this.fail(endlessTalk(microstepsMax));
    } else if (this.#isMember(target, event)) {
      // An event of the tree carries the turn's time like one from outside.
      this.#memberOf(target)?._send({ ...event, at: this.at });
    }
  }

  // The scheduler:

  schedule(
    source: AnyRef,
    target: unknown,
    event: EventObject,
    delayMs: number,
    id?: string,
  ): void {
    const session = Number(source.sessionId);
    if (target instanceof AddressRef) {
      this.effects.push(armOf(this, session, 0, target, event, delayMs, id));
    } else if (this.#isMember(target, event)) {
      const to = Number(target.sessionId);
      this.effects.push(armOf(this, session, to, undefined, event, delayMs, id));
    }
  }

  cancel(source: AnyRef, id: string): void {
    this.effects.push({ type: 'cancel', session: Number(source.sessionId), id });
  }

  cancelAll(source: AnyRef): void {
    this.effects.push({ type: 'cancelAll', session: Number(source.sessionId) });
  }

  /** The root's actions: custom ones take effect at once, built-in ones once the snapshot is set. */
  #execute(action: ResolvedAction): void {
    if (this.isStarting) {
      this.deferred.push(() => this.#execute(action));
      return;
    }
    const { type, params } = action;
    if (type === 'xstate.raise') {
      const { delay, id, event } = params as { delay?: number; id?: string; event: EventObject };
      if (delay === undefined) return;
      this.deferred.push(armOf(this, 0, 0, undefined, event, delay, id));
    } else if (type === 'xstate.cancel') {
      const { sendId } = params as { sendId: string };
      this.deferred.push({ type: 'cancel', session: 0, id: sendId });
    } else {
      this.#executeOf(0, action);
    }
  }

  #executeOf(session: number, action: ResolvedAction): void {
    const { type, params, info, exec } = action;
    if (!type.startsWith('xstate.')) {
      const run = exec as ActionEffect['run'];
      this.effects.push({ type: 'action', session, name: type, params, run, args: info });
      return;
    }
    const { actorRef, src } = (params ?? {}) as { actorRef?: unknown; src?: unknown };
    if (type === 'xstate.spawnChild' && actorRef === undefined) throw this.fail(unregistered(src));
    exec?.(info, params);
  }

  #log(session: number, args: readonly unknown[]): void {
    this.effects.push({ type: 'log', session, args });
  }

  #adopt(child: ChildActor): void {
    const { childrenMax } = this.#chart.limits;
    if (typeof child.src !== 'string' || child.id === '__proto__') {
      throw this.fail(unregistered(child.id));
    }
    if (!this.children.hasRoom(childrenMax)) {
      throw this.fail(tooManyChildren(childrenMax));
    }
    const scope = child._actorScope;
    scope.emit = (event) => {
      this.effects.push({ type: 'emit', session: Number(child.sessionId), event });
    };
    child.toJSON = () => storedRef(child.id, child.sessionId);
    child.logger = scope.logger = (...args) => this.#log(Number(child.sessionId), args);
    scope.actionExecutor = (action) => {
      const execute = () => this.#executeOf(Number(child.sessionId), action);
      // As XState does: what an actor asks for before it runs waits for its start.
      if (child._processingStatus === RUNNING) execute();
      else child._deferred.push(execute);
    };
    child.logic = this.#chart.standIn(child.logic as ChildLogic);
    this.children.add(child);
  }

  #isMember(target: unknown, event: EventObject): target is ChildActor {
    if (this.#belongs(target)) return true;
    this.fail(outsider(event));
    return false;
  }

  /** True of a reference to an actor of this tree, be it from before the tree was read from its record. */
  #belongs(target: unknown): target is ChildActor {
    const system = (target as { system?: unknown } | undefined)?.system;
    return system === this || (system instanceof Host && system.id === this.id);
  }

  #memberOf(target: ChildActor): Pick<ChildActor, '_send'> | undefined {
    if ((target as { system?: unknown }).system === this) return target;
    return target.sessionId === '0'
      ? this.self
      : this.children.bySession?.get(Number(target.sessionId));
  }
}
