/**
 * Steps a machine by hand: start it, send, fire, settle, restore, and look at the effects.
 *
 * Time is a counter that moves by one per step, so that `at` is easy to predict.
 */

import {
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  assign,
  type EventObject,
  setup,
} from 'xstate';
import type { RuntimeError } from '../../runtime/base/errors.ts';
import type { Effect, StartChildEffect } from '../../runtime/statechart/effect.ts';
import { type ChildResult, Statechart, type Tree } from '../../runtime/statechart/statechart.ts';

const LIMITS = { microstepsMax: 100, childrenMax: 8 };

type Kind = Effect['type'];

/** One actor under the hand of a test. */
export class Stepper {
  readonly chart: Statechart;
  tree!: Tree;
  /** What the last step asked for. */
  effects: Effect[] = [];
  at = 0;

  constructor(machine: AnyStateMachine, input?: unknown, limits = LIMITS) {
    this.chart = new Statechart(machine, limits);
    this.#step((effects) => {
      this.tree = this.chart.start('a', input, this.at, effects);
    });
  }

  get value(): unknown {
    return this.tree.snapshot.value;
  }

  get context(): Record<string, unknown> {
    return this.tree.snapshot.context;
  }

  get status(): string {
    return this.tree.snapshot.status;
  }

  /** The child's snapshot as the parent sees it. */
  child(id: string): AnyMachineSnapshot | undefined {
    return (this.tree.snapshot.children as Record<string, AnyActorRef>)[id]?.getSnapshot();
  }

  send(type: string, more: object = {}): this {
    return this.#step((effects) => {
      this.tree.take({ type, at: this.at, ...more } as EventObject, this.at, effects);
    });
  }

  /** Fires a timer that the last step armed. */
  fire(id: string, dueAt = this.at): this {
    const { event, target } = this.armed(id);
    return this.#step((effects) => {
      this.tree.fire({ event, dueAt, target }, this.at, effects);
    });
  }

  armed(id: string): Effect & { type: 'arm' } {
    const found = this.of('arm').find((effect) => effect.id === id);
    if (found === undefined) throw new Error(`No timer "${id}" was armed.`);
    return found;
  }

  settle(session: number, result: ChildResult): boolean {
    let isTaken = false;
    this.#step((effects) => {
      isTaken = this.tree.settle(session, result, this.at, effects);
    });
    return isTaken;
  }

  started(id: string): StartChildEffect {
    const found = this.of('startChild').find((effect) => effect.id === id);
    if (found === undefined) throw new Error(`Child "${id}" was not started.`);
    return found;
  }

  /** The last step's effects of one type. */
  of<K extends Kind>(type: K): Array<Effect & { type: K }> {
    return this.effects.filter((effect) => effect.type === type) as never;
  }

  /** The last step's effects in short: `type` and what tells them apart. */
  get asked(): string[] {
    return this.effects.map(shorten);
  }

  /** As text, as the store keeps it. */
  get text(): string {
    return JSON.stringify({ snapshot: JSON.parse(this.tree.encode()), ...this.tree.sessions() });
  }

  /** Forgets the tree and goes on with what the text says. */
  restore(text: string = this.text): this {
    this.effects = [];
    this.tree = this.chart.restore('a', JSON.parse(text));
    return this;
  }

  #step(run: (effects: Effect[]) => void): this {
    this.at += 1;
    this.effects = [];
    run(this.effects);
    return this;
  }
}

function shorten(effect: Effect): string {
  switch (effect.type) {
    case 'send':
      return `send ${effect.to} ${effect.event.type}`;
    case 'arm':
      return `arm ${effect.id} ${effect.delayMs}`;
    case 'cancel':
      return `cancel ${effect.id}`;
    case 'cancelAll':
      return `cancelAll ${effect.session}`;
    case 'emit':
      return `emit ${effect.event.type}`;
    case 'log':
      return `log ${effect.args.join(' ')}`;
    case 'startChild':
      return `start ${effect.id}`;
    case 'tellChild':
      return `tell ${effect.event.type}`;
    case 'stopChild':
      return `stop ${effect.session}`;
    case 'action':
      return effect.name;
  }
}

/** The code of the error that `act` throws; fails when it throws anything else. */
export function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (thrown) {
    return (thrown as RuntimeError).code ?? String(thrown);
  }
  return 'nothing was thrown';
}

export type Loose = Record<string, unknown>;

/** A machine from a configuration that need not please the type checker. */
export function machineOf(config: Loose, actors: Loose = {}): AnyStateMachine {
  const made = setup({ actors: actors as never }).createMachine(config as never);
  return made as unknown as AnyStateMachine;
}

/** Adds `type@at` of the event to `seen` in the context. */
export const see = assign({
  seen: ({
    context,
    event,
  }: {
    context: { seen: string[] };
    event: { type: string; at?: number };
  }) => [...context.seen, `${event.type}@${event.at}`],
} as never) as never;
