/**
 * The paths of a machine: found on the pure machine, as short and as few as they can be, and walked
 * again by the engine.
 *
 * Every state, every transition of every microstep, and every state with every event type is on one
 * of them, or is missing by name. It knows nothing of any machine but its plan.
 */

import { LEADERSHIP_ACQUIRED } from '../../runtime/actor/event-names.ts';
import { type Coverage, CoverageBook } from './coverage.ts';
import { type Edge, graphOf, type Place } from './graph.ts';
import type { PathPlan } from './plan.ts';
import { PureMachine } from './pure-machine.ts';
import { type Difference, type Gait, type Path, replay, type WalkedStep } from './replay.ts';
import { Situations } from './situation.ts';

export interface FoundPaths {
  readonly coverage: Coverage;
  readonly paths: readonly Path[];
  /** Paths on which the machine threw. */
  readonly throwing: readonly Path[];
  /** Situations that were looked at. */
  readonly situations: number;
}

export interface WalkedPaths extends FoundPaths {
  readonly differences: readonly Difference[];
}

/** Finds the paths and walks them. */
export async function walkPaths(plan: PathPlan): Promise<WalkedPaths> {
  const found = shortestPaths(plan);
  return { ...found, differences: await replayAll(plan, found.paths) };
}

export function shortestPaths(plan: PathPlan): FoundPaths {
  const situations = new Situations(plan, new PureMachine(plan.machine));
  const book = new CoverageBook(situations, plan.unreachable);
  const paths: Path[] = [];
  const throwing: Path[] = [];
  let looked = 0;
  for (const [inputName, input] of Object.entries(plan.inputs)) {
    // Wanted are those that are the first to reach something.
    const graph = graphOf(plan, situations, input, {
      born: (situation) => book.born(situation),
      seen: (before, step, after) => book.note(before, step, after),
      isEnough: () => book.isWhole,
    });
    looked += graph.looked;
    const isThrowing = ({ after }: Edge) => after.thrown !== undefined;
    paths.push(
      ...pathsThrough(
        inputName,
        graph.root,
        graph.wanted.filter((edge) => !isThrowing(edge)),
      ),
    );
    for (const edge of graph.wanted.filter(isThrowing))
      throwing.push({
        inputName,
        first: graph.root.situation,
        steps: [...edge.from.way(), edge].map(walked),
      });
  }
  return { coverage: book.read(), paths, throwing, situations: looked };
}

/** The first difference of each path, on a path as short as it can be; the shortest first. */
export async function replayAll(plan: PathPlan, paths: readonly Path[]): Promise<Difference[]> {
  const isTold = (plan.machine.events as string[]).includes(LEADERSHIP_ACQUIRED);
  const gaits: Gait[] = isTold ? ['straight'] : ['straight', 'restarting'];
  const differences: Difference[] = [];
  for (const path of paths) {
    for (const gait of gaits) {
      const difference = await replay(plan, path, gait);
      if (difference === undefined) continue;
      differences.push((await shortened(plan, difference)) ?? difference);
      break;
    }
  }
  return differences.sort((one, other) => one.path.steps.length - other.path.steps.length);
}

/** The same difference without the asides before it, if they had nothing to do with it. */
async function shortened(
  plan: PathPlan,
  { path, gait }: Difference,
): Promise<Difference | undefined> {
  const last = path.steps.at(-1);
  const steps = path.steps.filter((one) => !one.isAside || one === last);
  return steps.length < path.steps.length ? replay(plan, { ...path, steps }, gait) : undefined;
}

/**
 * As few paths as go through all these edges: one for each that is not on the way to another, and
 * what changes nothing is said on the way of the first that comes by.
 */
function pathsThrough(inputName: string, root: Place, chosen: readonly Edge[]): Path[] {
  const asides = new Map<Place, Edge[]>();
  const ways: Edge[][] = [];
  for (const edge of chosen) {
    const { from } = edge;
    if (isAside(edge)) asides.set(from, [...(asides.get(from) ?? []), edge]);
    else ways.push([...from.way(), edge]);
  }
  for (const place of [root, ...asides.keys()]) ways.push([...place.way()]);
  ways.sort((one, other) => other.length - one.length);
  const passed = new Set<Edge>();
  const paths: Path[] = [];
  for (const way of ways) {
    const last = way.at(-1);
    if (last === undefined ? paths.length > 0 : passed.has(last)) continue;
    for (const edge of way) passed.add(edge);
    paths.push({ inputName, first: root.situation, steps: stepsOf(root, way, asides) });
  }
  return paths;
}

/** Each aside is said once. */
function stepsOf(root: Place, way: readonly Edge[], asides: Map<Place, Edge[]>): WalkedStep[] {
  const steps: WalkedStep[] = [];
  const pass = (place: Place | undefined): void => {
    if (place === undefined) return;
    steps.push(...(asides.get(place) ?? []).map(walked));
    asides.delete(place);
  };
  pass(root);
  for (const edge of way) {
    steps.push(walked(edge));
    pass(edge.found);
  }
  return steps;
}

const walked = (edge: Edge): WalkedStep => ({
  step: edge.step,
  after: edge.after,
  isAside: isAside(edge),
});

/** Nothing follows from it: the next step finds everything as it was. */
function isAside({ from, after }: Edge): boolean {
  const { situation: before } = from;
  const said = after.hints.length + after.asked.length + after.emitted.length;
  return (
    said === 0 &&
    after.snapshot === before.snapshot &&
    after.deadlines === before.deadlines &&
    after.kept === before.kept &&
    after.at === before.at &&
    after.fence === before.fence
  );
}
