/**
 * Kinds of steps: an event, a deadline or an outcome, with the states that it leaves and enters and the keys of
 * the context that it changes; an ignored event with each state that ignores it.
 *
 * A machine has far fewer kinds than situations, so one step of each kind says most in the fewest steps.
 */

import type { AnyMachineSnapshot } from 'xstate';
import type { TestStep } from './step.ts';
import type { Subject } from './subject.ts';

/** What of a moment tells kinds apart. */
export interface Look {
  readonly states: ReadonlySet<string>;
  readonly context: Readonly<Record<string, unknown>>;
  readonly deadlines: ReadonlySet<string>;
  /** Name of the deadline that comes next. */
  readonly due: string | undefined;
}

export class Kinds {
  readonly #known = new Set<string>();

  /** True where the step is the first of a kind; `after` is left out where it changed nothing. */
  isFirst(step: TestStep, before: Look, after: Look | undefined): boolean {
    const word = wordOf(step, before);
    let isFirst = false;
    const note = (name: string): void => {
      if (this.#known.has(name)) return;
      this.#known.add(name);
      isFirst = true;
    };
    if (step.type === 'send') for (const state of before.states) note(`${state} × ${word}`);
    if (after !== undefined) note(`${word}: ${differenceOf(before, after)}`);
    return isFirst;
  }
}

export function lookAt(subject: Subject): Look {
  const due = subject.earliest?.id;
  if (subject.thrown !== undefined) return { ...NOTHING, due };
  const { snapshot } = subject;
  return {
    states: new Set(atomicIn(snapshot)),
    context: (snapshot.context ?? {}) as Look['context'],
    deadlines: new Set(subject.deadlines.map(({ id }) => id)),
    due,
  };
}

const NOTHING = { states: new Set<string>(), context: {}, deadlines: new Set<string>() };

/** The states it rests in, those with others in them left out. */
export const atomicIn = (snapshot: AnyMachineSnapshot): string[] =>
  (
    snapshot as unknown as {
      readonly _nodes: ReadonlyArray<{ readonly id: string; readonly type: string }>;
    }
  )._nodes
    .filter(({ type }) => type === 'atomic')
    .map(({ id }) => id);

function wordOf(step: TestStep, { due }: Look): string {
  switch (step.type) {
    case 'send':
      return step.lateMs === undefined ? step.event.type : `${step.event.type}, late`;
    case 'advance':
      return `due ${due}`;
    case 'resolve':
    case 'reject':
      return `${step.type} ${step.child}`;
    case 'restart':
      return 'restart';
  }
}

function differenceOf(before: Look, after: Look): string {
  const keys = Object.keys(after.context).filter(
    (key) => after.context[key] !== before.context[key],
  );
  return [
    ...without(before.states, after.states).map((state) => `-${state}`),
    ...without(after.states, before.states).map((state) => `+${state}`),
    ...without(after.deadlines, before.deadlines).map((id) => `arms ${id}`),
    ...keys.map((key) => `~${key}`),
  ].join(' ');
}

const without = (some: ReadonlySet<string>, others: ReadonlySet<string>): string[] =>
  [...some].filter((one) => !others.has(one));
