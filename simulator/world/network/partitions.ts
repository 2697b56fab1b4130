/**
 * Pairs of nodes that are disconnected now, and how, by all that was said of them.
 *
 * Guarantees: of two `say`s about the same pair the later one holds. A partition holds until it is
 * ended itself, whatever is said or healed meanwhile, so partitions that overlap do not end each
 * other. Between what was said and partitions the worst holds.
 */

import { isBetween, type Nodes } from './interception.ts';
import type { Parting } from './partition-shapes.ts';

/**
 * `cut`: both sides are told. `half`: only one is told, the other believes that it is connected.
 * `silent`: nobody is told, and nothing gets through.
 */
export type LinkState = 'whole' | 'silent' | 'half' | 'cut';

const BADNESS: Readonly<Record<LinkState, number>> = { whole: 0, silent: 1, half: 2, cut: 3 };

interface Statement {
  readonly side: Nodes;
  readonly other: Nodes;
  readonly state: LinkState;
}

export interface Partition {
  readonly partings: readonly Parting[];
  readonly state: LinkState;
}

export class Partitions {
  #said: readonly Statement[] = [];
  readonly #partitions = new Set<Partition>();

  say(side: Nodes, other: Nodes, state: LinkState): void {
    const kept = this.#said.filter((one) => !isSame(one, { side, other, state }));
    this.#said = [...kept, { side, other, state }];
  }

  add(partition: Partition): void {
    this.#partitions.add(partition);
  }

  /** False when it was removed before. */
  remove(partition: Partition): boolean {
    return this.#partitions.delete(partition);
  }

  clear(): void {
    this.#said = [];
    this.#partitions.clear();
  }

  stateOf(node: string, other: string): LinkState {
    let state =
      this.#said.findLast((one) => isBetween([one.side, one.other], node, other))?.state ?? 'whole';
    for (const partition of this.#partitions)
      if (BADNESS[partition.state] > BADNESS[state] && parts(partition, node, other))
        state = partition.state;
    return state;
  }

  /** It is not told that it is disconnected from the other: it is on the first side of a `half`. */
  isUnaware(node: string, other: string): boolean {
    return [...this.#partitions].some(
      ({ state, partings }) =>
        state === 'half' &&
        partings.some(([side, far]) => side.includes(node) && far.includes(other)),
    );
  }
}

/** Whether the partition speaks of these two. */
export function parts({ partings }: Partition, node: string, other: string): boolean {
  return partings.some((parting) => isBetween(parting, node, other));
}

/** About the same nodes, as far as can be seen: the older one of the two is of no use. */
function isSame(one: Statement, another: Statement): boolean {
  const isSameSide = (a: Nodes, b: Nodes) => a === b || String(a) === String(b);
  if ([one.side, one.other].some((nodes) => typeof nodes === 'function'))
    return one.side === another.side && one.other === another.other;
  return isSameSide(one.side, another.side) && isSameSide(one.other, another.other);
}
