/**
 * Graph of a machine's situations, breadth first, so the first way to a situation is a shortest one.
 *
 * What is walked is not the machine but the machine with its deadlines, messages and restarts
 * (situation.ts): time passes in order there, and no deadline fires before an earlier one. Bounded
 * by the steps of a path and the number of situations; a caller may end it before. Kept are the edges that
 * find a situation and those that the caller asks for: all others are looked at and dropped.
 */

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
  /** Edges that the observer wanted, those nearest to spawn first. */
  readonly wanted: readonly Edge[];
  /** Situations from which steps were looked at. */
  readonly looked: number;
}

/** Who is told of every step as it is looked at, and says when there is nothing more to look for. */
export interface Observer {
  born(situation: Situation): void;
  /** True where the edge is wanted. */
  seen(before: Situation, step: PathStep, after: Situation): boolean;
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
  const root = new FoundPlace(first);
  const places = [root];
  const known = new Set([keyIn(plan, first)]);
  const wanted: Edge[] = [];
  let dequeued = 0;
  let looked = 0;
  for (const from of places) {
    const { situation } = from;
    dequeued += 1;
    const isOver = dequeued > situationsMax || situation.steps >= stepsMax;
    if (isOver || situation.thrown !== undefined || observer.isEnough()) continue;
    const steps = situations.stepsFrom(situation);
    if (steps.length > 0) looked += 1;
    for (const step of steps) {
      const after = situations.after(situation, step);
      const isWanted = observer.seen(situation, step, after);
      const key = keyIn(plan, after);
      const found = known.has(key) ? undefined : new FoundPlace(after);
      const edge = { from, step, after, found };
      if (isWanted) wanted.push(edge);
      if (found === undefined) continue;
      known.add(key);
      found.parent = edge;
      places.push(found);
    }
  }
  return { root, wanted, looked };
}

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

/** What tells one situation from another: neither the time nor the numbers of messages. */
function keyIn({ key, refusals = [] }: PathPlan, situation: Situation): string {
  const { snapshot, at, deadlines, thrown } = situation;
  const order = deadlines.toSorted((one, other) => one.dueAt - other.dueAt).map(({ id }) => id);
  const refusable = refusals.map(([eventType]) => refusedIn(situation, eventType) !== undefined);
  const standing = [snapshot.status, snapshot.value, order, refusable, thrown];
  return JSON.stringify([standing, key(snapshot.context, at)]);
}
