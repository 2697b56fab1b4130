/** Questions about many actors, answered from the store's index without reading a record. */

import { RuntimeError } from './errors.ts';
import type { IndexEntry, StorePage, StoreQuery } from './store.ts';

export interface ActorQuery {
  readonly kind?: string;
  readonly status?: IndexEntry['status'];
  /** The state value as text: `running`, or JSON for a nested one. */
  readonly state?: string;
  readonly tag?: string;
  /** Only actors that stand in queues whose names begin so (`rank` of their kind); they come in the order of their ranks. */
  readonly queue?: string;
  /** Only actors with a deadline before this moment (ms since the epoch). */
  readonly deadlineBefore?: number;
  /** Only active actors that have taken no event for longer than this. */
  readonly stuckFor?: number;
  /** Rows per page at most, 1 to 1,000; a page may have fewer and still a cursor. Default 100. */
  readonly limit?: number;
  /** Rows that are looked at for a page, where the store counts them; then it ends, with a cursor. Default 20,000. */
  readonly lookedAtMax?: number;
  /** The `cursor` of the page before. */
  readonly cursor?: string;
}

export interface ActorRow extends IndexEntry {
  readonly address: string;
}

/** @throws {RuntimeError} OPTION_INVALID */
export function queryActors(
  ask: (query: StoreQuery) => StorePage,
  query: ActorQuery,
  now: number,
): { readonly actors: readonly ActorRow[]; readonly cursor?: string } {
  const { kind, state, tag, queue, deadlineBefore, stuckFor, limit = 100, cursor } = query;
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 1_000) {
    throw new RuntimeError(
      'OPTION_INVALID',
      `A query's limit is a whole number from 1 to 1,000, got ${limit}.`,
    );
  }
  const status = query.status ?? (stuckFor === undefined ? undefined : 'active');
  const page = ask({
    limit,
    ...(kind !== undefined && { kind }),
    ...(status !== undefined && { status }),
    ...(state !== undefined && { state }),
    ...(tag !== undefined && { tag }),
    ...(queue !== undefined && { queue }),
    ...(deadlineBefore !== undefined && { dueBefore: deadlineBefore }),
    ...(stuckFor !== undefined && { turnBefore: now - stuckFor }),
    ...(query.lookedAtMax !== undefined && { lookedAtMax: query.lookedAtMax }),
    ...(cursor !== undefined && { after: cursor }),
  });
  const actors = page.rows.map(([address, entry]) => ({ address, ...entry }));
  return page.cursor === undefined ? { actors } : { actors, cursor: page.cursor };
}
