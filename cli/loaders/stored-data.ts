/**
 * Stored data as the `data` commands need it, whatever store is in the directory.
 *
 * An adapter opens the directory for one purpose and is closed after it. It reads as a
 * stream; nothing here needs more memory than one actor, but for lists of what is wrong.
 */

import type { IndexEntry, StoredRow } from '../../runtime/ports/store.ts';

/**
 * `look` reads beside a living owner and refuses what is damaged as a whole. `verify` reads
 * whatever is there. `compact` needs the directory for itself: STORE_LOCKED otherwise.
 */
export type Purpose = 'look' | 'verify' | 'compact';

/** @throws {RuntimeError} STORE_MISSING, STORE_LOCKED and whatever else opening a store throws. */
export type OpenStoredData = (directory: string, purpose: Purpose) => Promise<StoredData>;

export interface StoredData {
  info(): DataInfo;
  /** In the order of the addresses. */
  actors(): Iterable<StoredActor>;
  /** History rows of an actor as JSON texts, oldest first. */
  history(address: string): readonly string[];
  /** Undelivered messages as JSON texts, oldest first. */
  undelivered(): Iterable<readonly [id: string, row: string]>;
  /** Every checksum, the digest of the commit counter, the index against the records. */
  verify(onRecord: (records: number) => void): Verification;
  compact(): Promise<Compaction>;
  close(): Promise<void>;
}

export interface DataInfo {
  readonly format: number;
  /** Milliseconds since the epoch; null where it is not known. */
  readonly createdAt: number | null;
  /** The highest fence of each shard. */
  readonly fences: Readonly<Record<string, number>>;
  readonly records: readonly KindCount[];
  readonly historyRows: number;
  readonly undelivered: number;
  readonly fileBytes: number;
  readonly freePages: number;
  /** The process that has the directory open for writing; null when there is none. */
  readonly owner: DataOwner | null;
}

export interface KindCount {
  readonly kind: string;
  readonly status: IndexEntry['status'];
  readonly count: number;
}

export interface DataOwner {
  readonly pid: number;
  readonly node: string | null;
}

export interface StoredActor {
  readonly address: string;
  readonly entry: IndexEntry;
  /** The record's text. @throws {RuntimeError} RECORD_DAMAGED */
  record(): string;
  /** The rows of its tables, which lie beside it. @throws {RuntimeError} RECORD_DAMAGED */
  rows(): Iterable<StoredRow>;
}

export interface Verification {
  readonly records: number;
  readonly problems: readonly DataProblem[];
}

export interface DataProblem {
  /** Null where it concerns the directory as a whole. */
  readonly address: string | null;
  readonly problem: string;
}

export interface Compaction {
  readonly beforeBytes: number;
  readonly afterBytes: number;
}
