/**
 * Memory store: it keeps everything in memory, for tests, for the simulator, and for actors that
 * may die with their process.
 *
 * Guarantees what every store does, for as long as the process lives: records are
 * kept as the text that was committed, so what comes back has been through JSON like
 * on disk. Groups are atomic. `settle` is called in a microtask. It does not survive
 * its process; another runtime in the same process can take it over.
 */

import { isSameRank, rankKey } from '../runtime/actor.ts';
import { RuntimeError } from '../runtime/base/errors.ts';
import { fenceExhausted, isFence } from '../runtime/base/fence.ts';
import type {
  ActorWrite,
  Group,
  IndexEntry,
  Rank,
  RowChanges,
  Settle,
  Store,
  StoredRow,
  StorePage,
  StoreQuery,
} from '../runtime/ports/store.ts';
import { isAskedFor, ROWS_LOOKED_AT } from '../runtime/ports/store.ts';

export interface MemoryStoreOptions {
  /** History rows kept of each actor; older ones are dropped. Default 100. */
  readonly historyMax?: number;
  /** Undelivered messages kept; beyond it the oldest are dropped. Default 10,000. */
  readonly undeliveredMax?: number;
}

interface Row {
  readonly address: string;
  record: string;
  /** Rows by table and key. */
  tables: Map<string, Map<string, string>> | undefined;
  entry: IndexEntry;
  /** A ring once it is full: `historyStart` is the oldest row. */
  readonly history: string[];
  historyStart: number;
}

export function memoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options.historyMax ?? 100, options.undeliveredMax ?? 10_000);
}

class MemoryStore implements Store {
  readonly isGroupAtomic = true;
  readonly #historyMax: number;
  readonly #undeliveredMax: number;
  readonly #rows = new Map<string, Row>();
  /** Rows by kind, then by state: what queries narrow down by. */
  readonly #index = new Map<string, Map<string, Set<Row>>>();
  readonly #queues = new RankedRows();
  readonly #undelivered = new Map<string, string>();
  readonly #fences = new Map<string, number>();

  constructor(historyMax: number, undeliveredMax: number) {
    this.#historyMax = historyMax;
    this.#undeliveredMax = undeliveredMax;
  }

  async open(): Promise<void> {}

  fence(shard: string): number {
    return this.#fences.get(shard) ?? 0;
  }

  load(address: string): string | undefined {
    return this.#rows.get(address)?.record;
  }

  *rows(address: string): Iterable<StoredRow> {
    for (const [table, rows] of this.#rows.get(address)?.tables ?? [])
      for (const [key, text] of rows) yield [table, key, text];
  }

  entry(address: string): IndexEntry | undefined {
    return this.#rows.get(address)?.entry;
  }

  *entries(): Iterable<readonly [string, IndexEntry]> {
    for (const address of [...this.#rows.keys()].sort()) {
      const row = this.#rows.get(address);
      if (row !== undefined) yield [address, row.entry];
    }
  }

  query(query: StoreQuery): StorePage {
    if (query.queue !== undefined) return this.#queues.page(query.queue, query);
    const found: Row[] = [];
    for (const [kind, states] of this.#index) {
      if (query.kind !== undefined && query.kind !== kind) continue;
      for (const [state, rows] of states) {
        if (query.state !== undefined && query.state !== state) continue;
        for (const row of rows) if (matches(row, query)) found.push(row);
      }
    }
    found.sort((a, b) => (a.address < b.address ? -1 : 1));
    // It could look at all; a reader of pages is not to rely on it.
    const limit = Math.min(query.limit, ROWS_LOOKED_AT.value);
    const rows = found.slice(0, limit).map(({ address, entry }) => [address, entry] as const);
    const last = rows.at(-1);
    return found.length > limit && last !== undefined ? { rows, cursor: last[0] } : { rows };
  }

  history(address: string, limit: number): readonly string[] {
    const row = this.#rows.get(address);
    if (row === undefined) return [];
    const inOrder = [
      ...row.history.slice(row.historyStart),
      ...row.history.slice(0, row.historyStart),
    ];
    return inOrder.slice(Math.max(0, inOrder.length - limit));
  }

  undelivered(): Iterable<readonly [string, string]> {
    return [...this.#undelivered];
  }

  damaged(): Iterable<readonly [string, string]> {
    return [];
  }

  commit(group: Group, settle: Settle): void {
    const known = this.fence(group.shard);
    if (!isFence(group.fence)) {
      queueMicrotask(() => settle(fenceExhausted(group.fence)));
      return;
    }
    if (group.fence < known) {
      const what = `Shard "${group.shard}" has a newer holder (fence ${known}); this one has fence ${group.fence}.`;
      queueMicrotask(() => settle(new RuntimeError('FENCE_STALE', what)));
      return;
    }
    this.#fences.set(group.shard, group.fence);
    for (const write of group.writes) this.#write(write);
    for (const id of group.dropUndelivered ?? []) this.#undelivered.delete(id);
    queueMicrotask(settle);
  }

  async close(): Promise<void> {}

  #write({ address, record, entry, rows, isAnew, history, undelivered }: ActorWrite): void {
    for (const [id, row] of undelivered ?? []) this.#undelivered.set(id, row);
    while (this.#undelivered.size > this.#undeliveredMax) {
      for (const [oldest] of this.#undelivered) {
        this.#undelivered.delete(oldest);
        break;
      }
    }
    let row = this.#rows.get(address);
    if (record === null || entry === null) {
      if (row === undefined) return;
      this.#rows.delete(address);
      this.#unindex(row);
      this.#queues.move(row, undefined);
      return;
    }
    if (row === undefined) {
      row = { address, record, tables: undefined, entry, history: [], historyStart: 0 };
      this.#rows.set(address, row);
      this.#stateRows(entry).add(row);
      this.#queues.move(row, entry.rank, true);
    } else {
      row.record = record;
      if (entry.state !== row.entry.state || entry.kind !== row.entry.kind) {
        this.#unindex(row);
        this.#stateRows(entry).add(row);
      }
      this.#queues.move(row, entry.rank);
      row.entry = entry;
    }
    if (isAnew === true) row.tables = undefined;
    if (rows !== undefined) row.tables = withChanges(row.tables, rows);
    for (const text of history) this.#append(row, text);
  }

  #append(row: Row, text: string): void {
    if (row.history.length < this.#historyMax) {
      row.history.push(text);
      return;
    }
    row.history[row.historyStart] = text;
    row.historyStart = (row.historyStart + 1) % this.#historyMax;
  }

  #stateRows({ kind, state }: IndexEntry): Set<Row> {
    const states = this.#index.get(kind) ?? new Map<string, Set<Row>>();
    this.#index.set(kind, states);
    const rows = states.get(state) ?? new Set<Row>();
    states.set(state, rows);
    return rows;
  }

