/**
 * Holders that write for a place: one holder is one node, in one life, under one fence.
 *
 * A node that dies, or loses the lease and gets it again, goes on as another holder: what the one
 * before had not shown yet it will never show. Holders are known by the commits of their place,
 * the first of which raises the fence before anything is read; a place that keeps nothing has none.
 */

import type { HistoryRecord } from '../history.ts';

export type CommitRecord = Extract<HistoryRecord, { readonly type: 'commit' }>;
export type NodeRecord = Extract<HistoryRecord, { readonly type: 'node' }>;

interface Holding {
  readonly fence: number;
  readonly holder: number;
}

export class Holders {
  readonly #holdings = new Map<string, Holding>();
  #last = 0;

  node({ node, change }: NodeRecord): void {
    if (change === 'started') this.#holdings.delete(node);
  }

  /** The holder that a commit is of: a number that no other has. */
  ofCommit({ node, fence }: CommitRecord): number {
    const known = this.#holdings.get(node);
    if (known?.fence === fence) return known.holder;
    this.#last += 1;
    this.#holdings.set(node, { fence, holder: this.#last });
    return this.#last;
  }

  /** The holder that a node is now; 0 when it has not written in this life. */
  ofNode(node: string): number {
    return this.#holdings.get(node)?.holder ?? 0;
  }
}

/** Whether something of the group is in the store now. */
export function isWritten({ change }: CommitRecord): boolean {
  return change === 'settled' || change === 'split';
}
