/**
 * Tree: one running instance of a statechart, with a root that is stepped with a scope of ours, and
 * its machine children. The guarantees of a step, and what it leaves to others, are in
 * statechart.ts.
 */

import type { AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import { RuntimeError } from '../base/errors.ts';
import { contextText, jsonOnce } from '../base/json-cache.ts';
import { ROUTE_EVENT } from '../machine.ts';
import type { Effect, StartChildEffect } from './effect.ts';
import { isEmpty } from './restore-cache.ts';
import { type ChildResult, Outcome, type StandIn } from './stand-in.ts';
import type { Statechart } from './statechart.ts';
import { marked } from './tables.ts';
import { pathOf, RUNNING } from './xstate-children.ts';
import { Host, type Outside } from './xstate-host.ts';
import { restoreShadows, type StoredShadow, shadowsOf } from './xstate-shadows.ts';

/** Stored parts of a tree: XState's persisted snapshot and the numbers of its sessions. */
export interface StoredTree {
  readonly snapshot: unknown;
  /** Session number of each child, by its path such as `c` or `c/d`. */
  readonly sessions?: Readonly<Record<string, number>> | undefined;
  /** The last number given away, so that none is ever used twice. */
  readonly booked?: number | undefined;
}

/** A child of a tree. */
export interface Member {
  readonly session: number;
  /** Ids of its parents and its own, such as `c/d`. */
  readonly path: string;
  /** The name its machine has for it, where it has one. */
  readonly src: string | undefined;
  /** True of a promise, a callback and an observable. */
  readonly actsAlone: boolean;
  /** The state value of a machine. */
  readonly value: unknown;
}

/** A deadline that has come. */
export interface DueTimer {
  readonly event: { readonly type: string };
  readonly dueAt: number;
  readonly target: number;
  readonly to?: string | undefined;
  readonly isHint?: boolean | undefined;
}

export class Tree {
  snapshot!: AnyMachineSnapshot;
  readonly #chart: Statechart;
  readonly #machine: AnyStateMachine;
  readonly #host: Host;
  #contextLength = 0;
  #before: AnyMachineSnapshot | undefined;
  #queue: EventObject[] = [];
  #isStepping: boolean = false;

  constructor(chart: Statechart, id: string, outside: Outside) {
    this.#chart = chart;
    this.#machine = chart.machine;
    this.#host = new Host(chart, this, id, outside);
  }

  /** True while children run: then a failed step needs a restore. */
  get hasChildren(): boolean {
    return this.#host.children.bySession !== undefined;
  }

  /** The last number given away, to a child or to a deadline without an id. */
  get booked(): number {
    return this.#host.children.booked;
  }

  begin(input: unknown, at: number, effects: Effect[], booked: number): void {
    const host = this.#host;
    host.children.booked = booked;
    this.#open(at, effects);
    this.#isStepping = true;
    host.isStarting = true;
    this.snapshot = this.#machine.getInitialSnapshot(host as never, input);
    host.isStarting = false;
    try {
      if ((this.snapshot.status as string) === 'error') throw this.snapshot.error;
      if (this.snapshot.status === 'active') this.#machine.start(this.snapshot);
      this.#settle();
    } catch (thrown) {
      host.fail(thrown);
    }
    this.#isStepping = false;
    this.#flush();
    this.#close();
  }

  /** True of the root, and of a child that runs. */
  hasMember(session: number): boolean {
    const child = this.#host.children.bySession?.get(session);
    return session === 0 || child?._processingStatus === RUNNING;
  }

  /** One event from outside, for the root or a child; `at` is already on it. */
  take(event: EventObject, at: number, effects: Effect[], session: number = 0): void {
    if (event.type.startsWith('xstate.') && event.type !== ROUTE_EVENT) {
      throw new RuntimeError('EVENT_RESERVED', 'Events of XState come from inside an actor only.');
    }
    this.#open(at, effects);
    this.#hand(session, event);
    this.#close();
  }

  /** One deadline that has come. */
  fire(timer: DueTimer, at: number, effects: Effect[]): void {
    const { event, dueAt, target, to, isHint = false } = timer;
    if (to !== undefined) {
      effects.push({ type: 'send', to, event, isHint });
      return;
    }
    this.#open(at, effects);
    const due = { ...event, at, dueAt };
    this.#hand(target, due);
    this.#close();
  }

  /**
   * Takes the result of a promise, callback or observable; false when the machine that is to hear of it
   * is gone.
   */
  settle(session: number, result: ChildResult, at: number, effects: Effect[]): boolean {
    if (result.type === 'stopFailed') {
      if (!this.hasMember(session)) return false;
      const { id, error } = result;
      this.#open(at, effects);
      this.#hand(session, { type: `xstate.error.actor.${id}`, error, actorId: id } as EventObject);
      this.#close();
      return true;
    }
    const child = this.#host.children.bySession?.get(session);
    if (child === undefined || child._processingStatus !== RUNNING) return false;
    if (!('startEffect' in child.logic)) return false;
    this.#open(at, effects);
    if (result.type === 'event') this.#host._relay(child, child._parent, result.event);
    else child._send(new Outcome(result));
    this.#close();
    return true;
  }

  /** The promises, callbacks and observables under way, as the effects that start them. */
  runningChildren(): StartChildEffect[] {
    const running: StartChildEffect[] = [];
    for (const child of this.#host.children.bySession?.values() ?? []) {
      if (!('startEffect' in child.logic) || child._processingStatus !== RUNNING) continue;
      running.push((child.logic as StandIn).startEffect(child));
    }
    return running;
  }

  /** The children that are there, for people. */
  members(): Member[] {
    const members: Member[] = [];
    for (const [session, child] of this.#host.children.bySession ?? []) {
      if (child._processingStatus !== RUNNING) continue;
      const actsAlone = 'startEffect' in child.logic;
      const { value } = child.getSnapshot() as { readonly value?: unknown };
      members.push({
        session,
        path: pathOf(child),
        src: typeof child.src === 'string' ? child.src : undefined,
        actsAlone,
        value: actsAlone ? undefined : value,
      });
    }
    return members;
  }

  /** XState's persisted snapshot as JSON text; what is empty or usual is left out. */
  encode(): string {
    const { snapshot } = this;
    const { status, historyValue, children } = snapshot as { status: string } & Record<
      'historyValue' | 'children',
      object
    >;
    const shadows = this.hasChildren ? shadowsOf(this.#host.children) : [];
    const isPlain = status === 'active' && isEmpty(children) && isEmpty(historyValue);
    if (!isPlain || shadows.length > 0) {
      const context = marked(snapshot.context);
      const persisted = this.#machine.getPersistedSnapshot({ ...snapshot, context } as never);
      return JSON.stringify(shadows.length > 0 ? { ...persisted, shadows } : persisted);
    }
    const context = contextText(marked(snapshot.context), this.#contextLength);
    this.#contextLength = context.length;
    return `{"value":${jsonOnce(snapshot.value)},"context":${context}}`;
  }

  /** The numbers of the living children by path, and the last one given away; undefined where none ever was. */
  sessions(): { readonly sessions: Record<string, number>; readonly booked: number } | undefined {
    const { bySession, booked } = this.#host.children;
    if (booked === 0) return undefined;
    const sessions: Record<string, number> = {};
    for (const [session, child] of bySession ?? []) sessions[pathOf(child)] = session;
    return { sessions, booked };
  }

  resume(stored: StoredTree): void {
    const host = this.#host;
    host.children.booked = stored.booked ?? 0;
    const recalled = this.#chart.restored.recall(stored);
    if (recalled !== undefined) {
      this.snapshot = recalled;
      return;
    }
    host.children.restoring = stored.sessions ?? {};
    const usual = { status: 'active', children: {}, historyValue: {} };
    const persisted = { ...usual, ...(stored.snapshot as object) };
    this.snapshot = this.#machine.restoreSnapshot(persisted as never, host as never);
    if ((this.snapshot.status as string) === 'error') throw new Error('status "error"');
    if (this.snapshot.status === 'active') this.#machine.start(this.snapshot);
    const { shadows = [] } = stored.snapshot as { readonly shadows?: readonly StoredShadow[] };
    restoreShadows(host.children, host.self, shadows);
    host.deferred = [];
    host.children.finishRestore(host.self);
    if (host.failure !== undefined) throw host.failure.thrown;
    this.#chart.restored.remember(this.snapshot);
  }

  /** The root's mailbox: what arrives while one event is taken waits for its turn. */
  receive(event: EventObject): void {
    this.#queue.push(event);
    this.#flush();
  }

  #hand(session: number, event: EventObject): void {
    if (session === 0) this.receive(event);
    else this.#host.children.bySession?.get(session)?._send(event);
  }

  #open(at: number, effects: Effect[]): void {
    this.#chart.turn.at = at;
    this.#before = this.snapshot;
    this.#host.open(at, effects);
  }

  #close(): void {
    const host = this.#host;
    const { children } = host;
    // What is ended here may still tell its parent, and that may fail.
    if (host.failure === undefined && children.bySession !== undefined) children.sweep();
    host.close();
    const before = this.#before as AnyMachineSnapshot;
    this.#before = undefined;
    if (host.failure === undefined) return;
    this.#queue = [];
    this.snapshot = before;
    host.rollBack();
    throw explain(host.failure.thrown);
  }

  #flush(): void {
    if (this.#isStepping) return;
    this.#isStepping = true;
    while (this.#queue.length > 0 && this.#host.failure === undefined) {
      const event = this.#queue.shift() as EventObject;
      if (this.snapshot.status === 'active') this.#process(event);
    }
    this.#isStepping = false;
  }

  #process(event: EventObject): void {
    try {
      this.snapshot = this.#machine.transition(this.snapshot, event, this.#host as never);
      this.#settle();
    } catch (thrown) {
      this.#host.fail(thrown);
    }
  }

  /** Does what XState's actor does once it has its next snapshot. */
  #settle(): void {
    const { snapshot } = this;
    const host = this.#host;
    if (host.deferred.length > 0) host.runDeferred();
    if (snapshot.status === 'active') return;
    if ((snapshot.status as string) === 'error') throw snapshot.error;
    host.cancelAll(host.self);
  }
}

function explain(thrown: unknown): unknown {
  if (!(thrown instanceof Error && thrown.message.startsWith('Infinite loop detected'))) {
    return thrown;
  }
  return new RuntimeError('MICROSTEPS_EXCEEDED', thrown.message, { cause: thrown });
}
