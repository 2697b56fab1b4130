/**
 * The embedded store: LMDB files in one directory.
 *
 * Guarantees what every store does, and that a group is on disk before it is settled. Groups are
 * atomic. One process owns the directory from `open` to `close`. A store that is damaged, or was
 * written by a newer release, is refused and never guessed at. When the disk is full, groups are
 * refused until there is room again; when the disk fails, or the file is not there any more, the
 * store fails for good, because nobody knows what is on disk then.
 *
 * Reads come from memory that maps the file. One group is with LMDB at a time.
 */

import { messageOf, RuntimeError } from '../runtime/base/errors.ts';
import { knob } from '../runtime/base/knob.ts';
import type {
  Group,
  IndexEntry,
  Settle,
  Store,
  StoredRow,
  StorePage,
  StoreQuery,
} from '../runtime/ports/store.ts';
import { DirectoryLock } from './directory/lock.ts';
import { markBegun } from './lmdb/begun.ts';
import { checkRecords, readHeadRow } from './lmdb/check.ts';
import { Environment, damaged as storeDamaged } from './lmdb/environment.ts';
import type { Head } from './lmdb/head.ts';
import { Heads } from './lmdb/heads.ts';
import { readHistory } from './lmdb/history.ts';
import { entriesBut, queryRows } from './lmdb/query.ts';
import {
  checkedRow,
  damagedRecord,
  isSound,
  type RowHead,
  readEntry,
  readHead,
  readRecord,
} from './lmdb/row.ts';
import { readRows } from './lmdb/rows.ts';
import { numberKey } from './lmdb/undelivered.ts';
import { LmdbWriter } from './lmdb/writer.ts';

export interface LmdbStoreOptions {
  /** History rows kept of each actor, 65,535 at most; older ones are dropped. Default 100. */
  readonly historyMax?: number;
  /** Undelivered messages kept; beyond it the oldest are dropped. Default 10,000. */
  readonly undeliveredMax?: number;
  /** History kept as it was written, before older rows are gathered per actor. Default 64 MiB, about a tenth of it on disk. */
  readonly historyLogBytesMax?: number;
  /** Size of the data file beyond which groups are refused. Default 64 GiB. */
  readonly sizeBytesMax?: number;
  /** Refuse to open when a single record is damaged, instead of leaving that actor alone. Default false. */
  readonly isStrict?: boolean;
  /** Look only: also while another process owns the directory. Default false. */
  readonly isReadOnly?: boolean;
}

const DEFAULTS: Required<LmdbStoreOptions> = {
  historyMax: 100,
  undeliveredMax: 10_000,
  historyLogBytesMax: 64 * 1024 ** 2,
  sizeBytesMax: 64 * 1024 ** 3,
  isStrict: false,
  isReadOnly: false,
};

/** A part of history says how many rows it has in two bytes. */
const HISTORY_MAX = 65_535;

/** Nothing is touched before the store is opened; a runtime does that when it begins to host. @throws {RuntimeError} OPTION_INVALID */
export function lmdbStore(directory: string, options: LmdbStoreOptions = {}): Store {
  const resolved = { ...DEFAULTS, ...options };
  for (const [name, value] of Object.entries(resolved)) {
    const known = DEFAULTS[name as keyof LmdbStoreOptions];
    const max = name === 'historyMax' ? HISTORY_MAX : Number.MAX_SAFE_INTEGER;
    const isRight =
      typeof known !== 'number' ||
      (Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= max);
    if (known === undefined || typeof value !== typeof known || !isRight)
      throw new RuntimeError(
        'OPTION_INVALID',
        `lmdbStore does not know what to do with ${name}: ${value}.`,
      );
  }
  if (typeof directory !== 'string' || directory === '')
    throw new RuntimeError('OPTION_INVALID', 'lmdbStore needs the path of a directory.');
  return new LmdbStore(directory, resolved);
}

/** Everything that exists only while the store is open. */
interface Opened {
  readonly environment: Environment;
  readonly lock: DirectoryLock | undefined;
  readonly damaged: ReadonlyMap<string, string>;
  readonly writer: LmdbWriter;
  /** Entries that the check has read, for a node that begins to host: until something is written. */
  checked: ReadonlyArray<readonly [string, IndexEntry]> | undefined;
}

/** Entries remembered from the check; of more than these all are read again. */
const CHECKED_MAX = knob('lmdbEntriesCheckedMax', 250_000);

class LmdbStore implements Store {
  readonly isGroupAtomic = true;
  readonly #directory: string;
  readonly #options: Required<LmdbStoreOptions>;
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;

  constructor(directory: string, options: Required<LmdbStoreOptions>) {
    this.#directory = directory;
    this.#options = options;
  }

  async open(place?: string): Promise<void> {
    const isAgain = this.#opened !== undefined;
    this.#opening ??= this.#open();
    try {
      this.#opened = await this.#opening;
    } catch (thrown) {
      this.#opening = undefined;
      throw thrown;
    }
    const { writer } = this.#opened;
    if (isAgain) {
      await writer.drain();
      writer.refresh();
      this.#opened.checked = undefined;
    }
    if (place !== undefined) await writer.name(place);
  }

  fence(shard: string): number {
    return this.#files.writer.head.fences[shard] ?? 0;
  }

