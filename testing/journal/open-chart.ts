/**
 * Open chart: a machine without its data. Each guard may hold or not, and only raised events are left of its actions.
 *
 * It says which states an event may lead to where the journal has the state and the type of the event alone. Where
 * it does not know everything (an event raised by a function, a child that is a machine) it says so, and what
 * it does not find proves nothing.
 */

import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { Statechart } from '../../runtime/statechart.ts';
import {
  type Draft,
  draftOf,
  rebuild,
  type StateDraft,
  statesIn,
  type TransitionDraft,
  transitionLists,
} from '../model/definition.ts';
import { textOf } from '../model/observation.ts';
import { canonical } from './journal.ts';

/** Outcomes of guards that are tried for one event; with more of them it is not sure any longer. */
const TRIED_MAX = 1_000;
const LIMITS = { microstepsMax: 60, childrenMax: 1 };
/** Events of XState come from outside here, where it takes none of its own. */
const OUTSIDE = 'recorded:';
/** Events of a child that has come to its end, which histories do not name. */
const CHILD_ENDS: Readonly<Record<string, string>> = {
  'child done': 'xstate.done.actor.',
  'child error': 'xstate.error.actor.',
  'child stopFailed': 'xstate.error.actor.',
};

export interface Ways {
  readonly snapshots: readonly AnyMachineSnapshot[];
  /** True where nothing else is possible. */
  readonly isSure: boolean;
}

export class OpenChart {
  readonly hasHistory: boolean;
  readonly #chart: Statechart;
  /** True where children may send events within a turn. */
  readonly #hasMachines: boolean;
  /** What the guards say one after the other, and how many were asked. */
  #said: boolean[] = [];
  #asked = 0;
  #isSure = true;

  constructor(machine: AnyStateMachine) {
    const draft = draftOf(machine);
    const states = [...statesIn(draft.root)];
    this.hasHistory = states.some(({ type }) => type === 'history');
    this.#hasMachines = hasMachines(draft, states);
    const { implementations } = draft;
    const root = this.#opened(draft.root, implementations.actions);
    this.#chart = new Statechart(rebuild({ root, implementations }), LIMITS);
  }

  /** Snapshots in which it may begin. */
  begins(): Ways {
    return this.#each(() => [this.#chart.start('it', undefined, 0, []).snapshot]);
  }

  /** The snapshot of a state value that nothing else is known of; undefined where it has no such state. */
  at(value: unknown): AnyMachineSnapshot | undefined {
    try {
      return this.#chart.restore('it', { snapshot: { value, context: {} } }).snapshot;
    } catch {
      return undefined;
    }
  }

