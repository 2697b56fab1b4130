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
export type Wanted = (edge: Edge) => boolean;

export interface TourOptions {
  readonly title: string;
  readonly stepsMax?: number;
}

/** Steps of one case: long ones save the way back, short ones can be read. */
const STEPS_MAX = 40;

/** Steps that change something: transitions, deadlines, outcomes of children. */
export const changes = ({ isChange }: Edge): boolean => isChange;
/** Events that are ignored where they are sent. */
export const ignored = ({ isChange, step }: Edge): boolean => !isChange && step.type === 'send';

export function* tour(
  subject: Subject,
  samples: Samples,
  graph: Graph,
  wanted: Wanted,
  { title, stepsMax = STEPS_MAX }: TourOptions,
): Generator<TestCase> {
  const keys = new Keys(samples);
  const open = openEdges(graph, wanted);
  const ways = new Ways(graph, open);
  for (let start = ways.first(); start !== undefined; start = ways.first()) {
    const { input } = start;
    const fromRoot = start.way.length;
    const steps: TestStep[] = [];
    const perform = (step: TestStep): void => {
      for (const one of halved(step)) {
        subject.perform(one);
        steps.push(one);
      }
    };
    subject.begin(samples.inputs[input]);
    // What is far away is gone to all the same.
    const longest = Math.max(stepsMax, 2 * fromRoot + 2);
    for (const step of start.way) perform(step);
    if (keys.of(subject) !== start.key) open.delete(start.key);
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
      // Back to the beginning costs nothing but the way from there.
      const way = ways.from(key, 1 + (ways.first()?.way.length ?? 0));
      if (way === undefined) break;
      for (const { step } of way) perform(step);
      // A moment may turn out to be another one than its situation says: then only its own way leads there.
      const last = way.at(-1) as Edge;
      if (keys.of(subject) !== last.to) ways.missed(last.to);
    }
    if (steps.length > 0) yield { input, title: `${title}: ${titleOf(steps)}`, steps };
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
    const edges = situation.edges.filter(wanted);
    if (edges.length > 0) open.set(situation.key, new Set(edges));
  }
  return open;
}

function done(open: Open, key: string, edge: Edge): void {
  const edges = open.get(key);
  edges?.delete(edge);
  if (edges?.size === 0) open.delete(key);
}

/** Ways to what is open. */
class Ways {
  readonly #graph: Graph;
  readonly #open: Open;
  /** Situations with what was open, the nearest to a beginning last. */
  readonly #byDistance: Situation[];
  /** Situations to which a way that should have led there did not. */
  readonly #missed = new Set<string>();
  /** One step to each other situation that a step leads to. */
  readonly #neighbours = new Map<string, readonly Edge[]>();

  constructor(graph: Graph, open: Open) {
    this.#graph = graph;
    this.#open = open;
    this.#byDistance = [...graph.situations.values()]
      .filter(({ key }) => open.has(key))
      .sort((one, other) => other.way.length - one.way.length);
  }

  /** The situation with something open that is nearest to its beginning. */
  first(): Situation | undefined {
    for (;;) {
      const nearest = this.#byDistance.at(-1);
      if (nearest === undefined || this.#open.has(nearest.key)) return nearest;
      this.#byDistance.pop();
    }
  }

  missed(key: string): void {
    this.#missed.add(key);
  }

  /** A shortest way to something open, of a limited number of steps. */
  from(start: string, stepsMax: number): Edge[] | undefined {
    const cameBy = new Map<string, Edge | undefined>([[start, undefined]]);
    const before = new Map<Edge, string>();
    let rim = [start];
    for (let length = 0; length <= stepsMax && rim.length > 0; length++) {
      const next: string[] = [];
      for (const key of rim) {
        if (length > 0 && this.#open.has(key) && !this.#missed.has(key)) {
          const way: Edge[] = [];
          for (let edge = cameBy.get(key); edge !== undefined; ) {
            way.unshift(edge);
            edge = cameBy.get(before.get(edge) as string);
          }
          return way;
        }
        for (const edge of this.#neighboursOf(key)) {
          if (cameBy.has(edge.to)) continue;
          cameBy.set(edge.to, edge);
          before.set(edge, key);
          next.push(edge.to);
        }
      }
      rim = next;
    }
    return undefined;
  }

  #neighboursOf(key: string): readonly Edge[] {
    let edges = this.#neighbours.get(key);
    if (edges === undefined) {
      const byTarget = new Map<string, Edge>();
      for (const edge of this.#graph.situations.get(key)?.edges ?? [])
        if (edge.isChange && edge.to !== key && !byTarget.has(edge.to)) byTarget.set(edge.to, edge);
      edges = [...byTarget.values()];
      this.#neighbours.set(key, edges);
    }
    return edges;
  }
}
