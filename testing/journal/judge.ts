/**
 * Judge of journals: every recorded turn must be one that the machine takes as it is now.
 *
 * Where event and context were recorded the machine itself takes the event, and state, context and deadlines must be
 * those of the journal. Where only the state and the type of the event are known, the chart must have such a move,
 * whatever its guards say, and a deadline of a fixed delay must have come after that delay. What cannot be known is
 * counted, and no failure.
 */

import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { messageOf } from '../../runtime/base/errors.ts';
import { SPAWN_EVENT } from '../../runtime/base/event-types.ts';
import { draftOf, statesIn } from '../model/definition.ts';
import { canonical, type JournalTurn, type Move, nameOf } from './journal.ts';
import { keyOf, OpenChart } from './open-chart.ts';
import { ReplayedActor } from './replayed-actor.ts';

export interface JournalIssue {
  /** The first turn of its kind. */
  readonly address: string;
  readonly turn: number;
  readonly move: Move;
  readonly what: 'move' | 'state' | 'context' | 'deadline' | 'error';
  readonly recorded: string;
  /** What the machine does instead. */
  readonly machine: string;
  /** Turns of this kind. */
  count: number;
}

export interface SeenMove extends Move {
  count: number;
}

export interface JournalReport {
  readonly actors: number;
  readonly turns: number;
  /** Turns that the machine takes just so, with context and deadlines. */
  readonly same: number;
  /** Turns that are moves of the chart as far as states and types of events tell. */
  readonly moves: number;
  /** Turns of which too little is known. */
  readonly unknown: number;
  /** Turns that failed when they were taken; they changed nothing. */
  readonly failed: number;
  readonly issues: readonly JournalIssue[];
  readonly seen: ReadonlyMap<string, SeenMove>;
}

type Found = Pick<JournalIssue, 'what' | 'recorded' | 'machine'>;
type Verdict = 'same' | 'moves' | 'unknown' | Found;

/** Where an actor stands as far as it is known. */
interface Standing {
  readonly text: string;
  readonly key: string;
  readonly snapshots: readonly AnyMachineSnapshot[];
  /** False where what history states remember is not known. */
  readonly isWhole: boolean;
}

interface Step {
  readonly verdict: Verdict;
  readonly standing: Standing | undefined;
}

/** States that are named where a move leads elsewhere. */
const NAMED_MAX = 5;

export class Judge {
  readonly #chart: OpenChart;
  readonly #replayed: ReplayedActor;
  readonly #delays: ReadonlyMap<string, number>;
  readonly #descriptors: readonly string[];
  /** The same move from the same place has the same verdict. */
  readonly #steps = new Map<string, Step>();
  readonly #issues = new Map<string, JournalIssue>();
  readonly #seen = new Map<string, SeenMove>();
  readonly #counts = { actors: 0, turns: 0, same: 0, moves: 0, unknown: 0, failed: 0 };

  constructor(machine: AnyStateMachine) {
    this.#replayed = new ReplayedActor(machine);
    this.#chart = new OpenChart(machine);
    this.#delays = fixedDelays(machine);
    this.#descriptors = [...statesIn(draftOf(machine).root)].flatMap(({ on }) => Object.keys(on));
  }

  get report(): JournalReport {
    return { ...this.#counts, issues: [...this.#issues.values()], seen: this.#seen };
  }

  /** Turns of one actor, the oldest first. */
  actor(turns: readonly JournalTurn[]): void {
    const replayed = this.#replayed;
    replayed.forget();
    this.#counts.actors += 1;
    let standing: Standing | undefined;
    let number: number | undefined;
    for (const turn of turns) {
      this.#counts.turns += 1;
      if (number !== undefined && turn.turn !== number + 1) {
        standing = undefined;
        replayed.forget();
      }
      number = turn.turn;
      if (turn.hasFailed === true) {
        this.#counts.failed += 1;
        continue;
      }
      standing = this.#turn(turn, standing, turns);
    }
  }

  #turn(
    turn: JournalTurn,
    standing: Standing | undefined,
    turns: readonly JournalTurn[],
  ): Standing | undefined {
    const { event, address } = turn;
    const replayed = this.#replayed;
    const isSpawn = event.type === SPAWN_EVENT;
    const to = turn.state === undefined ? standing?.text : canonical(turn.state);
    // Its rows were cut off: nobody knows where it stood.
    if (to === undefined) {
      this.#counts.unknown += 1;
      return undefined;
    }
    if (this.#isOrder(event.type) && !isSpawn) {
      this.#counts.unknown += 1;
      replayed.forget();
      return this.#standingAt(to);
    }
    const value = stateOf(to);
    const exact = this.#exactly(turn, value);
    const step = this.#openly(turn, isSpawn ? SPAWNED : standing, to);
    const late = this.#delayOf(turn, turns);
    const verdict = exact ?? late ?? step.verdict;
    const move: Move = { from: isSpawn ? '' : (standing?.text ?? '?'), event: event.type, to };
    if (move.from !== '?') this.#see(move);
    if (typeof verdict === 'string') this.#counts[verdict] += 1;
    else this.#note({ ...verdict, address, turn: turn.turn, move, count: 1 });
    if (exact !== 'same') replayed.standAt(turn, value);
    return step.standing;
  }

