/**
 * Two ways to run the same generated machine: XState's own `createActor` with a clock
 * in our hands, and a `Tree` whose effects are carried out on paper. Both write down
 * what happens in the same words, so that the test only has to compare.
 *
 * Timers fire in order of due time, then of arming, in both.
 */

import { type AnyActorRef, type AnyStateMachine, createActor, type InspectionEvent } from 'xstate';
import type { Effect, StartChildEffect } from '../../runtime/effect.ts';
import type { ChildResult } from '../../runtime/stand-in.ts';
import { Statechart, type Tree } from '../../runtime/statechart.ts';
import { eventType, type Probe, type Running } from './build.ts';
import type { StepSpec } from './generate.ts';

/** What can be seen of a world after a step. */
export interface View {
  readonly trace: readonly string[];
  readonly state: unknown;
  readonly running: readonly string[];
  readonly timers: readonly number[];
  /** The message of what ended it, if something did. */
  readonly failure: string | undefined;
}

export interface World {
  take(step: StepSpec): void;
  view(): View;
}

export type Counters = Record<string, number>;

const LIMITS = { microstepsMax: 100, childrenMax: 100_000 };

/** Ends what multiplies by itself, in both worlds alike. */
const FIRED_MAX = 200;

interface Timer {
  readonly dueAt: number;
  readonly order: number;
  readonly fire: () => void;
}

/** Fires in order of due time, then of arming; stops at each timer on the way. */
class Timers {
  now = 1_000;
  #order = 0;
  readonly #byKey = new Map<unknown, Timer>();

  arm(key: unknown, delayMs: number, fire: () => void): void {
    this.#order += 1;
    this.#byKey.set(key, { dueAt: this.now + delayMs, order: this.#order, fire });
  }

