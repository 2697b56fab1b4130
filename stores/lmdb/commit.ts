/**
 * Commit of one group, as LMDB gets it: every row encoded, every index key known, before the first
 * write.
 *
 * Nothing that can fail is left for the moment of writing, because LMDB does not undo what was
 * written before something threw. The result takes effect in `heads` and in the list of undelivered
 * messages at once; when the commit is refused the store forgets both and reads them again.
 */

import { crc32 } from 'node:zlib';
import type { Database } from 'lmdb';
import { knob } from '../../runtime/base/knob.ts';
import type { ActorWrite, Group, IndexEntry, RowChanges } from '../../runtime/ports/store.ts';
import { HEAD_KEY } from './check.ts';
import type { Environment } from './environment.ts';
import { addToSum, encodeHead, type Head, takeFromSum } from './head.ts';
import type { Heads } from './heads.ts';
import { ChunkWriter, fold, type HistoryPart, partsOf } from './history.ts';
import { indexKeys, isIndexedAlike } from './query.ts';
import { type RowHead, STORE_FORMAT, writeRow } from './row.ts';
import { encodeRow, rowChecksum, rowKey, rowRange } from './rows.ts';
import { Slab } from './slab.ts';
import { encodeUndelivered, numberKey, numberOf, type UndeliveredList } from './undelivered.ts';

export interface CommitLimits {
  readonly historyMax: number;
  readonly undeliveredMax: number;
  /** Bytes of history that are kept as a log before the oldest are folded. */
  readonly historyLogBytesMax: number;
}

/** Index keys have no value, and LMDB wants one. */
const MARK = Buffer.from([1]);
/** Folded beyond what the commit adds, so that a log over its bound shrinks. */
const FOLD_BYTES_MORE = knob('lmdbFoldBytesMore', 64 * 1024);
/** LMDB's binding writes this part of a buffer, which saves a view for every row. */
type Part = Buffer & { start: number; end: number };

type Changes = { -readonly [field in keyof Head]: Head[field] };

export class CommitEncoder {
  readonly #environment: Environment;
  readonly #heads: Heads;
  readonly #undelivered: UndeliveredList;
  readonly #limits: CommitLimits;
  readonly #slab = new Slab();
  readonly #chunk = new ChunkWriter();
  /** Rows of the commit: the address, the buffer that has the row, and from where to where. */
  #addresses: string[] = [];
  #buffers: Part[] = [];
  #bounds: number[] = [];
  /** All other writes of it. */
  #others: Array<(commits: number) => unknown> = [];

  constructor(
    environment: Environment,
    heads: Heads,
    undelivered: UndeliveredList,
    limits: CommitLimits,
  ) {
    this.#environment = environment;
    this.#heads = heads;
    this.#undelivered = undelivered;
    this.#limits = limits;
  }

  /** Encodes the group; the commit before must be settled. Returns the head as it is afterwards. */
  encode(group: Group, head: Head): Head {
    const { undelivered } = this.#environment;
    this.#begin();
    const next: Changes = { ...head, format: STORE_FORMAT, commits: head.commits + 1 };
    if (head.fences[group.shard] !== group.fence)
      next.fences = { ...head.fences, [group.shard]: group.fence };
    for (const write of group.writes) {
      if (write.record === null || write.entry === null) this.#remove(write.address, next);
      else {
        this.#write(write, write.record, write.entry, next);
        this.#writeRows(write, next);
      }
      for (const [id, row] of write.undelivered ?? [])
        this.#put(undelivered, this.#undelivered.add(id), encodeUndelivered(id, row));
    }
    for (const key of this.#undelivered.overflow(this.#limits.undeliveredMax))
      this.#drop(undelivered, key);
    for (const id of group.dropUndelivered ?? []) {
      const key = this.#undelivered.take(id);
      if (key !== undefined) this.#drop(undelivered, key);
    }
    this.#writeChunk(next);
    for (const [key, pattern] of this.#environment.patterns.takeNew())
      this.#put(this.#environment.patternRows, key, pattern);
    const row = encodeHead(next);
    this.#others.push((commits) => this.#environment.head.put(HEAD_KEY, row, commits));
    return next;
  }

  /** Hands everything to LMDB, inside of a conditional batch. The promises of single writes say nothing: the batch's says it all. */
  apply(commits: number): void {
    const { records } = this.#environment;
    for (let index = 0; index < this.#addresses.length; index += 1) {
      const buffer = this.#buffers[index] as Part;
      buffer.start = this.#bounds[2 * index] as number;
      buffer.end = this.#bounds[2 * index + 1] as number;
      void records.put(this.#addresses[index] as string, buffer);
    }
    for (const write of this.#others) void write(commits);
  }

  #begin(): void {
    this.#heads.age();
    this.#slab.reset();
    this.#chunk.reset();
    this.#addresses = [];
    this.#buffers = [];
    this.#bounds = [];
    this.#others = [];
  }

  #put<TKey extends string | Buffer>(table: Database<Buffer, TKey>, key: TKey, row: Buffer): void {
    this.#others.push(() => table.put(key, row));
  }

  #drop<TKey extends string | Buffer>(table: Database<Buffer, TKey>, key: TKey): void {
    this.#others.push(() => table.remove(key));
  }

  #write({ address, history }: ActorWrite, record: string, entry: IndexEntry, next: Changes): void {
    const { commits } = next;
    let head = this.#heads.get(address);
    if (head === undefined) {
      const { state, tags, rank } = entry;
      head = { born: commits, chunk: 0, offset: 0, rows: 0, checksum: 0, state, tags, rank };
      this.#heads.set(address, head);
      this.#addToIndex(address, entry);
      next.records += 1;
      next.addresses = addToSum(next.addresses, crc32(address));
    } else {
      next.sum = takeFromSum(next.sum, head.checksum);
      if (!isIndexedAlike(head, entry)) {
        this.#takeFromIndex(address, head);
        this.#addToIndex(address, entry);
        head.state = entry.state;
        head.tags = entry.tags;
        head.rank = entry.rank;
      }
    }
    if (history.length > 0) this.#append(address, head, history, commits);
    const slab = this.#slab;
    const { patterns } = this.#environment;
    const start = writeRow(slab, patterns, address, record, entry, head, commits);
    this.#addresses.push(address);
    this.#buffers.push(slab.buffer as unknown as Part);
    this.#bounds.push(start, slab.position);
    next.sum = addToSum(next.sum, head.checksum);
  }

