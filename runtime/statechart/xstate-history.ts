/**
 * Memory of history states, in a snapshot that was stored.
 *
 * XState drops what the machine does not have any more without a word, and the history state then leads
 * to its default. It takes a dot in a name for the end of the name, too, so states are looked up here.
 */

import type { AnyStateMachine } from 'xstate';
import { allNodes, ancestorsOf, type StateNode } from './xstate-sets.ts';

/** The history of a stored snapshot, as the machine has it. */
export interface Recalled {
  /** State nodes by the ids of history states, as XState keeps it while an actor runs. */
  readonly nodes: Readonly<Record<string, readonly StateNode[]>>;
  /** Ids of what the machine does not have, or could not go back to; without the id of the machine. */
  readonly missing: readonly string[];
}

export function recall(machine: AnyStateMachine, stored: unknown): Recalled {
  const entries = Object.entries(stored ?? {});
  if (entries.length === 0) return { nodes: {}, missing: [] };
  const all = allNodes(machine.root as unknown as StateNode);
  const byId = new Map(all.map((node) => [node.id, node]));
  // A state that was given an id of its own is still found by the names that lead to it.
  const byNames = new Map(all.map((node) => [[machine.id, ...node.path].join('.'), node]));
  const missing = new Set<string>();
  const nodes = entries.map(([id, remembered]) => {
    // A history state that has another id is at its default, even where its path leads to it.
    const history = byId.get(id);
    if (history?.type !== 'history') missing.add(id);
    const found: StateNode[] = [];
    for (const state of Array.isArray(remembered) ? remembered : [undefined]) {
      const stateId = String((state as { id?: unknown } | undefined)?.id);
      const node = byId.get(stateId) ?? byNames.get(stateId);
      const isLost = history?.type === 'history' && !isReachable(node, history, found);
      if (node === undefined || isLost) missing.add(stateId);
      else found.push(node);
    }
    return [id, found] as const;
  });
  const own = `${machine.id}.`;
  return {
    nodes: Object.fromEntries(nodes),
    missing: [...missing].map((id) => (id.startsWith(own) ? id.slice(own.length) : id)),
  };
}

/** True if the history state can lead there, and to the others too. */
function isReachable(
  node: StateNode | undefined,
  history: StateNode,
  others: readonly StateNode[],
): boolean {
  if (node === undefined || node.type === 'history') return false;
  const above = ancestorsOf(node, undefined);
  if (!above.includes(history.parent as StateNode)) return false;
  return others.every((other) => {
    const shared = [other, ...ancestorsOf(other, undefined)];
    const common = [node, ...above].find((ancestor) => shared.includes(ancestor));
    return common === node || common === other || common?.type === 'parallel';
  });
}