  cancel(matches: (key: unknown) => boolean): void {
    for (const key of this.#byKey.keys()) if (matches(key)) this.#byKey.delete(key);
  }

  delete(key: unknown): void {
    this.#byKey.delete(key);
  }

  dues(): number[] {
    return [...this.#byKey.values()].map(({ dueAt }) => dueAt).sort((a, b) => a - b);
  }

  advance(byMs: number): void {
    const end = this.now + byMs;
    for (let fired = 0; fired < FIRED_MAX; fired += 1) {
      const [next] = [...this.#byKey]
        .filter(([, { dueAt }]) => dueAt <= end)
        .sort(([, a], [, b]) => a.dueAt - b.dueAt || a.order - b.order);
      if (next === undefined) break;
      this.#byKey.delete(next[0]);
      this.now = next[1].dueAt;
      next[1].fire();
    }
    this.now = end;
  }
}

/** What the live world needs of XState's actor (private). */
interface LiveChild {
  readonly id: string;
  readonly _parent: LiveChild;
  readonly _processingStatus: number;
  _stop(): void;
  getSnapshot(): AnySnapshot;
}

/** XState as it is, but for the differences named in differential.test.ts. */
export class LiveWorld implements World {
  readonly #probe: Probe;
  readonly #actor: AnyActorRef & { start(): void };
  readonly #timers = new Timers();
  readonly #counters: Counters;
  #failure: { readonly thrown: unknown } | undefined;
  #relays = 0;
  #children: LiveChild[] = [];
  /** More events went between the machines in one step than a Tree allows; the rest were dropped. */
  isRunaway: boolean = false;

  constructor(machine: AnyStateMachine, probe: Probe, counters: Counters) {
    this.#probe = probe;
    this.#counters = counters;
    let order = 0;
    const clock = {
      setTimeout: (fire: () => void, delayMs: number) => {
        order += 1;
        this.#timers.arm(order, delayMs, () => {
          this.#count('timersFired');
          this.#relays = -1;
          fire();
          this.#sweep();
        });
        return order as never;
      },
      clearTimeout: (key: unknown) => this.#timers.delete(key),
    };
    this.#actor = createActor(machine, {
      clock,
      logger: (...args: unknown[]) => probe.trace.push(`log ${JSON.stringify(args)}`),
      inspect: (event: InspectionEvent) => this.#inspect(event),
      input: { n: 0 },
    } as never) as never;
    this.#actor.subscribe({
      error: (thrown: unknown) => {
        this.#failure = { thrown };
      },
    });
    this.#adaptSystem();
    this.#actor.start();
    this.#sweep();
  }

  take(step: StepSpec): void {
    this.#relays = 0;
    if (step.type === 'event') this.#actor.send({ type: eventType(step.which) });
    else if (step.type === 'advance') this.#timers.advance(step.byMs);
    else if (step.type === 'settle') {
      const { running } = this.#probe;
      if (running.length === 0) return;
      this.#count('settled');
      const chosen = running[step.which % running.length] as Running;
      // A promise tells itself first, which is no event between machines.
      if (chosen.label !== 'callback') this.#relays = -1;
      chosen.settle(step.how, step.how);
    }
    this.#sweep();
  }

  view(): View {
    return {
      trace: this.#probe.trace,
      state: stateOf(this.#actor.getSnapshot()),
      running: this.#probe.running.map(({ label }) => label),
      timers: this.#timers.dues(),
      failure: this.#failure && messageOf(this.#failure.thrown),
    };
  }

  #count(name: string): void {
    this.#counters[name] = (this.#counters[name] ?? 0) + 1;
  }

  #inspect(event: InspectionEvent): void {
    if (event.type === '@xstate.actor') {
      if ((event.actorRef as AnyActorRef)._parent !== undefined) {
        this.#count('childrenBorn');
        this.#children.push(event.actorRef as unknown as LiveChild);
      }
      (event.actorRef as AnyActorRef).on('*', (emitted) => {
        this.#probe.trace.push(`emit ${JSON.stringify(emitted)}`);
      });
    } else if (event.type === '@xstate.microstep') {
      for (const transition of event._transitions) {
        this.#count('transitions');
        if (transition.eventType === '') this.#count('always');
        if (transition.reenter) this.#count('reentered');
        if (transition.target?.some(({ type }) => type === 'history'))
          this.#count('historyEntered');
      }
    }
  }

  /** The two differences that no generator can avoid are made here: see differential.test.ts. */
  #adaptSystem(): void {
    const system = this.#actor.system as unknown as {
      _relay(source: unknown, target: AnyActorRef, event: { type: string }): void;
      readonly scheduler: {
        schedule(source: unknown, ...rest: [unknown, unknown, number, string | undefined]): void;
        cancel(source: unknown, id: string): void;
      };
    };
    const { _relay: relay, scheduler } = system;
    const { schedule } = scheduler;
    scheduler.schedule = (source, target, event, delayMs, id) => {
      if (id !== undefined) scheduler.cancel(source, id);
      schedule(source, target, event, delayMs, id);
    };
    system._relay = (source, target, event) => {
      if (source !== undefined) this.#relays += 1;
      if (this.#relays > LIMITS.microstepsMax) this.isRunaway = true;
      if (this.isRunaway) return;
      this.#countEvent(event, source, target);
      relay(source, target, event);
    };
  }

  /** A tree ends children that their parent's snapshot does not lead to; XState leaves them running. */
  #sweep(): void {
    const isRunning = ({ _processingStatus }: LiveChild) => _processingStatus === 1;
    const findLost = () =>
      this.#children.find((child) => isRunning(child) && !this.#leadsTo(child));
    for (let lost = findLost(); lost !== undefined; lost = findLost()) {
      this.#count('swept');
      lost._stop();
    }
    this.#children = this.#children.filter(isRunning);
  }

  #leadsTo(child: LiveChild): boolean {
    const { id, _parent: parent } = child;
    const isAlive = (parent as unknown) === this.#actor || parent._processingStatus === 1;
    return isAlive && parent.getSnapshot().children?.[id] === (child as unknown);
  }

  #countEvent(
    event: { type: string; error?: unknown },
    source: unknown,
    target: AnyActorRef,
  ): void {
    if (event.type.startsWith('xstate.error.actor.')) {
      this.#count('childrenFailed');
      if (messageOf(event.error).startsWith('Infinite loop')) this.#count('childrenLooped');
    } else if (event.type.startsWith('xstate.done.actor.')) this.#count('childrenDone');
    else if (event.type.startsWith('xstate.snapshot.')) this.#count('snapshotsSynced');
    else if (source === target) this.#count('sentToSelf');
    else if ((source as AnyActorRef | undefined)?._parent === target) this.#count('sentToParent');
    else if (source !== undefined) this.#count('sentToChild');
  }
}