  #unindex(row: Row): void {
    const states = this.#index.get(row.entry.kind);
    const rows = states?.get(row.entry.state);
    rows?.delete(row);
    if (rows?.size === 0) states?.delete(row.entry.state);
  }
}

function withChanges(tables: Row['tables'], changes: RowChanges): Row['tables'] {
  const changed = tables ?? new Map<string, Map<string, string>>();
  for (const [name, rows] of changes) {
    const table = changed.get(name) ?? new Map<string, string>();
    for (const [key, text] of rows) {
      if (text === null) table.delete(key);
      else table.set(key, text);
    }
    if (table.size === 0) changed.delete(name);
    else changed.set(name, table);
  }
  return changed.size === 0 ? undefined : changed;
}

/** The rows that stand in queues, in the order of their keys. */
class RankedRows {
  readonly #keys: string[] = [];
  readonly #rows: Row[] = [];

  /** `rank` is where the row stands from now on; its entry still says where it stood, unless it is new. */
  move(row: Row, rank: Rank | undefined, isNew = false): void {
    const before = isNew ? undefined : row.entry.rank;
    if (isSameRank(before, rank)) return;
    if (before !== undefined) {
      const at = this.#find(rankKey(before, row.address));
      this.#keys.splice(at, 1);
      this.#rows.splice(at, 1);
    }
    if (rank === undefined) return;
    const key = rankKey(rank, row.address);
    const at = this.#find(key);
    this.#keys.splice(at, 0, key);
    this.#rows.splice(at, 0, row);
  }

  page(queue: string, query: StoreQuery): StorePage {
    const { after, limit, ...filters } = query;
    const rows: Array<readonly [string, IndexEntry]> = [];
    let at = this.#find(queue);
    if (after !== undefined) at = Math.max(at, this.#find(`${after}\u0000`));
    for (; this.#keys[at]?.startsWith(queue); at += 1) {
      if (rows.length === limit) return { rows, cursor: this.#keys[at - 1] as string };
      const row = this.#rows[at] as Row;
      if (matches(row, { ...filters, limit })) rows.push([row.address, row.entry]);
    }
    return { rows };
  }

  /** Index of the first key that is not below this one. */
  #find(key: string): number {
    let from = 0;
    let to = this.#keys.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#keys[middle] as string) < key) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

function matches({ address, entry }: Row, query: StoreQuery): boolean {
  return (query.after === undefined || address > query.after) && isAskedFor(entry, query);
}
