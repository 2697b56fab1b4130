/**
 * Definition of any XState v5 machine, read from its state nodes. Nothing of the user's is called, and
 * no name is trusted: functions without one are told as such.
 */

import type { AnyStateMachine } from 'xstate';
import { guardText } from '../../runtime/base/guard-text.ts';
import type { ChartCause, ChartDefinition, ChartState, ChartTransition } from '../protocol.ts';

/** Part of XState's StateNode that is read. */
interface MachineNode {
  readonly id: string;
  readonly key: string;
  readonly path: readonly string[];
  readonly parent: MachineNode | undefined;
  readonly type: ChartState['type'];
  readonly history: 'shallow' | 'deep' | false;
  readonly states: Readonly<Record<string, MachineNode>>;
  readonly initial: { readonly target: readonly MachineNode[] };
  readonly entry: readonly unknown[];
  readonly exit: readonly unknown[];
  readonly invoke: ReadonlyArray<{ readonly id: string; readonly src: unknown }>;
  readonly tags: readonly string[];
  readonly description: string | undefined;
  readonly always: readonly MachineTransition[] | undefined;
  readonly transitions: ReadonlyMap<string, readonly MachineTransition[]>;
}

interface MachineTransition {
  readonly target: readonly MachineNode[] | undefined;
  readonly guard: unknown;
  readonly actions: readonly unknown[];
  readonly reenter: boolean;
  readonly description?: string | undefined;
}

export function definitionOf(machine: AnyStateMachine): ChartDefinition {
  const root = machine.root as unknown as MachineNode;
  const nodes = allNodes(root);
  const states = nodes.map(stateOf);
  const transitions = nodes.flatMap(transitionsOf);
  const content = { machine: machine.id, states, transitions };
  return { ...content, hash: hashOf(JSON.stringify(content)) };
}

function allNodes(node: MachineNode): MachineNode[] {
  return [node, ...Object.values(node.states).flatMap(allNodes)];
}

const idOf = ({ path }: MachineNode): string => path.join('.');

function stateOf(node: MachineNode): ChartState {
  const { key, type, parent, history, tags, entry, exit, invoke, description } = node;
  const initial = type === 'compound' ? node.initial.target[0] : undefined;
  return {
    id: idOf(node),
    ...(parent !== undefined && { parent: idOf(parent) }),
    key,
    type,
    ...(type === 'history' && { history: history === 'deep' ? 'deep' : 'shallow' }),
    ...(initial !== undefined && { initial: idOf(initial) }),
    ...(tags.length > 0 && { tags }),
    ...(entry.length > 0 && { entry: entry.map(actionName) }),
    ...(exit.length > 0 && { exit: exit.map(actionName) }),
    ...(invoke.length > 0 && {
      invokes: invoke.map(({ id, src }) => ({ id, src: typeof src === 'string' ? src : id })),
    }),
    ...(description !== undefined && { description }),
  };
}

function transitionsOf(node: MachineNode): ChartTransition[] {
  const always = ['', node.always ?? []] as const;
  return [...node.transitions, always].flatMap(([event, candidates]) =>
    candidates.map((transition, index) => transitionOf(node, event, transition, index)),
  );
}

function transitionOf(
  node: MachineNode,
  event: string,
  { target, guard, actions, reenter, description }: MachineTransition,
  index: number,
): ChartTransition {
  const source = idOf(node);
  const cause = causeOf(event, node);
  return {
    id: `${source}|${event}|${index}`,
    source,
    targets: (target ?? []).map(idOf),
    ...cause,
    ...(cause.type === 'after' && { timer: event }),
    ...(guard !== undefined && { guard: guardText(guard) }),
    ...(actions.length > 0 && { actions: actions.map(actionName) }),
    ...(reenter && { isReentry: true }),
    ...(description !== undefined && { description }),
  };
}

function causeOf(event: string, node: MachineNode): { type: ChartCause; name: string } {
  if (event === '') return { type: 'always', name: '' };
  const [, what = '', rest = ''] = /^xstate\.(after|done|error|snapshot)\.(.*)$/s.exec(event) ?? [];
  if (what === 'after') return { type: 'after', name: withoutEnd(rest, `.${node.id}`) };
  if (what === 'done' && rest.startsWith('state.')) return { type: 'done', name: '' };
  if (what === 'snapshot') return { type: 'snapshot', name: childName(rest, node) };
  if (what === 'done' || what === 'error')
    return { type: what, name: childName(rest.replace(/^actor\./, ''), node) };
  return { type: 'event', name: event };
}

/** A child without an id of its own is called by its source. */
function childName(id: string, node: MachineNode): string {
  const child = node.invoke.find((each) => each.id === id);
  return child !== undefined && id.endsWith(`.${node.id}`) && typeof child.src === 'string'
    ? child.src
    : id;
}

const withoutEnd = (text: string, end: string): string =>
  text.endsWith(end) ? text.slice(0, -end.length) : text;

function actionName(action: unknown): string {
  if (typeof action === 'string') return action;
  const { type, name } = action as { readonly type?: unknown; readonly name?: unknown };
  if (typeof type === 'string') return type.replace(/^xstate\./, '');
  return typeof name === 'string' && !['', 'actions', 'entry', 'exit'].includes(name)
    ? name
    : 'a function';
}

/** FNV-1a over the text, twice with different beginnings: 64 bits, the same everywhere. */
function hashOf(text: string): string {
  return [0x811c9dc5, 0xcbf29ce4]
    .map((start) => {
      let hash = start;
      for (let index = 0; index < text.length; index += 1)
        hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
      return (hash >>> 0).toString(16).padStart(8, '0');
    })
    .join('');
}