/** The same machine under a Tree. With `mayRestore`, the script's restores are carried out. */
export class TreeWorld implements World {
  readonly #chart: Statechart;
  readonly #mayRestore: boolean;
  readonly #trace: string[] = [];
  readonly #timers = new Timers();
  readonly #running: StartChildEffect[] = [];
  readonly #counters: Counters;
  readonly #labels = new Map<unknown, string>();
  #tree: Tree | undefined;
  #failure: { readonly thrown: unknown } | undefined;

  constructor(machine: AnyStateMachine, mayRestore: boolean, counters: Counters) {
    this.#chart = new Statechart(machine, LIMITS);
    this.#mayRestore = mayRestore;
    this.#counters = counters;
    for (const [name, logic] of Object.entries(machine.implementations.actors)) {
      this.#labels.set(logic, name);
    }
    this.#step((effects) => {
      this.#tree = this.#chart.start('root', { n: 0 }, this.#timers.now, effects);
    });
  }

  take(step: StepSpec): void {
    if (step.type === 'event') {
      const event = { type: eventType(step.which), at: this.#timers.now };
      this.#step((effects) => this.#tree?.take(event, this.#timers.now, effects));
    } else if (step.type === 'advance') this.#timers.advance(step.byMs);
    else if (step.type === 'settle') this.#settle(step.which, step.how);
    else if (this.#mayRestore) this.#restore();
  }

  view(): View {
    return {
      trace: this.#trace,
      state: this.#tree && stateOf(this.#tree.snapshot),
      running: this.#running.map((each) => this.#labelOf(each)),
      timers: this.#timers.dues(),
      failure: this.#failure && messageOf(this.#failure.thrown),
    };
  }

  #step(run: (effects: Effect[]) => void): void {
    if (this.#failure !== undefined) return;
    const effects: Effect[] = [];
    try {
      run(effects);
    } catch (thrown) {
      this.#failure = { thrown };
      return;
    }
    for (const effect of effects) this.#carryOut(effect);
  }

  #settle(which: number, how: number): void {
    const child = this.#running[which % Math.max(this.#running.length, 1)];
    if (child === undefined) return;
    const label = this.#labelOf(child);
    const result = resultOf(label, how);
    if (result === undefined) return;
    if (result.type === 'done' || result.type === 'error') this.#forget(child.session);
    this.#step((effects) => {
      const isTaken = this.#tree?.settle(child.session, result, this.#timers.now, effects);
      if (!isTaken) throw new Error(`The result of ${label} was refused.`);
    });
  }

  #restore(): void {
    const tree = this.#tree;
    if (tree === undefined || this.#failure !== undefined) return;
    this.#counters.restores = (this.#counters.restores ?? 0) + 1;
    const text = textOf(tree);
    this.#tree = this.#chart.restore('root', JSON.parse(text));
    const again = textOf(this.#tree);
    if (withoutRefs(again) !== withoutRefs(text)) {
      throw new Error(`Restored, it is another:\n${text}\n${again}`);
    }
    const numbers = (each: StartChildEffect[]) => each.map(({ session }) => session).sort();
    const [started, expected] = [numbers(this.#tree.runningChildren()), numbers(this.#running)];
    if (started.join() !== expected.join()) {
      throw new Error(`Restored, ${started.join()} run instead of ${expected.join()}.`);
    }
  }

  #forget(session: number): boolean {
    const index = this.#running.findIndex((each) => each.session === session);
    if (index !== -1) this.#running.splice(index, 1);
    return index !== -1;
  }

  #labelOf(effect: StartChildEffect): string {
    return this.#labels.get(effect.logic) ?? 'unknown';
  }

  #carryOut(effect: Effect): void {
    const write = (line: string) => {
      this.#trace.push(line);
    };
    switch (effect.type) {
      case 'action':
        return write(`${effect.name} ${JSON.stringify(effect.params)}`);
      case 'log':
        return write(`log ${JSON.stringify(effect.args)}`);
      case 'emit':
        return write(`emit ${JSON.stringify(effect.event)}`);
      case 'arm':
        return this.#arm(effect);
      case 'cancel':
        return this.#timers.delete(`${effect.session}|${effect.id}`);
      case 'cancelAll':
        return this.#timers.cancel((key) => String(key).startsWith(`${effect.session}|`));
      case 'startChild':
        this.#running.push(effect);
        return write(`start ${this.#labelOf(effect)} ${JSON.stringify(effect.input)}`);
      case 'stopChild': {
        const stopped = this.#running.find(({ session }) => session === effect.session);
        if (stopped === undefined) return;
        this.#forget(effect.session);
        return write(`stop ${this.#labelOf(stopped)}`);
      }
      case 'tellChild': {
        const told = this.#running.find(({ session }) => session === effect.session);
        if (told === undefined || this.#labelOf(told) !== 'callback') return;
        return write(`tell callback ${effect.event.type}`);
      }
      case 'send':
        throw new Error('No generated machine sends to an address.');
    }
  }

  #arm(effect: Effect & { type: 'arm' }): void {
    const { session, id, delayMs, target } = effect;
    const event = JSON.parse(JSON.stringify(effect.event));
    const dueAt = this.#timers.now + delayMs;
    this.#timers.arm(`${session}|${id}`, delayMs, () => {
      this.#step((effects) =>
        this.#tree?.fire({ event, dueAt, target }, this.#timers.now, effects),
      );
    });
  }
}

