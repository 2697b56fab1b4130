/** Declarations of machines that faults can aim at: the events they take, the delays they wait for. */

import type { AnyStateMachine, AnyStateNode } from 'xstate';

type Machines = Readonly<Record<string, AnyStateMachine>>;

/** Types of events, without wildcards and XState's own. */
export function messagesOf(kinds: Machines): readonly string[] {
  const types = Object.values(kinds).flatMap(({ events }) => events as readonly string[]);
  const named = types.filter((type) => !type.includes('*') && !type.startsWith('xstate.'));
  return [...new Set(named)].sort();
}

/** Names of delays as they stand in `after`. */
export function limitsOf(kinds: Machines): readonly string[] {
  const names = new Set<string>();
  const visit = (node: AnyStateNode): void => {
    for (const name of Object.keys(node.config.after ?? {})) names.add(name);
    for (const child of Object.values(node.states)) visit(child as AnyStateNode);
  };
  for (const { root } of Object.values(kinds)) visit(root);
  return [...names].sort();
}
