/**
 * Replayed actor: the machine itself, led through the recorded events of one actor at their moments.
 *
 * It begins with the recorded input, or stands at a recorded state and context where these are all that a machine is
 * made of. Nothing is performed; deadlines come when the journal says so.
 */

import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { LEADERSHIP_ACQUIRED, TimerTable } from '../../runtime/actor.ts';
import { SPAWN_EVENT } from '../../runtime/base/event-types.ts';
import { type Effect, Statechart, type Tree } from '../../runtime/statechart.ts';
import { draftOf, statesIn } from '../model/definition.ts';
import { isPlain, type JournalTurn } from './journal.ts';

const LIMITS = { microstepsMax: 1_000, childrenMax: 64 };

const RUNNING = { status: 'active', output: undefined, error: undefined, input: undefined };
const RESOLVED = { type: 'xstate.promise.resolve', data: undefined };

/** True of logic that sends nothing but its end. */
function isPromise(logic: unknown): boolean {
  const { transition } = (logic ?? {}) as {
    readonly transition?: (...args: readonly unknown[]) => { readonly status?: unknown };
  };
  try {
    return transition?.(RUNNING, RESOLVED, {}).status === 'done';
  } catch {
    return false;
  }
}

export class ReplayedActor {
  readonly #chart: Statechart;
  readonly #hasChildren: boolean;
  /** True where children may send events, of which a journal has the type alone. */
  readonly #hearsChildren: boolean;
  readonly #hasHistory: boolean;
  /** True while every context that was seen is data, so that one can be taken from a journal; unknown at first. */
  #isData: boolean | undefined;
  #tree: Tree | undefined;
  #timers = new TimerTable();

  constructor(machine: AnyStateMachine) {
    this.#chart = new Statechart(machine, LIMITS);
    const { root, implementations } = draftOf(machine);
    const states = [...statesIn(root)];
    this.#hasHistory = states.some(({ type }) => type === 'history');
    const sources = states.flatMap(({ invoke }) => invoke.map(({ src }) => src));
    const logics = [
      ...Object.values(implementations.actors),
      ...sources.filter((src) => typeof src !== 'string'),
    ];
    this.#hasChildren = logics.length > 0;
    this.#hearsChildren = !logics.every(isPromise);
  }

  /** Undefined where it does not know where it stands. */
  get snapshot(): AnyMachineSnapshot | undefined {
    return this.#tree?.snapshot;
  }

  get deadlines(): ReadonlyArray<{ readonly id: string; readonly dueAt: number }> {
    return this.#timers.rows;
  }

  /** Begins another actor. */
  forget(): void {
    this.#tree = undefined;
  }

  /** True of an event that the journal has whole. */
  knows({ event, isWhole = false, dueAt }: JournalTurn): boolean {
    if (!isWhole || event.type === LEADERSHIP_ACQUIRED || event.type.startsWith('child '))
      return false;
    const mayBeCut = this.#hearsChildren && Object.keys(event).length === 1;
    const isOwn = dueAt !== undefined || event.type.startsWith('xstate.');
    return !mayBeCut || isOwn || event.type === SPAWN_EVENT;
  }

  /** @throws what the machine threw */
  begin(input: unknown, at: number): void {
    const effects: Effect[] = [];
    this.#timers = new TimerTable();
    this.#tree = undefined;
    this.#tree = this.#chart.start('it', input, at, effects, 0, () => {});
    this.#done(effects, at);
  }

  /** Stands where it was recorded to be, unless more than that would have to be known. */
  standAt({ context, deadlines }: JournalTurn, value: unknown): void {
    this.#tree = undefined;
    const isAll = this.#isData === true && !this.#hasChildren && !this.#hasHistory;
    if (!isAll || context === undefined || deadlines === undefined) return;
    try {
      this.#tree = this.#chart.restore('it', { snapshot: { value, context } });
    } catch {
      return;
    }
    const usual = { session: 0, target: 0, to: undefined, isHint: false };
    this.#timers = new TimerTable(
      deadlines.map(({ id, dueAt }) => ({ ...usual, id, dueAt, event: { type: id } })),
    );
  }

  /**
   * Takes the event of a turn; false where it does not know where it stands, or the deadline.
   *
   * @throws what the machine threw
   */
  take({ event, at }: JournalTurn): boolean {
    const tree = this.#tree;
    if (tree === undefined) return false;
    const effects: Effect[] = [];
    const { rows } = this.#timers;
    const due = rows.find((row) => row.event.type === event.type && row.dueAt <= at);
    if (due !== undefined) {
      rows.splice(rows.indexOf(due), 1);
      tree.fire(due, at, effects);
    } else if (event.type.startsWith('xstate.')) return false;
    else {
      const taken = { ...event, at };
      tree.take(taken, at, effects);
    }
    this.#done(effects, at);
    return true;
  }

  #done(effects: readonly Effect[], at: number): void {
    for (const effect of effects) this.#timers.apply(effect, at);
    const { snapshot } = this;
    if (snapshot?.status !== 'active') this.#timers = new TimerTable();
    if (this.#isData !== false) this.#isData = isPlain(snapshot?.context);
  }
}