function resultOf(label: string, how: number): ChildResult | undefined {
  if (label === 'callback') return { type: 'event', event: { type: eventType(how) } };
  if (how % 3 === 2) return { type: 'error', error: how };
  if (how % 3 === 1) return { type: 'done', output: label === 'promise' ? how : undefined };
  return label === 'promise' ? undefined : { type: 'next', context: how };
}

interface AnySnapshot {
  readonly status: string;
  readonly value?: unknown;
  readonly context?: Record<string, unknown>;
  readonly output?: unknown;
  readonly children?: Record<string, { getSnapshot(): AnySnapshot }>;
}

/** What a machine author can see of a snapshot, as plain data. */
function stateOf({ status, value, context, output, children = {} }: AnySnapshot): unknown {
  const { spawned, ...plain } = context ?? {};
  // A reference to a child that is gone does not outlive a restore, in XState neither.
  const isKept = spawned !== undefined && spawned === children.spawned;
  const below = Object.entries(children).map(([id, child]) => [id, stateOf(child.getSnapshot())]);
  const shown = typeof context === 'object' ? { ...plain, isKept } : context;
  return JSON.parse(JSON.stringify({ status, value, shown, output, below }));
}

function textOf(tree: Tree): string {
  const { sessions = {}, booked } = tree.sessions() ?? {};
  const sorted = Object.fromEntries(Object.entries(sessions).sort());
  return JSON.stringify({ snapshot: JSON.parse(tree.encode()), sessions: sorted, booked });
}

/** A reference to a child that is gone is in the first text and not in the second. */
function withoutRefs(text: string): string {
  return text.replaceAll(',"spawned":{"xstate$$type":1,"id":"spawned"}', '');
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
