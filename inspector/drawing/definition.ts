/**
 * Reading of a machine's definition: what stands on its edges, which states lie in which, which are active.
 */

import type { ChartState, ChartTransition } from '../protocol.ts';

/** Label of a transition on an edge: the cause and the guard. */
export function labelOf(transition: ChartTransition): string {
  const guard = transition.guard === undefined ? '' : ` [${transition.guard}]`;
  return `${causeText(transition)}${guard}`;
}

export function causeText({ type, name }: ChartTransition): string {
  if (type === 'after') return `after ${delayText(name)}`;
  if (type === 'always') return 'always';
  if (type === 'done') return name === '' ? 'done' : `${name} done`;
  if (type === 'error') return `${name} failed`;
  if (type === 'snapshot') return `news of ${name}`;
  return name === '*' ? 'any other event' : name;
}

/** Children of each state, in document order. */
export function childrenByState(
  states: readonly ChartState[],
): ReadonlyMap<string, readonly ChartState[]> {
  const children = new Map<string, ChartState[]>(states.map(({ id }) => [id, []]));
  for (const state of states)
    if (state.parent !== undefined) children.get(state.parent)?.push(state);
  return children;
}

/** Ids of the states that a state value names, those around them included. */
export function activeStates(value: unknown): Set<string> {
  const active = new Set(['']);
  collectActive(value, '', active);
  return active;
}

/** True when `inner` lies in `outer`, at any depth, and is not it. */
export function isInside(inner: string, outer: string): boolean {
  return inner !== outer && (outer === '' || inner.startsWith(`${outer}.`));
}

function collectActive(value: unknown, around: string, active: Set<string>): void {
  const below = (key: string): string => (around === '' ? key : `${around}.${key}`);
  if (typeof value === 'string') active.add(below(value));
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      active.add(below(key));
      collectActive(inner, below(key), active);
    }
}

const UNITS: ReadonlyArray<readonly [string, number]> = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

/** A named delay as it is, a number of milliseconds in the largest unit that fits. */
function delayText(name: string): string {
  const ms = Number(name);
  if (name === '' || !Number.isFinite(ms)) return name;
  const unit = UNITS.find(([, size]) => ms >= size && ms % size === 0);
  return unit === undefined ? `${ms} ms` : `${ms / unit[1]} ${unit[0]}`;
}
