/**
 * Rows of the index that a query finds, all of them, read page by page.
 *
 * Guarantees: nothing of a page is read before the one before it was taken, so a caller that stops early
 * has not read the rest.
 */

import type { ActorQuery, ActorRow } from '../../../runtime/api.ts';
import { knob } from '../../../runtime/base/knob.ts';

/** At most 1,000. */
export const ROWS_PER_PAGE = knob('rowsPerQuery', 1_000);

interface Queried {
  query(asked: ActorQuery): { readonly actors: readonly ActorRow[]; readonly cursor?: string };
}

export function* allRows(runtime: Queried, asked: Omit<ActorQuery, 'limit'>): Generator<ActorRow> {
  let { cursor } = asked;
  do {
    const limit = ROWS_PER_PAGE.value;
    const page = runtime.query({ ...asked, limit, ...(cursor !== undefined && { cursor }) });
    yield* page.actors;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
