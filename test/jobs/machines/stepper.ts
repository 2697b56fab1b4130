/**
 * A machine of a datacenter on virtual time: events go in, and what it says and notes is kept.
 *
 * It steps the pure machine and is as strict as the engine: a delay that is no time, an action that
 * nobody knows and a deadline without a name fail the test, and an actor that has ended takes
 * nothing. It is no runtime: nothing is delivered, and a deadline fires only when time is moved.
 */

import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  initialTransition,
  transition,
} from 'xstate';
import type { AddressRef } from '../../../runtime/machine.ts';
import { inlined, unmark } from '../../../runtime/statechart/tables.ts';

/** When every actor of these tests is spawned; not 0, which means `never` in some records. */
export const SPAWNED_AT = 1_000_000;

export interface Saying {
  readonly to: string;
  readonly type: string;
  readonly isHint: boolean;
  /** Since spawn. */
  readonly atMs: number;
  readonly [field: string]: unknown;
}

export interface Noted {
  readonly event: string;
  readonly at: number;
  readonly [field: string]: unknown;
}

type Action = { readonly type: string; readonly params?: unknown };
type Taken = { readonly type: string; readonly [field: string]: unknown };

export class Stepper<TContext = Record<string, unknown>> {
  readonly machine: AnyStateMachine;
  snapshot: AnyMachineSnapshot;
  /** Moved without firing anything, it is the clock of another node. */
  now = SPAWNED_AT;
  /** Everything that was said since spawn. */
  readonly all: Saying[] = [];
  #said: Saying[] = [];
  #notes: Noted[] = [];
  #asked: string[] = [];
  readonly #timers = new Map<string, { readonly dueAt: number; readonly event: Taken }>();

  constructor(machine: AnyStateMachine, input: object) {
    this.machine = machine;
    const [snapshot, actions] = initialTransition(machine, { ...input, at: this.now });
    this.snapshot = snapshot;
    this.#keep(actions);
  }

  get context(): TContext {
    return this.snapshot.context as TContext;
  }

  /** The outermost state. */
  get state(): string {
    const { value } = this.snapshot;
    return typeof value === 'string' ? value : (Object.keys(value)[0] as string);
  }

  /** Every state it is in, joined by dots and commas. */
  get states(): string {
    return pathsOf(this.snapshot.value).join(', ');
  }

  get isOver(): boolean {
    return this.snapshot.status !== 'active';
  }

  /** Takes an event now; false when it has ended and the engine would not let it. */
  take(event: Taken): boolean {
    if (this.isOver) return false;
    const [snapshot, actions] = transition(this.machine, this.snapshot, { ...event, at: this.now });
    this.snapshot = snapshot;
    this.#keep(actions);
    return true;
  }

  /** Lets time pass until `atMs` after spawn; each deadline on the way fires at its own moment. */
  until(atMs: number): this {
    const endsAt = SPAWNED_AT + atMs;
    for (let due = this.#next(); due !== undefined; due = this.#next()) {
      const [id, { dueAt, event }] = due;
      if (dueAt > endsAt) break;
      this.#timers.delete(id);
      this.now = Math.max(this.now, dueAt);
      this.take({ ...event, dueAt });
    }
    this.now = Math.max(this.now, endsAt);
    return this;
  }

  advance(durationMs: number): this {
    return this.until(this.now - SPAWNED_AT + durationMs);
  }

  /** Writes its record as JSON and reads it again, as a restart does. */
  restart(): this {
    const { value, context } = this.snapshot;
    const stored = JSON.parse(JSON.stringify({ value, context: inlined(context) }));
    unmark(stored.context);
    this.snapshot = this.machine.resolveState(stored);
    return this;
  }

  /** Puts it into a state that events leave at once. */
  put(value: string, context: object = {}): this {
    this.snapshot = this.machine.resolveState({ value, context: { ...this.context, ...context } });
    this.#timers.clear();
    return this;
  }

  /** What was said since the last look. */
  said(type?: string): Saying[] {
    const all = this.#said.splice(0);
    return type === undefined ? all : all.filter((saying) => saying.type === type);
  }

  /** The types of what was said since the last look, in order. */
  heard(): string[] {
    return this.said().map(({ type }) => type);
  }

  notes(name?: string): Noted[] {
    const all = this.#notes.splice(0);
    return name === undefined ? all : all.filter(({ event }) => event === name);
  }

  /** What the program was asked to do since the last look, beside notes. */
  asked(): string[] {
    return this.#asked.splice(0);
  }

  /** Deadlines that wait, by the part of their name that says which, in ms after spawn. */
  get deadlines(): Record<string, number> {
    const waiting = [...this.#timers].map(([id, { dueAt }]) => [
      id.split('.')[2],
      dueAt - SPAWNED_AT,
    ]);
    return Object.fromEntries(waiting);
  }

  #next() {
    return [...this.#timers].sort(([, one], [, other]) => one.dueAt - other.dueAt)[0];
  }

  #keep(actions: readonly Action[]): void {
    for (const { type, params } of actions) {
      const { delay, id, event, to, sendId } = (params ?? {}) as {
        readonly delay?: number;
        readonly id: string;
        readonly sendId: string;
        readonly event: Taken;
        readonly to: AddressRef;
      };
      // What is raised without a delay was taken with the same step.
      if (type === 'xstate.raise' && (id ?? delay) === undefined) continue;
      if (type === 'xstate.raise') this.#arm(id, event, delay);
      else if (type === 'xstate.cancel') this.#timers.delete(sendId);
      else if (type === 'xstate.sendTo') this.#say(to, event);
      else if (!(type in this.machine.implementations.actions))
        throw new Error(`No such action: ${type}`);
      else if (type === 'note') this.#notes.push(params as Noted);
      else this.#asked.push(type);
    }
  }

  #arm(id: string, event: Taken, delay: number | undefined): void {
    if (delay === undefined || !Number.isFinite(delay) || delay < 0)
      throw new Error(`${id} would wait for ${delay} ms`);
    this.#timers.set(id, { dueAt: this.now + delay, event });
  }

  #say({ address, isHint }: AddressRef, event: Taken): void {
    const saying = { ...event, to: address, isHint, atMs: this.now - SPAWNED_AT };
    this.all.push(saying);
    this.#said.push(saying);
  }
}

function pathsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Object.entries(value as object).flatMap(([name, inner]) => {
    const paths = pathsOf(inner);
    return paths.length === 0 ? [name] : paths.map((path) => `${name}.${path}`);
  });
}
