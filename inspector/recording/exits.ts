/**
 * Exits of active states, read from a chart's definition: the same as the engine reads from the machine itself.
 *
 * A transition of an active state that leaves states is an exit, unless a state further in takes the event without
 * asking a guard. Of several candidates for one event none comes after one without a guard.
 */

import type { ActorExit, ChartDefinition, ChartTransition } from '../protocol.ts';
import { descriptorOf, isWithin } from '../state-paths.ts';

export function exitsOfChart(chart: ChartDefinition, active: ReadonlySet<string>): ActorExit[] {
  const types = new Map(chart.states.map(({ id, type }) => [id, type]));
  const groups = new Map<string, ChartTransition[]>();
  for (const transition of chart.transitions) {
    if (!active.has(transition.source)) continue;
    const key = JSON.stringify([transition.source, descriptorOf(transition)]);
    groups.set(key, [...(groups.get(key) ?? []), transition]);
  }
  const exits: ActorExit[] = [];
  for (const candidates of groups.values()) {
    const [first] = candidates as [ChartTransition];
    if (isTakenWithin(first, [...groups.values()])) continue;
    const last = candidates.findIndex(({ guard }) => guard === undefined);
    const reachable = last < 0 ? candidates : candidates.slice(0, last + 1);
    reachable.forEach((transition, index) => {
      const state = leftBy(transition, active, types);
      if (state === undefined) return;
      exits.push({
        state,
        to: transition.targets.join(', '),
        cause: causeOf(transition),
        condition: conditionOf(transition, index),
        ...(transition.timer !== undefined && { timer: transition.timer }),
      });
    });
  }
  return exits;
}

function isTakenWithin(
  { source, id }: ChartTransition,
  groups: ReadonlyArray<readonly ChartTransition[]>,
): boolean {
  const descriptor = descriptorOf({ source, id } as ChartTransition);
  if (descriptor === '') return false;
  return groups.some(([inner, ...rest]) => {
    if (inner === undefined || inner.source === source || !isWithin(inner.source, source))
      return false;
    return (
      matches(descriptor, descriptorOf(inner)) &&
      [inner, ...rest].some(({ guard }) => guard === undefined)
    );
  });
}

/** True if an event that is named so is caught by a descriptor. */
function matches(type: string, descriptor: string): boolean {
  if (descriptor === type) return true;
  if (descriptor === '*') return !type.startsWith('xstate.');
  return descriptor.endsWith('.*') && `${type}.`.startsWith(descriptor.slice(0, -1));
}

/** Outermost state that is left; undefined where none is. */
function leftBy(
  { source, targets, isReentry = false }: ChartTransition,
  active: ReadonlySet<string>,
  types: ReadonlyMap<string, string>,
): string | undefined {
  if (targets.length === 0) return undefined;
  const isInner =
    !isReentry &&
    types.get(source) === 'compound' &&
    targets.every((target) => target !== source && isWithin(target, source));
  const domain = isInner ? source : domainOf(source, targets, types);
  const left = [...active].filter(
    (path) => path !== domain && (domain === undefined || isWithin(path, domain)),
  );
  const outer = left.filter(
    (path) => path === source || isWithin(source, path) || isWithin(path, source),
  );
  const all = outer.length > 0 ? outer : left;
  return all.toSorted((one, other) => depth(one) - depth(other))[0];
}

/** Innermost compound state around the source and all targets; undefined: the machine itself is left. */
function domainOf(
  source: string,
  targets: readonly string[],
  types: ReadonlyMap<string, string>,
): string | undefined {
  let around = parentOf(source);
  while (around !== undefined) {
    const path = around;
    const isCompound = types.get(path) === 'compound' || path === '';
    if (isCompound && targets.every((target) => target !== path && isWithin(target, path)))
      return path;
    around = parentOf(path);
  }
  return undefined;
}

const depth = (path: string): number => (path === '' ? 0 : path.split('.').length);

function parentOf(path: string): string | undefined {
  if (path === '') return undefined;
  const end = path.lastIndexOf('.');
  return end < 0 ? '' : path.slice(0, end);
}

function causeOf({ type, name, id, source }: ChartTransition): string {
  if (type === 'after') return `after "${name}"`;
  if (type === 'always') return 'at once';
  if (type === 'done') return name === '' ? 'all of it done' : `"${name}" done`;
  if (type === 'error') return `"${name}" failed`;
  if (type === 'snapshot') return `news of "${name}"`;
  const descriptor = descriptorOf({ id, source } as ChartTransition);
  if (descriptor === '*') return 'any other event';
  return `${descriptor.endsWith('.*') ? 'any ' : ''}"${descriptor}"`;
}

function conditionOf({ guard }: ChartTransition, index: number): string {
  if (guard !== undefined) return `if ${guard}`;
  return index === 0 ? '' : 'otherwise';
}