  /** Snapshots to which an event may lead. */
  after(before: readonly AnyMachineSnapshot[], event: string): Ways {
    const types = this.#typesOf(event);
    return this.#each(() =>
      before.flatMap((snapshot) =>
        types.map((type) => {
          const tree = this.#chart.standing('it', snapshot);
          tree.take({ type }, 0, []);
          return tree.snapshot;
        }),
      ),
    );
  }

  #typesOf(event: string): readonly string[] {
    const prefix = CHILD_ENDS[event];
    if (prefix === undefined) return [event.startsWith('xstate.') ? OUTSIDE + event : event];
    const ends = this.#chart.descriptors.filter((type) => type.startsWith(OUTSIDE + prefix));
    return [`${OUTSIDE}${prefix}other`, ...ends];
  }

  /** What a run may come to, each guard on its way holding or not. */
  #each(run: () => readonly AnyMachineSnapshot[]): Ways {
    const found = new Map<string, AnyMachineSnapshot>();
    this.#said = [];
    this.#isSure = !this.#hasMachines;
    for (let tried = 0; ; tried += 1) {
      if (tried === TRIED_MAX) {
        this.#isSure = false;
        break;
      }
      this.#asked = 0;
      try {
        for (const snapshot of run()) found.set(keyOf(snapshot), snapshot);
      } catch {
        // Guards that hold without end lead nowhere.
      }
      this.#said.length = this.#asked;
      while (this.#said.at(-1) === false) this.#said.pop();
      if (this.#said.length === 0) break;
      this.#said[this.#said.length - 1] = false;
    }
    return { snapshots: [...found.values()], isSure: this.#isSure };
  }

  readonly #choose = (): boolean => {
    const index = this.#asked;
    this.#asked += 1;
    this.#said[index] ??= true;
    return this.#said[index];
  };

  readonly #doubt = {
    type: 'escapement.doubt',
    // XState resolves parameters in the microstep that takes the action.
    params: (): void => {
      this.#isSure = false;
    },
  };

  #opened(state: StateDraft, named: Readonly<Record<string, unknown>>): StateDraft {
    for (const { list } of transitionLists(state))
      for (const transition of list) {
        if (transition.guard !== undefined) transition.guard = this.#choose;
        transition.actions = this.#kept(transition.actions, named);
      }
    const on: StateDraft['on'] = {};
    const add = (type: string, list: readonly TransitionDraft[] = []): void => {
      on[type] = [...(on[type] ?? []), ...list];
    };
    for (const [type, list] of Object.entries(state.on))
      add(type.startsWith('xstate.') ? OUTSIDE + type : type, list);
    for (const [delay, list] of Object.entries(state.after))
      add(`${OUTSIDE}xstate.after.${delay}.${state.id}`, list);
    for (const [index, { id, onDone, onError, onSnapshot }] of state.invoke.entries()) {
      const child = id ?? `${index}.${state.id}`;
      add(`${OUTSIDE}xstate.done.actor.${child}`, onDone);
      add(`${OUTSIDE}xstate.error.actor.${child}`, onError);
      add(`${OUTSIDE}xstate.snapshot.${child}`, onSnapshot);
    }
    const { initial, rest, states } = state;
    return {
      ...state,
      ...(initial !== undefined && {
        initial: { ...initial, actions: this.#kept(initial.actions, named) },
      }),
      on,
      after: {},
      invoke: [],
      entry: this.#kept(state.entry, named),
      exit: this.#kept(state.exit, named),
      rest: rest.id === undefined ? {} : { id: rest.id },
      states: Object.fromEntries(
        Object.entries(states).map(([key, child]) => [key, this.#opened(child, named)]),
      ),
    };
  }

  /** Raised events, and a doubt for each action that may raise what nobody can know. */
  #kept(actions: readonly unknown[], named: Readonly<Record<string, unknown>>): unknown[] {
    return actions.flatMap((action) => {
      const name =
        typeof action === 'string' ? action : (action as { readonly type?: string }).type;
      const whole = (typeof action === 'function' ? undefined : named[name ?? '']) ?? action;
      const { type, event, delay, to } = whole as {
        readonly [key in 'type' | 'event' | 'delay' | 'to']?: unknown;
      };
      if (type === 'xstate.raise' && delay === undefined)
        return typeof event === 'function' ? [this.#doubt] : [whole];
      const reachesItself =
        (type === 'xstate.sendTo' && /\bself\b/.test(String(to))) ||
        (type === 'xstate.enqueueActions' && /\b(raise|self)\b/.test(sourceOf(whole)));
      return reachesItself ? [this.#doubt] : [];
    });
  }
}

/** Source of the function that XState keeps beside what it made of it. */
function sourceOf(action: unknown): string {
  const { collect } = action as { readonly collect?: unknown };
  return String(collect ?? 'raise');
}

function hasMachines({ implementations }: Draft, states: readonly StateDraft[]): boolean {
  const isMachine = (logic: unknown): boolean =>
    typeof logic === 'object' && logic !== null && '__xstatenode' in logic;
  return (
    Object.values(implementations.actors).some(isMachine) ||
    states.some(({ invoke }) => invoke.some(({ src }) => isMachine(src)))
  );
}

/** Snapshots of one key are the same to an open chart. */
export function keyOf({ status, value, historyValue }: AnyMachineSnapshot): string {
  const remembered = Object.entries((historyValue ?? {}) as Readonly<Record<string, unknown>>);
  const ids = remembered.map(([id, nodes]) => [
    id,
    (nodes as ReadonlyArray<{ readonly id: string }>).map((node) => node.id),
  ]);
  return textOf([status, canonical(value), ids]);
}
