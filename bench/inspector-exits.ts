/**
 * Exits of states against XState itself: in every state of a machine every event that XState would leave a state for,
 * all guards allowing it, has to be named among the exits.
 */

import type { AnyStateMachine } from 'xstate';
import { definitionOf } from '../inspector/drawing/from-machine.ts';
import { exitsOfChart } from '../inspector/recording/exits.ts';
import { activePaths } from '../inspector/state-paths.ts';
import { stateText } from '../runtime/actor.ts';
import { activeNodes, exitsOf } from '../runtime/statechart.ts';

export interface ExitFigures {
  readonly states: number;
  readonly leaving: number;
  readonly named: number;
  /** What was not named, as `machine: state: event`. */
  readonly missed: readonly string[];
}

interface Node {
  readonly key: string;
  readonly path: readonly string[];
  readonly id: string;
  readonly type: string;
  readonly parent?: Node;
  readonly states: Readonly<Record<string, Node>>;
  readonly initial?: { readonly target: readonly Node[] };
  readonly transitions: ReadonlyMap<string, ReadonlyArray<{ readonly target?: readonly Node[] }>>;
}

export function exitFigures(machines: Readonly<Record<string, AnyStateMachine>>): ExitFigures {
  let states = 0;
  let leaving = 0;
  const missed: string[] = [];
  for (const [name, machine] of Object.entries(machines)) {
    const root = machine.root as unknown as Node;
    const chart = definitionOf(machine);
    for (const node of allOf(root)) {
      if (node.type === 'history') continue;
      states += 1;
      const snapshot = machine.resolveState({ value: valueWith(root, node), context: {} } as never);
      const nodes = activeNodes(snapshot);
      const own = exitsOf(nodes);
      const drawn = exitsOfChart(chart, activePaths(stateText(snapshot.value)));
      for (const { event, isLeft } of leavingBy(nodes as unknown as Node[])) {
        if (!isLeft) continue;
        leaving += 1;
        const timer = event.startsWith('xstate.after.') ? event : undefined;
        const count = (
          exits: ReadonlyArray<{ readonly cause: string; readonly timer?: string | undefined }>,
        ) =>
          exits.some((exit) =>
            timer === undefined
              ? exit.timer === undefined && isCause(exit.cause, event)
              : exit.timer === timer,
          );
        if (!count(own) || !count(drawn)) missed.push(`${name}: ${node.path.join('.')}: ${event}`);
      }
    }
  }
  return { states, leaving, named: leaving - missed.length, missed };
}

/** True if the words for a cause are of this event. */
function isCause(cause: string, event: string): boolean {
  if (event === '') return cause === 'at once';
  if (event === '*') return cause === 'any other event';
  if (!event.startsWith('xstate.')) return cause.includes(`"${event}"`);
  if (event.startsWith('xstate.done.state.')) return cause === 'all of it done';
  const [, what = ''] = /^xstate\.(done|error|snapshot)\./.exec(event) ?? [];
  return what === 'done'
    ? cause.endsWith(' done')
    : what === 'error'
      ? cause.endsWith(' failed')
      : cause.startsWith('news of');
}

/** Events of active states, as XState lists them, of which the innermost state that has them leads to a target. */
function leavingBy(
  nodes: readonly Node[],
): Array<{ readonly event: string; readonly isLeft: boolean }> {
  const events = new Set(nodes.flatMap((node) => [...node.transitions.keys()]));
  return [...events].map((event) => {
    const having = nodes.filter((node) => node.transitions.has(event));
    const innermost = having.filter(
      (node) => !having.some((other) => other !== node && isIn(other, node)),
    );
    const isLeft = innermost.some((node) => {
      const [first] = node.transitions.get(event) ?? [];
      const target = first?.target?.[0];
      // To a state further in that is not active, or to anything else: some active state is left.
      return (
        target !== undefined && target !== node && !isIn(node, target) && node.type !== 'parallel'
      );
    });
    return { event, isLeft };
  });
}

const isIn = (inner: Node, outer: Node): boolean =>
  inner.path.length > outer.path.length &&
  outer.path.every((key, index) => inner.path[index] === key);

function allOf(node: Node): Node[] {
  return [node, ...Object.values(node.states).flatMap(allOf)];
}

/** State value in which a node is active, and elsewhere what is initial. */
function valueWith(root: Node, wanted: Node): unknown {
  const stateOf = (node: Node): unknown => {
    if (node.type === 'parallel')
      return Object.fromEntries(
        Object.entries(node.states)
          .filter(([, child]) => child.type !== 'history')
          .map(([key, child]) => [key, stateOf(child) ?? {}]),
      );
    if (node.type !== 'compound') return undefined;
    const onWay = Object.values(node.states).find(
      (child) => child === wanted || isIn(wanted, child),
    );
    const child = onWay ?? firstOf(node);
    const inner = stateOf(child);
    return inner === undefined ? child.key : { [child.key]: inner };
  };
  return stateOf(root) ?? {};
}

function firstOf(node: Node): Node {
  const target = node.initial?.target[0];
  const found = Object.values(node.states).find(
    (child) => child === target || (target !== undefined && isIn(target, child)),
  );
  return (found ?? Object.values(node.states)[0]) as Node;
}