  /** True of what the runtime itself did, by order of an operator. */
  #isOrder(type: string): boolean {
    if (!type.startsWith('escapement.')) return false;
    const isTakenBy = (known: string): boolean =>
      known === type || (known.endsWith('.*') && type.startsWith(known.slice(0, -1)));
    return !this.#descriptors.some(isTakenBy);
  }

  /** By the machine itself; undefined where the journal does not have what that takes. */
  #exactly(turn: JournalTurn, value: unknown): Verdict | undefined {
    const { event, at, context, deadlines } = turn;
    const replayed = this.#replayed;
    const before = replayed.snapshot;
    if (!replayed.knows(turn)) {
      replayed.forget();
      return undefined;
    }
    try {
      if (event.type === SPAWN_EVENT) replayed.begin(event.input, at);
      else if (!replayed.take(turn)) return undefined;
    } catch (thrown) {
      replayed.forget();
      // What it was spawned with may have been left out as a secret, or as too large.
      if (before === undefined && event.input === undefined) return undefined;
      return { what: 'error', recorded: 'no error', machine: messageOf(thrown) };
    }
    const { snapshot } = replayed;
    const compared: ReadonlyArray<readonly [Found['what'], unknown, unknown]> = [
      ['state', value, snapshot?.value],
      ['context', context, snapshot?.context],
      ['deadline', deadlines && byId(deadlines), byId(replayed.deadlines)],
    ];
    for (const [what, recorded, now] of compared) {
      if (recorded === undefined) continue;
      const [one, other] = [recorded, asJson(now)].map(canonical) as [string, string];
      if (one !== other) return { what, recorded: one, machine: other };
    }
    return 'same';
  }

  /** By states and types of events alone. */
  #openly({ event }: JournalTurn, standing: Standing | undefined, to: string): Step {
    if (standing === undefined) return { verdict: 'unknown', standing: this.#standingAt(to) };
    const name = `${standing.key}\n${event.type}\n${to}`;
    const known = this.#steps.get(name);
    if (known !== undefined) return known;
    const step = this.#tried(event.type, standing, to);
    this.#steps.set(name, step);
    return step;
  }

  #tried(event: string, standing: Standing, to: string): Step {
    const ways =
      standing === SPAWNED ? this.#chart.begins() : this.#chart.after(standing.snapshots, event);
    const led = ways.snapshots.filter(({ value }) => canonical(value) === to);
    if (led.length > 0)
      return { verdict: 'moves', standing: standingOf(to, led, standing.isWhole) };
    const next = this.#standingAt(to);
    if (next === undefined)
      return {
        verdict: { what: 'move', recorded: to, machine: 'it has no such state' },
        standing: undefined,
      };
    if (!ways.isSure || !standing.isWhole) return { verdict: 'unknown', standing: next };
    const possible = [...new Set(ways.snapshots.map(({ value }) => canonical(value)))];
    const named = possible.slice(0, NAMED_MAX).join(', ');
    const machine = possible.length > NAMED_MAX ? `${named}, …` : named;
    return { verdict: { what: 'move', recorded: to, machine }, standing: next };
  }

  #standingAt(text: string): Standing | undefined {
    const snapshot = this.#chart.at(stateOf(text));
    return snapshot && standingOf(text, [snapshot], !this.#chart.hasHistory);
  }

  /** A deadline of a fixed delay must have been armed by a turn that much before it. */
  #delayOf({ event, dueAt }: JournalTurn, turns: readonly JournalTurn[]): Found | undefined {
    const delayMs = this.#delays.get(event.type);
    if (delayMs === undefined || dueAt === undefined) return undefined;
    const armedAt = dueAt - delayMs;
    const [first] = turns;
    const isCut = first?.event.type !== SPAWN_EVENT && armedAt < (first?.at ?? 0);
    if (isCut || turns.some(({ at }) => at === armedAt)) return undefined;
    if (turns.some(({ event: { type } }) => this.#isOrder(type) && type !== SPAWN_EVENT))
      return undefined;
    const passed = turns.filter(({ at }) => at <= dueAt).map(({ at }) => `${dueAt - at} ms`);
    const recorded = passed.slice(-NAMED_MAX).join(', ');
    return {
      what: 'deadline',
      recorded: `due ${recorded} after the turns before it`,
      machine: `${delayMs} ms`,
    };
  }

  #see(move: Move): void {
    const name = nameOf(move);
    const seen = this.#seen.get(name) ?? { ...move, count: 0 };
    seen.count += 1;
    this.#seen.set(name, seen);
  }

  #note(issue: JournalIssue): void {
    const name = `${issue.what}\n${nameOf(issue.move)}`;
    const known = this.#issues.get(name);
    if (known === undefined) this.#issues.set(name, issue);
    else known.count += 1;
  }
}

/** Before the first turn. */
const SPAWNED: Standing = { text: '', key: '', snapshots: [], isWhole: true };

const standingOf = (
  text: string,
  snapshots: readonly AnyMachineSnapshot[],
  isWhole: boolean,
): Standing => ({
  text,
  key: [isWhole, ...snapshots.map(keyOf).sort()].join('\n'),
  snapshots,
  isWhole,
});

/** The state value of its text. */
const stateOf = (text: string): unknown => (text.startsWith('{') ? JSON.parse(text) : text);

/** What JSON makes of it, as a journal has it. */
const asJson = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value) ?? 'null');

const byId = (deadlines: NonNullable<JournalTurn['deadlines']>): string[] =>
  deadlines.map(({ id, dueAt }) => `${id} at ${dueAt}`).sort();

/** Delays that are the same whatever the context is, by the type of the deadline's event. */
function fixedDelays(machine: AnyStateMachine): Map<string, number> {
  const { root, implementations } = draftOf(machine);
  const delays = new Map<string, number>();
  for (const { id, after } of statesIn(root))
    for (const delay of Object.keys(after)) {
      const given = implementations.delays[delay] ?? Number(delay);
      if (typeof given === 'number' && Number.isFinite(given))
        delays.set(`xstate.after.${delay}.${id}`, Math.ceil(given));
    }
  return delays;
}
