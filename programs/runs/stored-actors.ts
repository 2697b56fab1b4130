/**
 * Stored actors: records of one place, read from the store itself.
 *
 * It reads committed records only, so it sees the same beside a process at work and after it.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../runtime/ports/store.ts';
import { storedRows } from '../../runtime/statechart.ts';
import { lmdbStore } from '../../stores/lmdb.ts';

export type StoreReader = Pick<Store, 'load' | 'rows' | 'query' | 'entry'>;

export interface StoredActor<TContext> {
  readonly address: string;
  /** `running`, or JSON of a nested state. */
  readonly state: string;
  readonly dueAt: number | null;
  readonly turnAt: number;
  /** Its context without its tables, which are read row by row. */
  readonly context: TContext;
}

interface Selection {
  /** First part of its key. */
  readonly prefix?: string;
  readonly tag?: string;
  readonly state?: string;
}

const ROWS_AT_ONCE_MAX = 500;

export class StoredActors {
  readonly #store: StoreReader;
  readonly #place: string;

  constructor(store: StoreReader, place: string) {
    this.#store = store;
    this.#place = place;
  }

  /** By an address with or without its place. */
  read<TContext>(given: string): StoredActor<TContext> | undefined {
    const address = this.#at(given);
    const text = this.#store.load(address);
    const entry = this.#store.entry(address);
    if (text === undefined || entry === undefined) return undefined;
    const { state, dueAt, turnAt } = entry;
    const record = JSON.parse(text) as { readonly snapshot: { readonly context: TContext } };
    return { address, state, dueAt, turnAt, context: record.snapshot.context };
  }

  /** Rows of a table in its context. */
  *rows(given: string, table: string): Iterable<readonly [key: string, row: unknown]> {
    const address = this.#at(given);
    const text = this.#store.load(address);
    if (text !== undefined) yield* storedRows(text, this.#store.rows(address), table);
  }

  stateOf(address: string): string | undefined {
    return this.#store.entry(this.#at(address))?.state;
  }

  *all<TContext>(kind: string, selection?: Selection): Iterable<StoredActor<TContext>> {
    for (const address of this.addresses(kind, selection)) {
      const found = this.read<TContext>(address);
      if (found !== undefined) yield found;
    }
  }

  /** In the order of their keys. */
  *addresses(kind: string, { prefix = '', ...query }: Selection = {}): Iterable<string> {
    const begin = `${kind}/${prefix}`;
    let after = begin;
    for (;;) {
      const page = this.#store.query({ kind, ...query, after, limit: ROWS_AT_ONCE_MAX });
      for (const [address] of page.rows) {
        if (!address.startsWith(begin)) return;
        yield address;
      }
      if (page.cursor === undefined) return;
      after = page.cursor;
    }
  }

  #at(address: string): string {
    return address.includes('@') ? address : `${address}@${this.#place}`;
  }
}

const NOTHING: StoreReader = {
  load: () => undefined,
  entry: () => undefined,
  rows: () => [],
  query: () => ({ rows: [] }),
};

/**
 * Opens a directory to look at it only, also beside a process at work. One without data has no actors.
 *
 * @throws {RuntimeError} what opening a store throws
 */
export async function openStored(
  directory: string,
): Promise<{ readonly store: StoreReader; readonly close: () => Promise<void> }> {
  if (!existsSync(join(directory, 'data.mdb'))) return { store: NOTHING, close: async () => {} };
  const store = lmdbStore(directory, { isReadOnly: true });
  await store.open();
  return { store, close: () => store.close() };
}
