/**
 * A generated machine under a `Tree` whose effects are carried out on paper, and which
 * is encoded as text and restored wherever the script says so.
 */

import type { AnyStateMachine } from 'xstate';
import type { Effect, StartChildEffect } from '../../runtime/statechart/effect.ts';
import { type ChildResult, Statechart, type Tree } from '../../runtime/statechart/statechart.ts';
import { eventType, routeTo } from './acting.ts';
import {
  type Counters,
  LIMITS,
  messageOf,
  stateOf,
  Timers,
  type View,
  type World,
} from './drive.ts';
import type { StepSpec } from './generate.ts';

/** When a tree is read from text again: where the script says so, or after every step. */
export type Restores = 'never' | 'sometimes' | 'always';

/** The same machine under a Tree. */
export class TreeWorld implements World {
  readonly #chart: Statechart;
  readonly #restores: Restores;
  readonly #trace: string[] = [];
  readonly #timers = new Timers();
  readonly #running: StartChildEffect[] = [];
  readonly #counters: Counters;
  readonly #labels = new Map<unknown, string>();
  #tree: Tree | undefined;
  #failure: { readonly thrown: unknown } | undefined;

  constructor(machine: AnyStateMachine, restores: Restores, counters: Counters) {
    this.#chart = new Statechart(machine, LIMITS);
    this.#restores = restores;
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
    } else if (step.type === 'route') {
      const event = { type: 'xstate.route', to: routeTo(step.which), at: this.#timers.now };
      this.#step((effects) => this.#tree?.take(event, this.#timers.now, effects));
    } else if (step.type === 'advance') this.#timers.advance(step.byMs);
    else if (step.type === 'settle') this.#settle(step.which, step.how);
    else if (this.#restores === 'sometimes') this.#restore();
    if (this.#restores === 'always') this.#restore();
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

function textOf(tree: Tree): string {
  const { sessions = {}, booked } = tree.sessions() ?? {};
  const sorted = Object.fromEntries(Object.entries(sessions).sort());
  return JSON.stringify({ snapshot: JSON.parse(tree.encode()), sessions: sorted, booked });
}

/** A reference to a child that is gone is in the first text and not in the second. */
function withoutRefs(text: string): string {
  return text.replaceAll(',"spawned":{"xstate$$type":1,"id":"spawned"}', '');
}
