/**
 * Groups that the tests of stores write, and the way they hand them over: `commitAll` waits for the
 * settlements and checks that each comes once, in order and never inside `commit`.
 */

import { expect } from 'vitest';
import type {
  ActorWrite,
  Group,
  IndexEntry,
  Store,
  StoreQuery,
} from '../../runtime/ports/store.ts';

export function entry(parts: Partial<IndexEntry> = {}): IndexEntry {
  return {
    kind: 'order',
    status: 'active',
    isPending: false,
    state: 'open',
    tags: [],
    dueAt: null,
    turnAt: 0,
    ...parts,
  };
}

/** A write of a whole actor; its record is whatever text identifies it. */
export function write(
  address: string,
  record: string,
  parts: Partial<ActorWrite> = {},
): ActorWrite {
  const own = entry({ kind: address.slice(0, address.indexOf('/')), ...parts.entry });
  return { address, record, history: [], ...parts, entry: own };
}

export function removal(address: string): ActorWrite {
  return { address, record: null, entry: null, history: [] };
}

export function group(writes: readonly ActorWrite[], parts: Partial<Group> = {}): Group {
  return { shard: 'A', fence: 1, writes, ...parts };
}

/** Commits the groups one right after the other and returns how each was settled, in their order. */
export async function commitAll(
  store: Store,
  ...groups: readonly Group[]
): Promise<ReadonlyArray<string | undefined>> {
  const outcomes: Array<string | undefined> = [];
  await new Promise<void>((resolve, reject) => {
    const order: number[] = [];
    groups.forEach((each, index) => {
      let isInside = true;
      store.commit(each, (refusal) => {
        if (isInside) reject(new Error(`group ${index} was settled inside commit`));
        if (order.includes(index)) reject(new Error(`group ${index} was settled twice`));
        if (order.length !== index) reject(new Error(`group ${index} was settled out of order`));
        order.push(index);
        outcomes.push((refusal as { code?: string } | undefined)?.code ?? refusal?.message);
        if (order.length === groups.length) resolve();
      });
      isInside = false;
    });
  });
  return outcomes;
}

/** Every page of a query, one after the other. */
export function allPages(store: Store, query: Omit<StoreQuery, 'after'>): string[] {
  const found: string[] = [];
  let after: string | undefined;
  do {
    const page = store.query(after === undefined ? query : { ...query, after });
    expect(page.rows.length).toBeLessThanOrEqual(query.limit);
    found.push(...page.rows.map(([address]) => address));
    after = page.cursor;
  } while (after !== undefined);
  return found;
}

/** All rows beside a record, by table and key. */
export function rowsOf(store: Store, address: string): Map<string, string> {
  const rows = [...store.rows(address)];
  const found = new Map(rows.map(([table, key, text]) => [JSON.stringify([table, key]), text]));
  expect(found.size).toBe(rows.length);
  return found;
}
