/**
 * Tours: test cases that take every step of a graph once, with as few steps on the way as a greedy walker
 * needs.
 *
 * In each situation the steps that are still wanted are taken; then the walker goes to the nearest situation
 * that has some, or begins again where that is nearer. Steps that change nothing are taken on the way,
 * one after the other, because the next one finds everything as it was. A deadline is taken in two
 * steps: one millisecond before it nothing may have happened.
 */

import { type Edge, type Graph, Keys, type Situation } from './graph.ts';
import type { Samples } from './samples.ts';
import { type TestCase, type TestStep, wordsOf } from './step.ts';
import type { Subject } from './subject.ts';

/** Which steps a tour is to take. */
export type Wanted = (edge: Edge, situation: Situation) => boolean;

export interface TourOptions {
  readonly title: string;
  readonly stepsMax?: number;
}

/** Steps of one case: long ones save the way back, short ones can be read. */
const STEPS_MAX = 40;

/** Steps that change something: transitions, deadlines, outcomes of children. */
export const changes: Wanted = ({ isChange }) => isChange;
/** Events that are ignored where they are sent. */
export const ignored: Wanted = ({ isChange, step }) => !isChange && step.type === 'send';

export function* tour(
  subject: Subject,
  samples: Samples,
  graph: Graph,
  wanted: Wanted,
  { title, stepsMax = STEPS_MAX }: TourOptions,
): Generator<TestCase> {
  const keys = new Keys(samples);
  const open = openEdges(graph, wanted);
  const roots = [...graph.roots];
  while (open.size > 0) {
    const start = nearestRoot(graph, roots, open);
    if (start === undefined) return;
    const [input] = start;
    const steps: TestStep[] = [];
    const perform = (step: TestStep): void => {
      for (const one of halved(step)) {
        subject.perform(one);
        steps.push(one);
      }
    };
    subject.begin(samples.inputs[input]);
    // What is far away is gone to all the same.
    const longest = Math.max(stepsMax, 2 * start[2] + 2);
    for (
      let key = keys.of(subject);
      steps.length < longest && subject.isActive;
      key = keys.of(subject)
    ) {
      const here = open.get(key);
      const next = here?.values().next().value as Edge | undefined;
      if (next !== undefined) {
        perform(next.step);
        done(open, key, next);
        continue;
      }
      const way = wayToOpen(graph, key, open);
      // Back to the beginning costs nothing but the way from there.
      if (way === undefined || (steps.length > 0 && way.length > 1 + start[2])) break;
      for (const { step } of way) perform(step);
      // A moment may turn out to be another one than its situation says; then nothing waits for it here.
      const last = way.at(-1) as Edge;
      if (keys.of(subject) !== last.to) abandon(open, last.to, subject, keys);
    }
    if (steps.length === 0) return;
    yield { input, title: `${title}: ${titleOf(steps)}`, steps };
  }
}

/** A deadline: the last moment before it, and the moment itself. */
function halved(step: TestStep): TestStep[] {
  if (step.type !== 'advance' || step.byMs < 2) return [step];
  return [
    { type: 'advance', byMs: step.byMs - 1 },
    { type: 'advance', byMs: 1 },
  ];
}

export function titleOf(steps: readonly TestStep[]): string {
  const words = steps.slice(0, 3).map(wordsOf);
  return steps.length > 3 ? `${words.join(', ')}, and ${steps.length - 3} more` : words.join(', ');
}

type Open = Map<string, Set<Edge>>;

function openEdges({ situations }: Graph, wanted: Wanted): Open {
  const open: Open = new Map();
  for (const situation of situations.values()) {
    const edges = situation.edges.filter((edge) => wanted(edge, situation));
    if (edges.length > 0) open.set(situation.key, new Set(edges));
  }
  return open;
}

function done(open: Open, key: string, edge: Edge): void {
  const edges = open.get(key);
  edges?.delete(edge);
  if (edges?.size === 0) open.delete(key);
}

/** What cannot be reached as the graph says is given up, so that a tour ends. */
function abandon(open: Open, key: string, subject: Subject, keys: Keys): void {
  if (keys.of(subject) !== key) open.delete(key);
}

/** The input from which something that is open is nearest: its name, its first situation, how far it is. */
function nearestRoot(
  graph: Graph,
  roots: ReadonlyArray<readonly [string, string]>,
  open: Open,
): readonly [string, string, number] | undefined {
  let nearest: readonly [string, string, number] | undefined;
  for (const [input, key] of roots) {
    const way = wayToOpen(graph, key, open);
    if (way === undefined) continue;
    if (nearest === undefined || way.length < nearest[2]) nearest = [input, key, way.length];
  }
  return nearest;
}

/** A shortest way to a situation with something open; empty when it is this one. */
function wayToOpen(graph: Graph, from: string, open: Open): Edge[] | undefined {
  const cameBy = new Map<string, { readonly key: string; readonly edge: Edge } | undefined>([
    [from, undefined],
  ]);
  for (const [key] of cameBy) {
    if (open.has(key)) {
      const way: Edge[] = [];
      for (let step = cameBy.get(key); step !== undefined; step = cameBy.get(step.key))
        way.unshift(step.edge);
      return way;
    }
    for (const edge of graph.situations.get(key)?.edges ?? []) {
      if (edge.isChange && !cameBy.has(edge.to)) cameBy.set(edge.to, { key, edge });
    }
  }
  return undefined;
}
