/**
 * Lines for people about what can end the states that an actor is in: events, deadlines, ends of children,
 * and guards by their names.
 *
 * One line for each state that is left and where that leads to, and one for each that nothing ends. What
 * stands on a line is bounded.
 */

import type { AnyMachineSnapshot } from 'xstate';
import type { StateNode } from '../statechart.ts';
import { activeNodes, type Exit, exitsOf, pathOf } from '../statechart.ts';

/** Causes on one line. */
const CAUSES_MAX = 20;
const NAME_LENGTH_MAX = 100;

/** `dueOf` says when a deadline is due, by the id of its timer. */
export function exitLines(
  snapshot: AnyMachineSnapshot,
  dueOf: (timer: string) => string = () => '',
): string[] {
  const nodes = activeNodes(snapshot);
  const exits = exitsOf(nodes);
  const left = new Set(exits.flatMap(({ left }) => left));
  const lasting = nodes
    .map(pathOf)
    .filter((path, index) => isLeaf(nodes[index]) && !left.has(path));
  return [
    ...[...grouped(exits).values()].map((group) => {
      const [{ state, to }] = group as [Exit];
      const where = to === state ? 'itself, again' : quoted(to);
      return `  exit      ${quoted(state)} → ${where}: ${causes(group, dueOf)}`;
    }),
    ...lasting.map((path) => `  exit      ${quoted(path)}: nothing ends it`),
  ];
}

const isLeaf = (node: StateNode | undefined): boolean =>
  node !== undefined && Object.keys(node.states).length === 0;

/** The machine itself is no state of its own. */
const quoted = (state: string): string => (state === '' ? 'all of it' : `"${shown(state)}"`);

function grouped(exits: readonly Exit[]): Map<string, Exit[]> {
  const groups = new Map<string, Exit[]>();
  for (const exit of exits) {
    const key = JSON.stringify([exit.state, exit.to]);
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(exit);
  }
  return groups;
}

function causes(group: readonly Exit[], dueOf: (timer: string) => string): string {
  const words = group.slice(0, CAUSES_MAX).map(({ cause, condition, timer }) => {
    const due = timer === undefined ? '' : dueOf(timer);
    const when = due === '' ? '' : `, ${due}`;
    return `${shown(cause)}${when}${condition === '' ? '' : ` ${shown(condition)}`}`;
  });
  const more = group.length - words.length;
  return `${words.join('; ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function shown(name: string): string {
  return name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX - 1)}…` : name;
}
