/**
 * Subject: one machine in virtual time, stepped in this process without a runtime around it.
 *
 * It is the seam's own interpreter (`Statechart`), with a table of deadlines in place of a node: the
 * earliest fires first, of equals the one armed first, and what is due when a step is over fires before
 * the next one. Nothing is performed; promises, callbacks and observables end only by a step that says
 * so. A machine that throws ends its test. 100,000 steps and more a second are possible, which is what
 * exploring and scoring need; the engine itself is driven by engine-driver.ts.
 */

import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { type TimerRow, TimerTable } from '../../runtime/actor.ts';
import { type Effect, Statechart, type Tree } from '../../runtime/statechart.ts';
import type { TestStep } from './step.ts';

/** When every test begins, in ms since the epoch. */
export const BEGINS_AT = 1_800_000_000_000;
/** Deadlines that may fire in one step: a machine that arms one for now again and again never rests. */
const FIRED_MAX = 1_000;
const LIMITS = { microstepsMax: 1_000, childrenMax: 64 };

/** What left the machine in one step, without what the engine does with it. */
export interface Asked {
  readonly what: 'send' | 'emit' | 'action';
  readonly name: string;
  readonly data: unknown;
}

/** A child that ends only when a step says so. */
export interface OpenChild {
  readonly path: string;
  readonly session: number;
  readonly src: string | undefined;
}

/** A moment of a machine without children, to which a subject can be set back. */
export interface Moment {
  readonly snapshot: AnyMachineSnapshot;
  readonly at: number;
  readonly deadlines: readonly TimerRow[];
}

export class Subject {
  readonly chart: Statechart;
  #tree!: Tree;
  #timers = new TimerTable();
  #effects: Effect[] = [];
  /** Effects of this step that the table of deadlines has seen. */
  #settled = 0;
  at = BEGINS_AT;
  /** What the machine threw; nothing happens after that. */
  thrown: unknown;
  /** Told of each event that was taken, under the type that a history has for it, with where it was taken. */
  onTaken: ((type: string, before: AnyMachineSnapshot) => void) | undefined;

  constructor(machine: AnyStateMachine) {
    this.chart = new Statechart(machine, LIMITS);
  }

  get snapshot(): AnyMachineSnapshot {
    return this.#tree.snapshot;
  }

  get deadlines(): readonly TimerRow[] {
    return this.#timers.rows;
  }

  /** The deadline that fires first. */
  get earliest(): TimerRow | undefined {
    return this.#timers.earliest();
  }

