/**
 * A machine as XState alone runs it: one event in, the next snapshot out, with every transition of
 * every microstep on the way.
 *
 * It is what the engine is compared with, so it shares nothing with the engine's interpreter: XState
 * steps a copy of the machine, and only what a machine may rely on is added, the time `at` on its
 * input, on its first event and on what it raises. Nothing is performed. Machines that invoke or
 * spawn are refused: a child's answers belong to the run, not to the machine.
 */

import type { AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import { lineOf, type Shape, type StateNode, shapeOf, type Transition } from './shape.ts';

/** An action as XState resolved it. */
export interface AskedAction {
  readonly type: string;
  readonly params: unknown;
}

/** What one step of the machine did. */
export interface Played {
  readonly snapshot: AnyMachineSnapshot;
  readonly actions: readonly AskedAction[];
  /** Names of the transitions taken, microstep by microstep. */
  readonly taken: readonly string[];
  /** Every state it was in, were it for one microstep. */
  readonly entered: ReadonlySet<string>;
}

interface Microstep {
  readonly type: string;
  readonly snapshot?: { readonly _nodes: readonly StateNode[] };
  readonly _transitions?: readonly Transition[];
}

/** What is private in a machine and replaced in the copy. */
interface Stamped {
  getTransitionData(snapshot: unknown, event: Raised): unknown;
  _getPreInitialState(scope: unknown, event: Raised, queue: unknown): unknown;
}

type Raised = { readonly type: string; at?: number };

type Run = (...args: unknown[]) => AnyMachineSnapshot;

export class PureMachine {
  readonly shape: Shape;
  readonly #machine: AnyStateMachine;
  #at = 0;
  #actions: AskedAction[] = [];
  #microsteps: Microstep[] = [];
  /** Raised events that were given the time; a machine may raise the same object again later. */
  #stamped: Raised[] = [];
  readonly #scope = this.#newScope();

  constructor(machine: AnyStateMachine) {
    this.#machine = machine.provide({});
    this.shape = shapeOf(this.#machine);
    this.#stampEvents();
  }

  /** @throws whatever the machine throws */
  start(input: unknown, at: number): Played {
    return this.#play(at, () => {
      const start = this.#machine.getInitialSnapshot as unknown as Run;
      const snapshot = start(this.#scope, withSpawnTime(input, at));
      if ((snapshot.status as string) === 'error') throw snapshot.error;
      return snapshot;
    });
  }

  /** Takes an event, whether the machine has ended or not. @throws whatever the machine throws */
  take(snapshot: AnyMachineSnapshot, event: EventObject, at: number): Played {
    const step = this.#machine.transition as unknown as Run;
    return this.#play(at, () => step(snapshot, { ...event, at }, this.#scope));
  }

  /** The names of the states that the snapshot is in. */
  statesOf(snapshot: AnyMachineSnapshot): readonly string[] {
    return (snapshot as unknown as { _nodes: readonly StateNode[] })._nodes.map(({ id }) => id);
  }

  #play(at: number, run: () => AnyMachineSnapshot): Played {
    this.#at = at;
    this.#actions = [];
    this.#microsteps = [];
    try {
      const snapshot = run();
      return { snapshot, actions: this.#actions, ...this.#trace(snapshot) };
    } finally {
      for (const event of this.#stamped.splice(0)) delete event.at;
    }
  }

  #trace(snapshot: AnyMachineSnapshot): Pick<Played, 'taken' | 'entered'> {
    const taken: string[] = [];
    const entered = new Set(this.statesOf(snapshot));
    for (const { _transitions: transitions = [], snapshot: after } of this.#microsteps) {
      for (const { id } of after?._nodes ?? []) entered.add(id);
      for (const transition of transitions) {
        taken.push(this.shape.transitions.get(transition) ?? transition.source.id);
        // The first states of all are not announced: whatever is left was entered.
        for (const { id } of lineOf(transition.source)) entered.add(id);
      }
    }
    return { taken, entered };
  }

  #stampEvents(): void {
    const copy = this.#machine as unknown as Stamped;
    const select = copy.getTransitionData.bind(copy);
    copy.getTransitionData = (snapshot, event) => select(snapshot, this.#stamp(event));
    const begin = copy._getPreInitialState.bind(copy);
    copy._getPreInitialState = (scope, event, queue) => begin(scope, this.#stamp(event), queue);
  }

  #stamp(event: Raised): Raised {
    if (event.at !== undefined) return event;
    event.at = this.#at;
    this.#stamped.push(event);
    return event;
  }

  /** What XState wants to know of the runner of a machine. */
  #newScope(): object {
    const system = {
      _sendInspectionEvent: (event: Microstep) => {
        if (event.type === '@xstate.actor')
          throw new Error('Machines with children have no paths.');
        if (event.type === '@xstate.microstep') this.#microsteps.push(event);
      },
      _bookId: () => 'child',
      _set() {},
      _unregister() {},
      get: () => undefined,
      getAll: () => ({}),
    };
    return {
      self: { id: 'it', sessionId: 'it', system },
      id: 'it',
      sessionId: 'it',
      system,
      logger() {},
      defer() {},
      emit() {},
      stopChild() {},
      actionExecutor: (action: AskedAction) => this.#actions.push(action),
    };
  }
}

/** As the engine gives it: there to be read, and left out by anybody who copies the input. */
function withSpawnTime(input: unknown, at: number): unknown {
  if (typeof input !== 'object' || input === null) return input;
  return Object.defineProperty({ ...input }, 'at', { value: at, enumerable: false });
}
