/**
 * What history states remember, in a snapshot that was stored: XState drops what the machine does not
 * have any more without a word, and the history state then leads to its default.
 */

import type { AnyStateMachine } from 'xstate';

/** What of XState's StateNode is read. */
interface Node {
  readonly id: string;
  readonly type: string;
  readonly parent: Node | undefined;
}

/** Ids of history states, and of what they remember, that the machine does not have; without the id of the machine. */
export function missingHistory(machine: AnyStateMachine, stored: unknown): string[] {
  const missing = new Set<string>();
  for (const [id, remembered] of Object.entries(stored ?? {})) {
    const history = nodeOf(machine, id);
    if (history?.type !== 'history') missing.add(id);
    for (const state of Array.isArray(remembered) ? remembered : [undefined]) {
      const stateId = String((state as { id?: unknown } | undefined)?.id);
      const node = nodeOf(machine, stateId);
      const isLost = history?.type === 'history' && !isBelow(node, history.parent);
      if (node === undefined || isLost) missing.add(stateId);
    }
  }
  const own = `${machine.id}.`;
  return [...missing].map((id) => (id.startsWith(own) ? id.slice(own.length) : id));
}

function nodeOf(machine: AnyStateMachine, id: string): Node | undefined {
  try {
    return machine.getStateNodeById(id) as unknown as Node;
  } catch {
    return undefined;
  }
}

function isBelow(node: Node | undefined, ancestor: Node | undefined): boolean {
  for (let parent = node?.parent; parent !== undefined; parent = parent.parent)
    if (parent === ancestor) return true;
  return false;
}
