/**
 * Store of records.
 *
 * Guarantees of every store: a record is visible whole or not at all; a group
 * that was refused left nothing behind; a group with a fence below the highest
 * one its shard has seen is refused, also for records the newer holder never
 * touched; `settle` is called exactly once per group, in the order of the
 * groups, never inside `commit`, and without an error only when the group is
 * as durable as the store promises. Reads see the last settled group at least.
 *
 * A store knows addresses, text, rows beside it and index entries. It does not know machines.
 */

import { knob } from '../base/knob.ts';

export interface Store {
  /** True when a group is visible whole or not at all, not merely each of its records. */
  readonly isGroupAtomic: boolean;
  /**
   * Makes the store ready for the actors of `place`; again whenever a node begins to host, because
   * somebody else may have written meanwhile. Everything else comes after it.
   *
   * @throws {RuntimeError} the codes that begin with STORE_
   */
  open(place?: string): Promise<void>;
  /** The highest fence that a group of this shard was committed with; 0 before the first. */
  fence(shard: string): number;
  /** The record last committed for `address`. */
  load(address: string): string | undefined;
  /** The rows beside it, in no particular order. @throws {RuntimeError} RECORD_DAMAGED when one of them is. */
  rows(address: string): Iterable<StoredRow>;
  /** Every actor's index entry, in the order of their addresses. */
  entries(): Iterable<readonly [address: string, entry: IndexEntry]>;
  /** The index entry last committed for `address`; of a damaged record there is none. */
  entry(address: string): IndexEntry | undefined;
  /** Index entries that match, in the order of their addresses; of a query that names a queue, in the order of its ranks. */
  query(query: StoreQuery): StorePage;
  /** The last `limit` history rows of an actor, oldest first. */
  history(address: string, limit: number): readonly string[];
  /** Undelivered messages, oldest first. */
  undelivered(): Iterable<readonly [id: string, row: string]>;
  /** Records that cannot be trusted, and why: neither listed nor loaded nor overwritten. */
  damaged(): Iterable<readonly [address: string, reason: string]>;
  commit(group: Group, settle: Settle): void;
  /** Resolves when everything handed over is settled and the store is closed. */
  close(): Promise<void>;
}

/**
 * `refusal` is given when nothing of the group was written. With FENCE_STALE the shard has a newer
 * holder; with STORE_FAILED nobody knows what was written, and the store takes nothing any more.
 */
export type Settle = (refusal?: Error) => void;

/** Records written together, for speed only: nothing may rely on two of them being together. */
export interface Group {
  readonly shard: string;
  readonly fence: number;
  readonly writes: readonly ActorWrite[];
  /** Undelivered messages that somebody took off the list. */
  readonly dropUndelivered?: readonly string[];
}

/** Changes by one actor's turns: one value, visible whole or not at all. */
export interface ActorWrite {
  readonly address: string;
  /** The encoded record; null removes the actor, its rows, its history and its index entry. */
  readonly record: string | null;
  readonly entry: IndexEntry | null;
  /** Rows beside the record that are to be others; those not named stay as they are. */
  readonly rows?: RowChanges;
  /** True when the actor was removed and spawned again in this group: of its rows none stays. */
  readonly isAnew?: boolean;
  /** History rows to append; the store keeps the last `historyMax` of each actor. */
  readonly history: readonly string[];
  /** Undelivered messages to add, by id. */
  readonly undelivered?: ReadonlyArray<readonly [id: string, row: string]>;
}

/** Rank of a waiting actor: its queue, and its place there. */
export interface Rank {
  /** The queue's name. Queues whose names begin alike lie side by side. */
  readonly queue: string;
  /** Order of the queue, as text. Actors of the same order follow each other by address. */
  readonly order: string;
}

/** A part of what an actor keeps that is written alone: the text of one row of one of its tables. */
export type StoredRow = readonly [table: string, key: string, row: string];

/** Changed rows by table and key: the text of a row, null for one that is gone. */
export type RowChanges = ReadonlyMap<string, ReadonlyMap<string, string | null>>;

/** Fields that queries can see without reading records. */
export interface IndexEntry {
  /** The kind in the address. */
  readonly kind: string;
  readonly status: 'active' | 'done' | 'stopped';
  /** True while messages, effects or children of it are under way, so that a restart must wake it. */
  readonly isPending: boolean;
  /** The state value as text: `running`, or JSON for anything that is not one word. */
  readonly state: string;
  readonly tags: readonly string[];
  /** Moment when this actor's next timer is due. */
  readonly dueAt: number | null;
  /** Time when the actor took its last event. */
  readonly turnAt: number;
  /** Rank of the actor, while it stands in a queue. */
  readonly rank?: Rank;
}

/** Rows of its index that a store looks at for one page: a page may be short, or empty, and have a cursor. */
export const ROWS_LOOKED_AT = knob('storeRowsLookedAt', 20_000);

export interface StoreQuery {
  readonly kind?: string;
  readonly status?: IndexEntry['status'];
  readonly state?: string;
  readonly tag?: string;
  readonly dueBefore?: number;
  readonly turnBefore?: number;
  /**
   * Actors that stand in queues whose names begin so, in the order of queue, rank and address, at a
   * cost that does not depend on how many others wait. `after` is then a key of rank.ts.
   */
  readonly queue?: string;
  readonly limit: number;
  /** Rows to look at before the page ends, for stores that read them one by one. Default: as it likes. */
  readonly lookedAtMax?: number;
  /** The address after which to go on. */
  readonly after?: string;
}

/** True if an entry is what a query asks for, wherever its page begins. */
export function isAskedFor(entry: IndexEntry, query: StoreQuery): boolean {
  const { kind, status, state, tag, dueBefore, turnBefore } = query;
  if (kind !== undefined && entry.kind !== kind) return false;
  if (status !== undefined && entry.status !== status) return false;
  if (state !== undefined && entry.state !== state) return false;
  if (tag !== undefined && !entry.tags.includes(tag)) return false;
  if (dueBefore !== undefined && (entry.dueAt === null || entry.dueAt >= dueBefore)) return false;
  return turnBefore === undefined || entry.turnAt < turnBefore;
}

export interface StorePage {
  readonly rows: ReadonlyArray<readonly [address: string, entry: IndexEntry]>;
  /**
   * Give this as `after` for the next page; absent when there is none. A page may have fewer rows
   * than asked for, even none, and still a cursor: a store looks at a bounded number of actors.
   */
  readonly cursor?: string;
}