  load(address: string): string | undefined {
    const row = this.#row(address);
    return row === undefined ? undefined : readRecord(row, this.#files.environment.patterns);
  }

  rows(address: string): Iterable<StoredRow> {
    const { environment } = this.#files;
    return this.#read(() => [...readRows(environment, address)]);
  }

  entry(address: string): IndexEntry | undefined {
    const { records, patterns } = this.#files.environment;
    const row = this.#read(() => records.get(address));
    if (row === undefined || !isSound(address, row, patterns)) return undefined;
    return readEntry(address, row, patterns);
  }

  entries(): Iterable<readonly [string, IndexEntry]> {
    const files = this.#files;
    const { environment, damaged, checked } = files;
    files.checked = undefined;
    return checked ?? entriesBut(environment, damaged);
  }

  query(query: StoreQuery): StorePage {
    return this.#read(() => queryRows(this.#files.environment, query));
  }

  history(address: string, limit: number): readonly string[] {
    const { history, folded, patterns } = this.#files.environment;
    const row = this.#row(address);
    if (row === undefined) return [];
    const source = {
      chunk: (number: number) => history.get(numberKey(number)),
      folded: (of: string) => folded.get(of),
    };
    const rows = Math.min(limit, this.#options.historyMax);
    return this.#read(() => readHistory(source, address, readHead(row, patterns), rows));
  }

  undelivered(): Iterable<readonly [string, string]> {
    return this.#files.writer.undelivered.all();
  }

  damaged(): Iterable<readonly [string, string]> {
    return this.#files.damaged;
  }

  commit(group: Group, settle: Settle): void {
    const files = this.#files;
    if (group.writes.length > 0) files.checked = undefined;
    files.writer.commit(group, settle);
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => {});
    const opened = this.#opened;
    this.#opening = undefined;
    if (opened === undefined) return;
    await opened.writer.drain();
    this.#opened = undefined;
    await opened.environment.close();
    await opened.lock?.release();
  }

  async #open(): Promise<Opened> {
    const { isReadOnly, isStrict } = this.#options;
    const directory = this.#directory;
    let writer: LmdbWriter | undefined;
    const lost = (reason: string) => writer?.fail(reason);
    const lock = isReadOnly ? undefined : await DirectoryLock.acquire(directory, 'store', { lost });
    let environment: Environment | undefined;
    try {
      const { sizeBytesMax } = this.#options;
      environment = await Environment.open(directory, { isReadOnly, sizeBytesMax });
      const head = readHeadRow(environment, directory);
      const { damaged, problem, entries } = checkEntries(environment, head);
      if (problem !== undefined) throw storeDamaged(directory, problem);
      const [first] = damaged;
      if (isStrict && first !== undefined)
        throw storeDamaged(directory, `${damaged.size} records are, the first ${first.join(': ')}`);
      const open = environment;
      const heads = new Heads((address) => headAt(open, address));
      writer = new LmdbWriter(open, head, heads, { ...this.#options, directory });
      if (!isReadOnly) {
        await writer.begin();
        markBegun(directory);
      }
      const checked = isReadOnly ? undefined : entries;
      return { environment, lock, damaged, writer, checked };
    } catch (thrown) {
      await environment?.close();
      await lock?.release();
      throw environment === undefined ? thrown : unreadable(directory, thrown);
    }
  }

  /** @throws {RuntimeError} STORE_DAMAGED */
  #read<T>(read: () => T): T {
    try {
      return read();
    } catch (thrown) {
      // One broken page makes LMDB refuse every further read of the same transaction.
      this.#opened?.environment.root.resetReadTxn();
      throw unreadable(this.#directory, thrown);
    }
  }

  /** @throws {RuntimeError} STORE_CLOSED */
  get #files(): Opened {
    if (this.#opened !== undefined) return this.#opened;
    const what = `The store in ${this.#directory} is not open here: the runtime has stopped, or stands by while another process hosts.`;
    throw new RuntimeError('STORE_CLOSED', what);
  }

  /** @throws {RuntimeError} RECORD_DAMAGED, STORE_DAMAGED */
  #row(address: string): Buffer | undefined {
    const { environment, damaged } = this.#files;
    const row = this.#read(() => environment.records.get(address));
    if (row === undefined) return undefined;
    const reason = damaged.get(address);
    if (reason !== undefined) throw damagedRecord(address, reason);
    return checkedRow(address, row, environment.patterns);
  }
}

/**
 * Checks all entries. A function of its own, because what lives as long as the store would keep the
 * entries in memory beside it.
 */
function checkEntries(environment: Environment, head: Head) {
  const entries: Array<readonly [string, IndexEntry]> = [];
  const { damaged, problem } = checkRecords(environment, head, (address, row) => {
    if (entries.length <= CHECKED_MAX.value)
      entries.push([address, readEntry(address, row, environment.patterns)]);
  });
  if (entries.length > CHECKED_MAX.value) return { damaged, problem, entries: undefined };
  return { damaged, problem, entries: entries.filter(([address]) => !damaged.has(address)) };
}

/** Error that LMDB throws while it reads: its pages do not belong together. */
function unreadable(directory: string, thrown: unknown): unknown {
  return thrown instanceof RuntimeError ? thrown : storeDamaged(directory, messageOf(thrown));
}

/** A damaged row has no head that can be relied on: a commit that would overwrite it is stopped. */
function headAt(environment: Environment, address: string): RowHead | undefined {
  const { records, patterns } = environment;
  const row = records.get(address);
  return row === undefined ? undefined : readHead(checkedRow(address, row, patterns), patterns);
}
