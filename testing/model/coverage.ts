/**
 * Coverage of a machine by test cases: states, transitions of every microstep, guards both ways, every
 * resting state with every event, and deadlines at their moment.
 *
 * What a copy of the machine notes (noting.ts) is counted.
 */

import type { AnyStateMachine } from 'xstate';
import { messageOf } from '../../runtime/base/errors.ts';
import { type Graph, type GraphBounds, graphOf } from './graph.ts';
import { atomicIn } from './kinds.ts';
import { hit, MEASURES, type Measure, notingCopy } from './noting.ts';
import type { Samples } from './samples.ts';
import { type TestCase, wordsOf } from './step.ts';
import { Subject } from './subject.ts';

export interface Share {
  readonly reached: number;
  readonly all: number;
  /** What was not reached, by name. */
  readonly missing: readonly string[];
  /** How much was not reached that is said to be unreachable; it is not in `all`. */
  readonly excused: number;
}

/** Names of what nothing reaches, with the reason: a state with all in it, an event type, a transition, a pair. */
export type Unreachable = Readonly<Record<string, string>>;

export interface Coverage {
  readonly shares: Readonly<Record<Measure, Share>>;
  /** Steps in which the machine threw, each once, with what it said. */
  readonly threw: readonly string[];
  /** What was said to be unreachable, and was reached or does not exist. */
  readonly idleExcuses: readonly string[];
  /** How often each state was entered and each transition taken. */
  readonly hits: ReadonlyMap<string, number>;
}

export function coverageOf(
  machine: AnyStateMachine,
  samples: Samples,
  cases: Iterable<TestCase>,
  unreachable: Unreachable = {},
): Coverage {
  const { noting, found } = notingCopy(machine);
  for (const state of restingStates(machine))
    for (const type of samples.eventTypes) found.wanted.pairs.add(`${state} × ${type}`);
  const subject = new Subject(noting);
  const threw = new Set<string>();
  const noteThrown = (word: string): void => {
    const { thrown } = subject;
    if (thrown !== undefined) threw.add(`${word}: ${messageOf(thrown)}`);
  };
  for (const { input, steps } of cases) {
    subject.begin(samples.inputs[input]);
    noteThrown(`spawned with "${input}"`);
    for (const step of steps) {
      if (subject.thrown !== undefined) break;
      if (step.type === 'send' && subject.isActive)
        for (const state of atomicIn(subject.snapshot))
          hit(found.hits, `${state} × ${step.event.type}`);
      subject.perform(step);
      noteThrown(wordsOf(step));
    }
  }
  const excuses = Object.keys(unreachable);
  const idle = new Set(excuses);
  const shares = Object.fromEntries(
    MEASURES.map((measure) => {
      const names = [...found.wanted[measure]];
      const excused = new Set<string>();
      for (const name of names.filter((one) => !found.hits.has(one))) {
        const excuse = excuses.find((one) => isExcusedBy(one, name));
        if (excuse === undefined) continue;
        idle.delete(excuse);
        excused.add(name);
      }
      const wanted = names.filter((name) => !excused.has(name));
      const missing = wanted.filter((name) => !found.hits.has(name));
      const reached = wanted.length - missing.length;
      return [measure, { reached, all: wanted.length, missing, excused: excused.size }];
    }),
  ) as unknown as Coverage['shares'];
  return { shares, hits: found.hits, threw: [...threw], idleExcuses: [...idle] };
}

/** True of the name itself, of all in the state and all that begins there, and of all that an event type does. */
const isExcusedBy = (excuse: string, name: string): boolean =>
  name === excuse ||
  [' ', '.'].some((next) => name.startsWith(excuse + next)) ||
  [` × ${excuse}`, ` on ${excuse}`].some((end) => name.endsWith(end) || name.includes(`${end} `));

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
