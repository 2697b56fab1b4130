/**
 * All states of one actor that were met, and what each becomes of what: the real machine, stepped
 * once for each pair of a state and an event at a moment.
 *
 * It is stepped as the engine does it: by the same statechart, with the same table of deadlines, and
 * from a snapshot that was written as JSON and restored, as after a crash. What the machine throws
 * is a finding.
 */

import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { type TimerRow, TimerTable } from '../../runtime/actor/timer-table.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import { DEFAULT_LIMITS } from '../../runtime/base/limits.ts';
import type { ActionEffect, Effect } from '../../runtime/statechart/effect.ts';
import { Statechart, type Tree } from '../../runtime/statechart/statechart.ts';
import { inlined, unmark } from '../../runtime/statechart/tables.ts';
import { Interner } from './interner.ts';

export interface PlayedEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface ActorState<TContext> {
  readonly context: TContext;
  /** The state value, for people and checks. */
  readonly value: unknown;
  readonly timers: readonly TimerRow[];
  /** When its next deadline is due; Infinity without any. */
  readonly dueAt: number;
  readonly isDone: boolean;
  readonly snapshot: AnyMachineSnapshot | undefined;
}

/** One turn: the next state, numbers of messages, and actions for the program. */
export interface Turn {
  readonly next: number;
  readonly says: readonly number[];
  readonly asks: readonly ActionEffect[];
  readonly broken: Finding | undefined;
}

export interface Finding {
  readonly invariant: string;
  readonly what: string;
}

/** A turn as checks see it. */
export interface SeenTurn<TContext> {
  readonly before: TContext;
  readonly event: PlayedEvent;
  readonly at: number;
  readonly after: TContext;
  readonly timers: readonly TimerRow[];
}

export interface PlayedActor<TContext> {
  readonly address: string;
  readonly machine: AnyStateMachine;
  /** Leaves out what no future depends on. */
  readonly forget: (context: TContext, value: unknown, isDone: boolean) => object;
  readonly isForgetful: boolean;
  readonly check: (turn: SeenTurn<TContext>) => Finding | undefined;
  /** The number of a message that is said, negative when nobody in the world hears it. */
  readonly numberOf: (to: string, event: PlayedEvent, isHint: boolean) => number;
}

/** Moments are below this, after the zero of the world. */
const MOMENTS_MAX = 2 ** 17;
/** The event of a deadline. */
const TIMER = 0;

export class ActorStates<TContext extends object> {
  readonly states = new Interner<ActorState<TContext>>();
  readonly #actor: PlayedActor<TContext>;
  readonly #chart: Statechart;
  readonly #zero: number;
  readonly #effects: Effect[] = [];
  readonly #turns: Array<Map<number, Turn>> = [];
  #tree: Tree | undefined;

  constructor(actor: PlayedActor<TContext>, zero: number) {
    this.#actor = actor;
    this.#chart = new Statechart(actor.machine, DEFAULT_LIMITS);
    this.#zero = zero;
  }

  get(state: number): ActorState<TContext> {
    return this.states.get(state);
  }

  /** A state without what no future depends on. */
  portraitOf(state: number): string {
    const { context, value, timers, isDone } = this.get(state);
    const due = timers.map(({ id, dueAt }) => `${id}@${dueAt - this.#zero}`);
    return JSON.stringify([due, value, this.#actor.forget(context, value, isDone)]);
  }

  born(input: object, at: number): Turn {
    this.#effects.length = 0;
    const tree = this.#chart.start(this.#actor.address, input, at, this.#effects);
    this.#tree = tree;
    return this.#settled(tree, [], at);
  }

  /** `number` stands for the event. */
  take(state: number, number: number, event: PlayedEvent, at: number): Turn {
    return this.#remembered(state, number + 1, at, () => {
      const { timers } = this.get(state);
      return this.#stepped(state, event, at, timers, (tree) =>
        tree.take({ ...event, at } as never, at, this.#effects),
      );
    });
  }

  /** Its earliest deadline, of equals the one armed first. */
  fire(state: number, at: number): Turn {
    return this.#remembered(state, TIMER, at, () => {
      const table = new TimerTable([...this.get(state).timers]);
      const timer = table.takeDue(at) as TimerRow;
      return this.#stepped(state, timer.event, at, table.rows, (tree) =>
        tree.fire(timer, at, this.#effects),
      );
    });
  }

  #remembered(state: number, event: number, at: number, step: () => Turn): Turn {
    let turns = this.#turns[state];
    if (turns === undefined) {
      turns = new Map();
      this.#turns[state] = turns;
    }
    const key = event * MOMENTS_MAX + (at - this.#zero);
    const known = turns.get(key);
    if (known !== undefined) return known;
    const turn = step();
    turns.set(key, turn);
    return turn;
  }

  #stepped(
    state: number,
    event: PlayedEvent,
    at: number,
    timers: readonly TimerRow[],
    step: (tree: Tree) => void,
  ): Turn {
    const tree = this.#tree as Tree;
    const { context, snapshot } = this.get(state);
    tree.snapshot = snapshot as AnyMachineSnapshot;
    this.#effects.length = 0;
    try {
      step(tree);
    } catch (thrown) {
      const what = `${this.#actor.address} threw at ${event.type}: ${messageOf(thrown)}`;
      return { next: state, says: [], asks: [], broken: { invariant: 'RT-3', what } };
    }
    const turn = this.#settled(tree, timers, at);
    const after = tree.snapshot.context as TContext;
    const seen = { before: context, event, at, after, timers: this.get(turn.next).timers };
    const broken = this.#actor.check(seen);
    return broken === undefined ? turn : { ...turn, broken };
  }

  /** What the engine makes of the effects of a turn. */
  #settled(tree: Tree, timers: readonly TimerRow[], at: number): Turn {
    const table = new TimerTable([...timers]);
    const says: number[] = [];
    const asks: ActionEffect[] = [];
    for (const effect of this.#effects) {
      if (table.apply(effect, at)) continue;
      if (effect.type === 'action' && effect.name !== 'note') asks.push(effect);
      if (effect.type !== 'send') continue;
      const number = this.#actor.numberOf(effect.to, effect.event as PlayedEvent, effect.isHint);
      if (number >= 0) says.push(number);
    }
    const isDone = tree.snapshot.status !== 'active';
    return { next: this.#intern(tree, isDone ? [] : table.rows), says, asks, broken: undefined };
  }

  #intern(tree: Tree, rows: readonly TimerRow[]): number {
    const { value, status, context } = tree.snapshot;
    const isDone = status !== 'active';
    const { forget, isForgetful } = this.#actor;
    const kept = isForgetful ? forget(context as TContext, value, isDone) : context;
    const timers = [...rows].sort((one, other) => one.dueAt - other.dueAt);
    const due = timers.map(({ id, dueAt }) => `${id}@${dueAt - this.#zero}`);
    const stored = JSON.stringify({ value, context: inlined(kept as object) });
    return this.states.numberOf(`${due.join(' ')} ${stored}`, () => {
      const snapshot = JSON.parse(stored);
      unmark(snapshot.context);
      return {
        context: snapshot.context,
        value,
        timers,
        dueAt: timers[0]?.dueAt ?? Number.POSITIVE_INFINITY,
        isDone,
        snapshot: isDone
          ? undefined
          : this.#chart.restore(this.#actor.address, { snapshot }).snapshot,
      };
    });
  }
}
