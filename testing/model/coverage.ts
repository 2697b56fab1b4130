/**
 * Coverage of a machine by test cases: states, transitions of every microstep, guards both ways, every
 * resting state with every event, and deadlines at their moment.
 *
 * A copy of the machine notes what it goes through; it behaves as the original, for each note is an action
 * that does nothing, or stands around a guard and hands on what it says.
 */

import type { AnyStateMachine } from 'xstate';
import * as XState from 'xstate';
import { draftOf, rebuild, statesIn, transitionLists } from './definition.ts';
import { type Graph, type GraphBounds, graphOf } from './graph.ts';
import type { Samples } from './samples.ts';
import type { TestCase } from './step.ts';
import { Subject } from './subject.ts';

// XState's names are taken at run time: where another version lacks one, the check of its version can still speak.
const { and } = XState;

export const MEASURES = ['states', 'transitions', 'pairs', 'guards', 'timers'] as const;
export type Measure = (typeof MEASURES)[number];

export interface Share {
  readonly reached: number;
  readonly all: number;
  /** What was not reached, by name. */
  readonly missing: readonly string[];
}

export interface Coverage {
  readonly shares: Readonly<Record<Measure, Share>>;
  /** How often each state was entered and each transition taken. */
  readonly hits: ReadonlyMap<string, number>;
}

interface Found {
  readonly wanted: Readonly<Record<Measure, Set<string>>>;
  readonly hits: Map<string, number>;
}

export function coverageOf(
  machine: AnyStateMachine,
  samples: Samples,
  cases: Iterable<TestCase>,
): Coverage {
  const { noting, found } = notingCopy(machine);
  for (const state of restingStates(machine))
    for (const { type } of samples.events) found.wanted.pairs.add(`${state} × ${type}`);
  const subject = new Subject(noting);
  for (const { input, steps } of cases) {
    subject.begin(samples.inputs[input]);
    for (const step of steps) {
      if (step.type === 'send' && subject.isActive)
        for (const state of restingIn(subject)) hit(found.hits, `${state} × ${step.event.type}`);
      subject.perform(step);
    }
  }
  const shares = Object.fromEntries(
    MEASURES.map((measure) => {
      const wanted = [...found.wanted[measure]];
      const missing = wanted.filter((name) => !found.hits.has(name));
      return [measure, { reached: wanted.length - missing.length, all: wanted.length, missing }];
    }),
  ) as unknown as Coverage['shares'];
  return { shares, hits: found.hits };
}

/** Every state that is entered anywhere, also in passing, as the machine is explored. */
export function reachedStates(
  machine: AnyStateMachine,
  samples: Samples,
  bounds: GraphBounds,
): { readonly reached: ReadonlySet<string>; readonly graph: Graph } {
  const { noting, found } = notingCopy(machine);
  const graph = graphOf(new Subject(noting), samples, bounds);
  const reached = [...found.wanted.states].filter((id) => found.hits.has(id));
  return { reached: new Set(reached), graph };
}

/** A copy that notes what it goes through. */
function notingCopy(machine: AnyStateMachine): {
  readonly noting: AnyStateMachine;
  readonly found: Found;
} {
  const draft = draftOf(machine);
  const wanted = Object.fromEntries(
    MEASURES.map((measure) => [measure, new Set<string>()]),
  ) as unknown as Found['wanted'];
  const hits = new Map<string, number>();
  for (const state of statesIn(draft.root)) {
    if (state.type === 'history') continue;
    wanted.states.add(state.id);
    state.entry.unshift(note(hits, state.id));
    for (const { cause, list } of transitionLists(state)) {
      for (const [index, transition] of list.entries()) {
        const name = `${state.id} ${cause}${list.length > 1 ? ` (${index + 1})` : ''}`;
        // An `always` that does nothing would be taken without end.
        if (
          cause === 'always' &&
          transition.target === undefined &&
          transition.actions.length === 0
        )
          continue;
        wanted.transitions.add(name);
        if (cause.startsWith('after ')) wanted.timers.add(name);
        transition.actions.unshift(note(hits, name));
        if (transition.guard === undefined) continue;
        for (const outcome of ['holds', 'does not hold']) wanted.guards.add(`${name} ${outcome}`);
        transition.guard = heard(transition.guard, (holds) =>
          hit(hits, `${name} ${holds ? 'holds' : 'does not hold'}`),
        );
      }
    }
  }
  return { noting: rebuild(draft), found: { wanted, hits } };
}

const hit = (hits: Map<string, number>, name: string): void => {
  hits.set(name, (hits.get(name) ?? 0) + 1);
};

/** XState resolves the parameters of an action in the microstep that takes it: that is when it counts. */
const note = (hits: Map<string, number>, name: string): unknown => ({
  type: 'escapement.note',
  params: () => hit(hits, name),
});

interface Check {
  check(...args: unknown[]): boolean;
}

/** The guard itself, and somebody who hears what it says. */
function heard(guard: unknown, hear: (holds: boolean) => void): unknown {
  const around = and([guard as never]) as unknown as Check;
  const { check } = around;
  around.check = (...args) => {
    const holds = check(...args);
    hear(holds);
    return holds;
  };
  return around;
}

/** What of XState's StateNode is read. */
interface Node {
  readonly id: string;
  readonly type: string;
  readonly states: Readonly<Record<string, Node>>;
  readonly always: ReadonlyArray<{ readonly guard: unknown }> | undefined;
}

/** Atomic states in which the machine can rest: no unguarded `always` leaves them, and they do not end it. */
function restingStates(machine: AnyStateMachine): string[] {
  const resting: string[] = [];
  const visit = (node: Node): void => {
    if (node.always?.some(({ guard }) => guard === undefined)) return;
    const below = Object.values(node.states);
    if (below.length === 0 && node.type === 'atomic') resting.push(node.id);
    for (const child of below) visit(child);
  };
  visit(machine.root as unknown as Node);
  return resting;
}

const restingIn = (subject: Subject): string[] =>
  (subject.snapshot as unknown as { readonly _nodes: readonly Node[] })._nodes
    .filter(({ type }) => type === 'atomic')
    .map(({ id }) => id);