  /** The commit before is settled, so the rows that are to be others are there. */
  #writeRows({ address, rows, isAnew }: ActorWrite, next: Changes): void {
    if (isAnew === true) this.#removeRows(address, next, rows);
    for (const [table, changes] of rows ?? []) {
      for (const [key, text] of changes) {
        const at = rowKey(address, table, key);
        const before = this.#environment.rows.get(at);
        if (before !== undefined) this.#uncount(before, next);
        if (text !== null) {
          const row = encodeRow(at, [table, key, text]);
          next.rows += 1;
          next.rowsSum = addToSum(next.rowsSum, rowChecksum(row));
          this.#put(this.#environment.rows, at, row);
        } else if (before !== undefined) this.#drop(this.#environment.rows, at);
      }
    }
  }

  #uncount(row: Buffer, next: Changes): void {
    next.rows -= 1;
    next.rowsSum = takeFromSum(next.rowsSum, rowChecksum(row));
  }

  /** All of an actor but those that are written again. */
  #removeRows(address: string, next: Changes, but: RowChanges = new Map()): void {
    const written = new Set<string>();
    for (const [table, rows] of but)
      for (const key of rows.keys()) written.add(rowKey(address, table, key));
    for (const { key, value } of this.#environment.rows.getRange(rowRange(address))) {
      if (written.has(key)) continue;
      this.#uncount(value, next);
      this.#drop(this.#environment.rows, key);
    }
  }

  #append(address: string, head: RowHead, history: readonly string[], commits: number): void {
    const { historyMax } = this.#limits;
    const kept = history.length > historyMax ? history.slice(-historyMax) : history;
    head.rows += history.length;
    head.offset = this.#chunk.add(address, head, head.rows - kept.length + 1, kept);
    head.chunk = commits;
  }

  #remove(address: string, next: Changes): void {
    const head = this.#heads.get(address);
    if (head === undefined) return;
    this.#drop(this.#environment.records, address);
    this.#drop(this.#environment.folded, address);
    this.#removeRows(address, next);
    this.#takeFromIndex(address, head);
    this.#heads.set(address, null);
    next.records -= 1;
    next.addresses = takeFromSum(next.addresses, crc32(address));
    next.sum = takeFromSum(next.sum, head.checksum);
  }

  #addToIndex(address: string, entry: IndexEntry): void {
    for (const key of indexKeys(address, entry)) this.#put(this.#environment.index, key, MARK);
  }

  #takeFromIndex(address: string, head: RowHead): void {
    for (const key of indexKeys(address, head)) this.#drop(this.#environment.index, key);
  }

  #writeChunk(next: Changes): void {
    let bytesAdded = 0;
    if (!this.#chunk.isEmpty) {
      const chunk = this.#chunk.finish();
      bytesAdded = chunk.length;
      this.#put(this.#environment.history, numberKey(next.commits), chunk);
      next.historyBytes += bytesAdded;
    }
    if (next.historyBytes > this.#limits.historyLogBytesMax)
      this.#foldOldest(next, 2 * bytesAdded + FOLD_BYTES_MORE.value);
  }

  /** Moves what is still wanted of the oldest chunks to one row per actor. */
  #foldOldest(next: Changes, bytesMax: number): void {
    const { history, folded } = this.#environment;
    const changed = new Map<string, Buffer>();
    let bytes = 0;
    for (const { key, value } of history.getRange({ start: numberKey(next.oldestChunk) })) {
      if (bytes >= bytesMax || next.historyBytes <= this.#limits.historyLogBytesMax) break;
      bytes += value.length;
      next.historyBytes -= value.length;
      next.oldestChunk = numberOf(key) + 1;
      this.#drop(history, key);
      for (const part of partsOf(value)) {
        if (!this.#isWanted(part)) continue;
        const { address } = part;
        const before = changed.get(address) ?? folded.get(address);
        changed.set(address, fold(before, part, this.#limits.historyMax).bytes);
      }
    }
    for (const [address, row] of changed) this.#put(folded, address, row);
  }

  /** False when the actor is gone, or has enough later rows. */
  #isWanted({ address, born, firstRow, rows }: HistoryPart): boolean {
    const head = this.#heads.get(address);
    if (head === undefined || head.born !== born) return false;
    return firstRow + rows.length - 1 > head.rows - this.#limits.historyMax;
  }
}
