/**
 * Sets of states that a transition leaves and enters: XState's SCXML algorithm (raise-*.js,
 * private), for machines without history states. Pure functions over sets of states; they run once
 * per plan (xstate-configurations.ts), so they are written to be read.
 */

/** Part of XState's StateNode that is read (private). */
export interface StateNode {
  readonly id: string;
  readonly key: string;
  readonly path: readonly string[];
  readonly order: number;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly parent: StateNode | undefined;
  readonly states: Record<string, StateNode>;
  readonly initial: { readonly target: readonly StateNode[]; readonly actions: readonly unknown[] };
  readonly entry: readonly unknown[];
  readonly exit: readonly unknown[];
  readonly invoke: ReadonlyArray<{
    readonly id: string;
    readonly src: unknown;
    readonly onSnapshot?: unknown;
  }>;
  readonly always: readonly Transition[] | undefined;
  readonly transitions: ReadonlyMap<string, readonly Transition[]>;
  readonly tags: readonly string[];
  readonly output: unknown;
}

/** Part of XState's transition definition that is read (private). */
export interface Transition {
  readonly source: StateNode;
  readonly target: readonly StateNode[] | undefined;
  readonly reenter: boolean;
  readonly actions: readonly unknown[];
  readonly guard: unknown;
}

/** Parents that are done by the entry of a final state. */
export interface Completions {
  /** Parents, as the events they raise. */
  readonly doneStates: ReadonlyArray<{ readonly id: string; readonly output: unknown }>;
  /** The node whose completion ends the machine. */
  readonly completes: StateNode | undefined;
}

/** Finds the parents that the entry of a final state completes. */
export function completions(
  node: StateNode,
  active: ReadonlySet<StateNode>,
  completed: Set<StateNode>,
): Completions {
  const { parent } = node;
  const doneStates: Array<{ id: string; output: unknown }> = [];
  let ancestor = parent?.type === 'parallel' ? parent : parent?.parent;
  let completes = ancestor ?? node;
  if (parent?.type === 'compound') doneStates.push({ id: parent.id, output: node.output });
  while (ancestor?.type === 'parallel' && !completed.has(ancestor) && isFinal(ancestor, active)) {
    completed.add(ancestor);
    doneStates.push({ id: ancestor.id, output: undefined });
    completes = ancestor;
    ancestor = ancestor.parent;
  }
  return { doneStates, completes: ancestor === undefined ? completes : undefined };
}

function isFinal(node: StateNode, active: ReadonlySet<StateNode>): boolean {
  const children = Object.values(node.states);
  if (node.type === 'compound')
    return children.some((child) => child.type === 'final' && active.has(child));
  if (node.type === 'parallel') return children.every((child) => isFinal(child, active));
  return node.type === 'final';
}

/** Drops conflicts: of transitions that leave the same states, that of the inner state wins. */
export function withoutConflicts(
  transitions: readonly Transition[],
  active: ReadonlySet<StateNode>,
): Transition[] {
  const taken = new Set<Transition>();
  for (const transition of transitions) {
    const exits = exitSet([transition], active);
    const conflicting = [...taken].filter((other) =>
      [...exitSet([other], active)].some((node) => exits.has(node)),
    );
    // XState stops at the first one that is not outer; what it would have replaced before then stays.
    if (conflicting.some((other) => !isDescendant(transition.source, other.source))) continue;
    for (const other of conflicting) taken.delete(other);
    taken.add(transition);
  }
  return [...taken];
}

export function exitSet(
  transitions: readonly Transition[],
  active: ReadonlySet<StateNode>,
): Set<StateNode> {
  const exits = new Set<StateNode>();
  for (const transition of transitions) {
    if (transition.target === undefined || transition.target.length === 0) continue;
    const domain = domainOf(transition);
    if (transition.reenter && transition.source === domain) exits.add(domain);
    for (const node of active) if (isDescendant(node, domain)) exits.add(node);
  }
  return exits;
}

