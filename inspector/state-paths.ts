/**
 * Paths of the states that a state value names, and the transitions of a chart between two of them. Pure: the
 * server, the terminal, recordings and the page in a single file use the same.
 */

import type { ChartDefinition, ChartTransition } from './protocol.ts';

/** Paths of the active states, the root's empty one included, of a state value as text. */
export function activePaths(state: string): ReadonlySet<string> {
  const active = new Set(['']);
  collect(stateValue(state), '', active);
  return active;
}

/** State value of its text: `running`, or JSON for anything that is not one word. */
export function stateValue(state: string): unknown {
  if (!state.startsWith('{')) return state;
  try {
    return JSON.parse(state);
  } catch {
    return state;
  }
}

function collect(value: unknown, around: string, active: Set<string>): void {
  const below = (key: string): string => (around === '' ? key : `${around}.${key}`);
  if (typeof value === 'string' && value !== '') active.add(below(value));
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      active.add(below(key));
      collect(inner, below(key), active);
    }
}

/** Eventless transitions that are followed behind one that an event took. */
const MICROSTEPS_MAX = 6;

/**
 * Transitions that lead from one state value to another by an event, microstep by microstep, as far as the
 * definition alone decides it; undefined where several ways are possible.
 */
export function takenTransitions(
  chart: ChartDefinition,
  before: ReadonlySet<string>,
  event: string,
  after: ReadonlySet<string>,
): readonly string[] | undefined {
  const candidates = chart.transitions.filter(
    (transition) => before.has(transition.source) && isTakenBy(transition, event),
  );
  const deepest = Math.max(0, ...candidates.map(({ source }) => depthOf(source)));
  const fitting = candidates
    .filter(({ source }) => depthOf(source) === deepest)
    .flatMap((transition) => {
      const way = wayTo(chart, transition, after, MICROSTEPS_MAX);
      return way === undefined ? [] : [way];
    });
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** True if an event of this type may take the transition. */
export function isTakenBy(transition: ChartTransition, type: string): boolean {
  const descriptor = descriptorOf(transition);
  if (descriptor === type) return true;
  if (descriptor === '*') return !type.startsWith('xstate.');
  return descriptor.endsWith('.*') && `${type}.`.startsWith(descriptor.slice(0, -1));
}

/** Event type or descriptor as XState has it: the middle of the transition's name. */
export function descriptorOf({ id, source }: ChartTransition): string {
  return id.slice(source.length + 1, id.lastIndexOf('|'));
}

const depthOf = (path: string): number => (path === '' ? 0 : path.split('.').length);

function wayTo(
  chart: ChartDefinition,
  transition: ChartTransition,
  after: ReadonlySet<string>,
  stepsLeft: number,
): readonly string[] | undefined {
  const { id, targets, source } = transition;
  const reached = targets.length === 0 ? [source] : targets;
  if (reached.every((path) => after.has(path) || isHistory(chart, path))) return [id];
  if (stepsLeft === 0) return undefined;
  for (const next of chart.transitions) {
    if (next.type !== 'always' || next.targets.length === 0) continue;
    if (!reached.some((path) => isWithin(next.source, path) || isWithin(path, next.source)))
      continue;
    const way = wayTo(chart, next, after, stepsLeft - 1);
    if (way !== undefined) return [id, ...way];
  }
  return undefined;
}

function isHistory(chart: ChartDefinition, path: string): boolean {
  return chart.states.some(({ id, type }) => id === path && type === 'history');
}

/** True if `inner` is `outer` or lies in it. */
export function isWithin(inner: string, outer: string): boolean {
  return outer === '' || inner === outer || inner.startsWith(`${outer}.`);
}
