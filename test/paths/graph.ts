/**
 * The graph of a machine's situations, by XState's own traversal: breadth first, so the first way to
 * a situation is a shortest one.
 *
 * What XState walks is not the machine but the machine with its deadlines, messages and restarts
 * (situation.ts): time passes in order there, and no deadline fires before an earlier one. Bounded
 * by the steps of a path and the number of situations; a caller may end it before.
 */

import { getAdjacencyMap } from 'xstate/graph';
import type { PathPlan, PathStep } from './plan.ts';
import { refusedIn, type Situation, type Situations } from './situation.ts';

/** A situation, and the first way that led to it. */
export interface Place {
  readonly situation: Situation;
  /** The edges from spawn. */
  way(): readonly Edge[];
}

export interface Edge {
  readonly from: Place;
  readonly step: PathStep;
  readonly after: Situation;
  /** Where it leads to, if that was found by it. */
  readonly found: Place | undefined;
}

export interface Graph {
  readonly root: Place;
  /** Those nearest to spawn first. */
  readonly edges: readonly Edge[];
}

/** Who is told of every step as it is looked at, and says when there is nothing more to look for. */
export interface Observer {
  born(situation: Situation): void;
  seen(before: Situation, step: PathStep, after: Situation): void;
  isEnough(): boolean;
}

const STEPS_MAX = 12;
const SITUATIONS_MAX = 3_000;

export function graphOf(
  plan: PathPlan,
  situations: Situations,
  input: unknown,
  observer: Observer,
): Graph {
  const { stepsMax = STEPS_MAX, situationsMax = SITUATIONS_MAX } = plan;
  const first = situations.first(input);
  observer.born(first);
  const keys = new WeakMap<Situation, string>();
  const keyOf = (situation: Situation): string => {
    const key = keys.get(situation) ?? keyIn(plan, situation);
    keys.set(situation, key);
    return key;
  };
  let looked = 0;
  const logic = {
    transition: (before: Situation, step: PathStep) => {
      const after = situations.after(before, step);
      observer.seen(before, step, after);
      return after;
    },
    getInitialSnapshot: () => first,
    getPersistedSnapshot: (situation: Situation) => situation,
  };
  const map = getAdjacencyMap(
    logic as never,
    {
      fromState: first,
      events: (situation: Situation) => situations.stepsFrom(situation),
      serializeState: keyOf,
      serializeEvent: JSON.stringify,
      stopWhen: (situation: Situation) => {
        looked += 1;
        const isOver = looked > situationsMax || situation.steps >= stepsMax;
        return isOver || situation.thrown !== undefined || observer.isEnough();
      },
    } as never,
  ) as unknown as Adjacency;
  return placed(map, keyOf);
}

/** What XState's traversal gives: in the order in which the situations were found. */
type Adjacency = Readonly<
  Record<
    string,
    {
      readonly state: Situation;
      readonly transitions: Readonly<
        Record<string, { readonly event: PathStep; readonly state: Situation }>
      >;
    }
  >
>;

class FoundPlace implements Place {
  readonly situation: Situation;
  parent: Edge | undefined;

  constructor(situation: Situation) {
    this.situation = situation;
  }

  way(): readonly Edge[] {
    return this.parent === undefined ? [] : [...this.parent.from.way(), this.parent];
  }
}

function placed(map: Adjacency, keyOf: (situation: Situation) => string): Graph {
  const places = new Map<string, FoundPlace>();
  for (const [key, { state }] of Object.entries(map)) places.set(key, new FoundPlace(state));
  const edges: Edge[] = [];
  for (const [key, { transitions }] of Object.entries(map)) {
    const from = places.get(key) as FoundPlace;
    for (const { event: step, state: after } of Object.values(transitions)) {
      const place = places.get(keyOf(after));
      const found = place?.situation === after ? place : undefined;
      const edge = { from, step, after, found };
      if (found !== undefined) found.parent = edge;
      edges.push(edge);
    }
  }
  const [root] = places.values();
  return { root: root as Place, edges };
}

/** What tells one situation from another: neither the time nor the numbers of messages. */
function keyIn({ key, refusals = [] }: PathPlan, situation: Situation): string {
  const { snapshot, at, deadlines, thrown } = situation;
  const order = deadlines.toSorted((one, other) => one.dueAt - other.dueAt).map(({ id }) => id);
  const refusable = refusals.map(([eventType]) => refusedIn(situation, eventType) !== undefined);
  const standing = [snapshot.status, snapshot.value, order, refusable, thrown];
  return JSON.stringify([standing, key(snapshot.context, at)]);
}