  /** True while the machine takes events. */
  get isActive(): boolean {
    return this.thrown === undefined && (this.#tree.snapshot.status as string) === 'active';
  }

  get hasChildren(): boolean {
    return this.thrown === undefined && this.#tree.hasChildren;
  }

  /** Spawns the actor; what is due at once fires. */
  begin(input: unknown): void {
    this.at = BEGINS_AT;
    this.#timers = new TimerTable();
    this.#forgetEffects();
    this.thrown = undefined;
    try {
      this.#tree = this.chart.start('it', input, this.at, this.#effects, 0, () => {});
      this.#settle();
      this.#fireDue(this.at);
    } catch (thrown) {
      this.thrown = thrown ?? new Error('undefined was thrown');
    }
  }

  perform(step: TestStep): void {
    if (this.thrown !== undefined) return;
    this.#forgetEffects();
    try {
      this.#carryOut(step);
      this.#fireDue(this.at);
    } catch (thrown) {
      this.thrown = thrown ?? new Error('undefined was thrown');
    }
  }

  /** Children that end only when a step says so. */
  openChildren(): OpenChild[] {
    if (this.thrown !== undefined || !this.#tree.hasChildren) return [];
    return this.#tree
      .members()
      .filter(({ actsAlone }) => actsAlone)
      .map(({ path, session, src }) => ({ path, session, src }));
  }

  /** What was asked for in the last step. */
  asked(): Asked[] {
    const asked: Asked[] = [];
    for (const effect of this.#effects) {
      if (effect.type === 'send') asked.push({ what: 'send', name: effect.to, data: effect.event });
      else if (effect.type === 'emit')
        asked.push({ what: 'emit', name: effect.event.type, data: effect.event });
      else if (effect.type === 'action' && effect.name !== '(anonymous)')
        asked.push({ what: 'action', name: effect.name, data: effect.params });
    }
    return asked;
  }

  /** Where it stands; undefined while children run, whose state is not in the snapshot alone. */
  moment(): Moment | undefined {
    if (this.thrown !== undefined || this.#tree.hasChildren) return undefined;
    return { snapshot: this.#tree.snapshot, at: this.at, deadlines: [...this.deadlines] };
  }

  /** Sets it to a moment of a subject of the same chart. */
  standAt({ snapshot, at, deadlines }: Moment): void {
    if (snapshot.machine !== this.chart.machine)
      throw new Error('The moment belongs to another subject.');
    this.#tree = this.chart.standing('it', snapshot);
    this.#forgetEffects();
    this.#timers = new TimerTable([...deadlines]);
    this.at = at;
    this.thrown = undefined;
  }

  /** True where nothing at all has happened since that moment. */
  isStillAt(moment: Moment | undefined): boolean {
    if (moment === undefined || this.thrown !== undefined) return false;
    const { snapshot, deadlines } = moment;
    const { rows } = this.#timers;
    return (
      this.#tree.snapshot === snapshot &&
      rows.length === deadlines.length &&
      rows.every((row, index) => row === deadlines[index])
    );
  }

  #carryOut(step: TestStep): void {
    switch (step.type) {
      case 'send':
        this.at += step.lateMs ?? 0;
        if (this.isActive) this.#take(step.event);
        return;
      case 'advance':
        this.#advanceTo(this.at + step.byMs);
        return;
      case 'resolve':
      case 'reject':
        this.#end(step);
        return;
      case 'restart':
        this.#restart();
    }
  }

  #take(event: { readonly type: string }): void {
    const timed = { ...event, at: this.at };
    const before = this.snapshot;
    this.#tree.take(timed, this.at, this.#effects);
    this.#settle();
    this.onTaken?.(event.type, before);
  }

  #end(step: Extract<TestStep, { type: 'resolve' | 'reject' }>): void {
    const child = this.openChildren().find(({ path }) => path === step.child);
    if (child === undefined) return;
    const result =
      step.type === 'resolve'
        ? ({ type: 'done', output: step.output } as const)
        : ({ type: 'error', error: new Error(step.message) } as const);
    const before = this.snapshot;
    this.#tree.settle(child.session, result, this.at, this.#effects);
    this.#settle();
    this.onTaken?.(`child ${result.type}`, before);
  }

  #restart(): void {
    if (this.#tree.snapshot.status !== 'active') return;
    const { sessions, booked } = this.#tree.sessions() ?? {};
    const snapshot = JSON.parse(this.#tree.encode());
    this.#tree = this.chart.restore('it', { snapshot, sessions, booked }, () => {});
  }

  #forgetEffects(): void {
    this.#effects = [];
    this.#settled = 0;
  }

  #advanceTo(at: number): void {
    this.#fireDue(at);
    this.at = at;
  }

  /** Fires what is due by then, each at its own moment. */
  #fireDue(until: number): void {
    for (let fired = 0; this.isActive; fired += 1) {
      const due = this.#timers.takeDue(until);
      if (due === undefined) return;
      if (fired >= FIRED_MAX) throw new Error(`"${due.id}" is due at once again and again.`);
      this.at = Math.max(this.at, due.dueAt);
      const before = this.snapshot;
      this.#tree.fire(due, this.at, this.#effects);
      this.#settle();
      this.onTaken?.(due.event.type, before);
    }
  }

  /** Arms and cancels deadlines as the last turn asked. */
  #settle(): void {
    for (const effect of this.#effects.slice(this.#settled)) this.#timers.apply(effect, this.at);
    this.#settled = this.#effects.length;
    if (!this.isActive) this.#timers = new TimerTable();
  }
}