export function entrySet(transitions: readonly Transition[]): {
  entered: Set<StateNode>;
  byDefault: Set<StateNode>;
} {
  const entered = new Set<StateNode>();
  const byDefault = new Set<StateNode>();
  for (const transition of transitions) {
    const { source, reenter, target = [] } = transition;
    const domain = domainOf(transition);
    for (const node of target) {
      if (source !== node || source !== domain || reenter) {
        entered.add(node);
        byDefault.add(node);
      }
      enterBelow(node, entered, byDefault);
    }
    for (const node of new Set(target)) {
      const ancestors = ancestorsOf(node, domain);
      if (domain?.type === 'parallel') ancestors.push(domain);
      enterAbove(
        ancestors,
        source.parent === undefined && reenter ? undefined : domain,
        entered,
        byDefault,
      );
    }
  }
  return { entered, byDefault };
}

function enterBelow(node: StateNode, entered: Set<StateNode>, byDefault: Set<StateNode>): void {
  if (node.type === 'compound') {
    const initial = node.initial.target[0] as StateNode;
    entered.add(initial);
    byDefault.add(initial);
    enterBelow(initial, entered, byDefault);
    enterAbove(ancestorsOf(initial, node), undefined, entered, byDefault);
  } else if (node.type === 'parallel') {
    for (const child of Object.values(node.states)) {
      if ([...entered].some((other) => isDescendant(other, child))) continue;
      entered.add(child);
      byDefault.add(child);
      enterBelow(child, entered, byDefault);
    }
  }
}

function enterAbove(
  ancestors: readonly StateNode[],
  within: StateNode | undefined,
  entered: Set<StateNode>,
  byDefault: Set<StateNode>,
): void {
  for (const ancestor of ancestors) {
    if (within === undefined || isDescendant(ancestor, within)) entered.add(ancestor);
    if (ancestor.type !== 'parallel') continue;
    for (const child of Object.values(ancestor.states)) {
      if ([...entered].some((other) => isDescendant(other, child))) continue;
      entered.add(child);
      enterBelow(child, entered, byDefault);
    }
  }
}

/** The state within which a transition happens; undefined when it leaves the root itself. */
function domainOf({ source, target = [], reenter }: Transition): StateNode | undefined {
  if (!reenter && target.every((node) => node === source || isDescendant(node, source)))
    return source;
  const [head, ...tail] = [...new Set(target), source];
  const common = ancestorsOf(head as StateNode, undefined).find((ancestor) =>
    tail.every((node) => isDescendant(node, ancestor)),
  );
  if (common !== undefined) return common;
  return reenter ? undefined : rootOf(source);
}

function rootOf(node: StateNode): StateNode {
  return node.parent === undefined ? node : rootOf(node.parent);
}

function isDescendant(node: StateNode, ancestor: StateNode | undefined): boolean {
  let marker = node;
  while (marker.parent !== undefined && marker.parent !== ancestor) marker = marker.parent;
  return marker.parent === ancestor;
}

export function ancestorsOf(node: StateNode, below: StateNode | undefined): StateNode[] {
  const ancestors: StateNode[] = [];
  if (node === below) return ancestors;
  for (let marker = node.parent; marker !== undefined && marker !== below; marker = marker.parent)
    ancestors.push(marker);
  return ancestors;
}

/** Transition from nothing into the initial states of a machine. */
export function initialOf(root: StateNode): Transition {
  const entered = new Set([root]);
  enterBelow(root, entered, new Set());
  return { source: root, target: [...entered], reenter: true, actions: [], guard: undefined };
}

export function inExitOrder(nodes: readonly StateNode[]): StateNode[] {
  return [...nodes].sort((a, b) => b.order - a.order);
}

export function isAtomic({ type }: StateNode): boolean {
  return type === 'atomic' || type === 'final';
}

export function eventlessOf(node: StateNode): Transition[] {
  return [node, ...ancestorsOf(node, undefined)].flatMap(({ always }) => always ?? []);
}

export function allNodes(node: StateNode): StateNode[] {
  return [node, ...Object.values(node.states).flatMap(allNodes)];
}

export function stateValueOf(node: StateNode, active: ReadonlySet<StateNode>): unknown {
  const children = Object.values(node.states).filter((child) => active.has(child));
  if (node.type === 'compound') {
    const [child] = children;
    if (child === undefined) return {};
    if (isAtomic(child)) return child.key;
  }
  return Object.fromEntries(children.map((child) => [child.key, stateValueOf(child, active)]));
}
