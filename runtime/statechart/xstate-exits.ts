/**
 * Exits: what can end the states that a machine is in. They are read from its definition alone, so they hold
 * for any machine.
 *
 * An exit is a transition of an active state that leaves states, whether its guard would allow it now or not.
 * A transition that a state further in takes instead, without asking a guard, is no exit. Nothing is run.
 */

import { guardText } from '../base/guard-text.ts';
import { matchesDescriptor } from './xstate-configurations.ts';
import { exitSet, type StateNode, type Transition } from './xstate-sets.ts';

export interface Exit {
  /** The outermost state that is left, such as `open.waiting`; empty for the machine itself. */
  readonly state: string;
  /** State that it leads to; `state` itself when that begins again. */
  readonly to: string;
  /** Cause in words, without its guard. */
  readonly cause: string;
  /** Condition by names of guards: empty, `if isPaid`, or `otherwise` where others are asked before. */
  readonly condition: string;
  /** The timer that brings it. */
  readonly timer: string | undefined;
  /** All that is left, by path. */
  readonly left: readonly string[];
}

/** Exits of the states that are active, the outer ones first. */
export function exitsOf(nodes: readonly StateNode[]): Exit[] {
  const active = new Set(nodes);
  return nodes.flatMap((node) => {
    const own = [...node.transitions].filter(([type]) => !isTakenWithin(node, type, nodes));
    const always = ['', node.always ?? []] as const;
    return [...own, always].flatMap(([type, candidates]) =>
      reachable(candidates).flatMap((transition, index) =>
        exitOf(transition, type, index === 0, active),
      ),
    );
  });
}

/** Candidates are asked in order: none comes after one without a guard. */
function reachable(candidates: readonly Transition[]): readonly Transition[] {
  const last = candidates.findIndex(({ guard }) => guard === undefined);
  return last < 0 ? candidates : candidates.slice(0, last + 1);
}

/** A state below takes the event, and asks nothing. */
function isTakenWithin(node: StateNode, type: string, nodes: readonly StateNode[]): boolean {
  return nodes.some(
    (inner) =>
      inner !== node &&
      isWithin(inner, node) &&
      [...inner.transitions].some(
        ([descriptor, candidates]) =>
          matchesDescriptor(type, descriptor) &&
          candidates.some(({ guard }) => guard === undefined),
      ),
  );
}

const isWithin = ({ path }: StateNode, { path: outer }: StateNode): boolean =>
  path.length > outer.length && outer.every((key, index) => path[index] === key);

function exitOf(
  transition: Transition,
  type: string,
  isFirst: boolean,
  active: ReadonlySet<StateNode>,
): Exit[] {
  const { source, target = [], guard } = transition;
  const left = [...exitSet([transition], active)].sort((one, other) => one.order - other.order);
  const [first] = left;
  if (first === undefined) return [];
  // Of several regions that are left at once, that which leads away.
  const outer = left.find((node) => node === source || isWithin(source, node)) ?? first;
  const isDelay = type.startsWith('xstate.after.');
  return [
    {
      state: pathOf(outer),
      to: target.map(pathOf).join(', '),
      cause: causeOf(type, source),
      condition: conditionOf(guard, isFirst),
      timer: isDelay ? type : undefined,
      left: left.map(pathOf),
    },
  ];
}

export const pathOf = ({ path }: StateNode): string => path.join('.');

function causeOf(type: string, source: StateNode): string {
  if (type === '') return 'at once';
  if (type === '*') return 'any other event';
  if (!type.startsWith('xstate.')) return `${type.endsWith('.*') ? 'any ' : ''}"${type}"`;
  if (type.startsWith('xstate.after.')) {
    const delay = type.slice('xstate.after.'.length);
    return `after "${delay.endsWith(`.${source.id}`) ? delay.slice(0, -source.id.length - 1) : delay}"`;
  }
  const [, what = '', of = '', id = ''] = /^xstate\.(\w+)\.(\w+)\.(.*)$/s.exec(type) ?? [];
  if (what === 'done' && of === 'state') return 'all of it done';
  if (what === 'done' && of === 'actor') return `"${id}" done`;
  if (what === 'error' && of === 'actor') return `"${id}" failed`;
  return type.startsWith('xstate.snapshot.')
    ? `news of "${type.slice('xstate.snapshot.'.length)}"`
    : `"${type}"`;
}

function conditionOf(guard: unknown, isFirst: boolean): string {
  if (guard !== undefined) return `if ${guardText(guard, 'a condition holds')}`;
  return isFirst ? '' : 'otherwise';
}
