/**
 * Environment: the files of an LMDB store, opened, checked, and watched while they are open.
 *
 * Guarantees: nothing is opened for writing that another process owns, that is not ours to
 * write, or that a newer release has written; a file that was cut off or whose first pages do
 * not belong together is refused before anything of it is believed. It does not look at rows.
 */

import {
  closeSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs';
import { platform } from 'node:os';
import { dirname, join } from 'node:path';
import type { Database, RootDatabase } from 'lmdb';
import { messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import { FILE_MODE, syncEntriesNow } from '../durable-files.ts';
import { checkBegun } from './begun.ts';
import { freePagesOf } from './free-pages.ts';
import { Patterns } from './patterns.ts';
import type { ByteWriter } from './slab.ts';

/** Keys are ASCII, so their bytes lie in the order of the texts. */
export type Table = Database<Buffer, string>;
/** Keys that count up. */
export type NumberedTable = Database<Buffer, Buffer>;

/** Bytes of the file's first two pages in which LMDB says what counts; it writes them in turn. */
const META_BYTES = 160;
const MAGIC_AT = 24;
const MAGIC = 0xbeefc0de;
const LAST_PAGE_AT = 144;
const TRANSACTION_AT = 152;
const ROOT_AT = 136;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;

/** Key at which ranges of texts begin: the binding's own beginning is not a text. */
export const FIRST_KEY = '\u0001';

const TEXT_KEYS = {
  writeKey: (key: string, target: ByteWriter, start: number): number =>
    start + target.latin1Write(key, start),
  readKey: (source: ByteWriter, start: number, end: number): string =>
    source.latin1Slice(start, end),
};

/**
 * Free pages, read in each transaction: a list kept by the binding (3.5.6) may not fit the file, and then it refuses
 * commits or aborts. Among more than these it is cheaper to write to the end of the file.
 */
export const FREE_PAGES = { maxFreeSpaceToRetain: 0, maxFreeSpaceToLoad: 4_000 };

export interface EnvironmentOptions {
  readonly isReadOnly: boolean;
  /** The file is mapped for this size at once: otherwise it would be mapped again and again as it grows. */
  readonly sizeBytesMax?: number;
}

export class Environment {
  readonly root: RootDatabase<Buffer, Buffer>;
  /** One row: the head. Versioned, because every commit is conditional on it. */
  readonly head: Table;
  readonly records: Table;
  /** Rows of tables, beside the records. */
  readonly rows: Table;
  /** No values: states and tags, each followed by an address. */
  readonly index: Table;
  readonly history: NumberedTable;
  readonly folded: Table;
  readonly undelivered: NumberedTable;
  /** Texts that records are packed by, in a table of their own. */
  readonly patterns: Patterns;
  readonly patternRows: NumberedTable;
  readonly #path: string;
  readonly #file: Stats;
  #closed: Promise<void> | undefined;

  private constructor(root: RootDatabase<Buffer, Buffer>, path: string) {
    const table = (name: string, useVersions = false): Table =>
      root.openDB<Buffer, string>({
        name,
        useVersions,
        encoding: 'binary',
        ...({ keyEncoder: TEXT_KEYS } as object),
      });
    const numbered = (name: string, options: { compression?: object } = {}): NumberedTable =>
      root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary', ...options });
    this.root = root;
    this.head = table('head', true);
    this.records = table('records');
    // A reader of a store of a former release finds none.
    this.rows = (table('rows') as Table | undefined) ?? ABSENT;
    this.index = table('index');
    // Rows of history are alike: a chunk shrinks to a tenth, on another thread.
    this.history = numbered('history', { compression: { threshold: 1_024 } });
    this.folded = table('folded');
    this.undelivered = numbered('undelivered');
    this.patternRows = (numbered('patterns') as NumberedTable | undefined) ?? ABSENT;
    this.patterns = new Patterns(this.patternRows);
    this.#path = path;
    this.#file = statSync(path);
  }

  /** @throws {RuntimeError} STORE_MISSING, STORE_DAMAGED, STORE_UNWRITABLE, STORE_UNAVAILABLE */
  static async open(directory: string, options: EnvironmentOptions): Promise<Environment> {
    const { isReadOnly, sizeBytesMax } = options;
    const path = dataFile(directory);
    const isThere = checkFile(path, isReadOnly);
    if (!isThere && isReadOnly)
      throw new RuntimeError('STORE_MISSING', `There is no store in ${directory}.`);
    if (isThere) checkMeta(path);
    else checkBegun(directory);
    const { open } = await loadLmdb();
    try {
      const root = open<Buffer, Buffer>({
        path: directory,
        // Otherwise a directory with a dot in its name would be taken for a file.
        noSubdir: false,
        readOnly: isReadOnly,
        // A commit is on disk before it is reported.
        overlappingSync: false,
        eventTurnBatching: false,
        // Writing begins while a group is handed over, not at the next turn of the event loop.
        ...({ batchStartThreshold: 16, txnStartThreshold: 1 } as object),
        ...(FREE_PAGES as object),
        ...({ permissionsMode: FILE_MODE } as object),
        // On Windows the file would have that size from the start.
        ...(sizeBytesMax !== undefined && platform() !== 'win32' && { mapSize: sizeBytesMax }),
        maxDbs: 8,
        encoding: 'binary',
        keyEncoding: 'binary',
      });
      // Also where it was there already: who made it may have died before it came to this.
      if (!isReadOnly) syncEntriesNow(directory);
      return new Environment(root, path);
    } catch (thrown) {
      throw openError(directory, thrown);
    }
  }

  /** The size of the file. @throws {RuntimeError} STORE_FAILED when it is not the file that was opened. */
  sizeBytes(): number {
    const now = statSync(this.#path, { throwIfNoEntry: false });
    if (now?.ino === this.#file.ino && now.dev === this.#file.dev) return now.size;
    const what = `${this.#path} was ${now === undefined ? 'deleted' : 'replaced'} while it was open. What is committed from now on would be lost, so nothing is.`;
    throw new RuntimeError('STORE_FAILED', what);
  }

  /** False when the file system is full, or so nearly that a group of `bytes` might not fit. */
  hasRoom(bytes = 0): boolean {
    const { bavail, bsize } = statfsSync(dirname(this.#path));
    return bavail * bsize >= ROOM_BYTES_MIN + bytes;
  }

  /** Transactions that were committed to the file since it was made. */
  transactions(): number {
    return (this.root.getStats() as { lastTxnId: number }).lastTxnId;
  }

  /** Pages of the file that hold nothing now. */
  freePages(): number {
    const { root, records, rows, index, history, folded, undelivered, patternRows, head } = this;
    const tables = [records, rows, index, history, folded, undelivered, patternRows, head];
    return freePagesOf(statSync(this.#path).size, root, tables);
  }

  /** Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.root.close();
    return this.#closed;
  }
}

const ABSENT = {
  get: () => undefined,
  getRange: () => [],
  getStats: () => ({ treeBranchPageCount: 0, treeLeafPageCount: 0, overflowPages: 0 }),
} as unknown as Table & NumberedTable;

const ROOM_BYTES_MIN = 1024 ** 2;

export function dataFile(directory: string): string {
  return join(directory, 'data.mdb');
}

/** The binding is native code: loaded only where somebody opens such a store. */
async function loadLmdb(): Promise<typeof import('lmdb')> {
  try {
    return await import('lmdb');
  } catch (cause) {
    const what = `The LMDB binding could not be loaded: ${messageOf(cause)} Install with optional packages (npm ci without --omit=optional), or use another store.`;
    throw new RuntimeError('STORE_UNAVAILABLE', what, { cause });
  }
}

/** True when there is a file already. */
function checkFile(path: string, isReadOnly: boolean): boolean {
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (file === undefined) return false;
  if (!file.isFile())
    throw new RuntimeError('STORE_UNWRITABLE', `${path} is a link or not a file; a store's is.`);
  try {
    closeSync(openSync(path, isReadOnly ? 'r' : 'r+'));
  } catch (cause) {
    const what = `${path} cannot be opened: ${messageOf(cause)} Run as the user that owns it.`;
    throw new RuntimeError('STORE_UNWRITABLE', what, { cause });
  }
  return true;
}

/**
 * LMDB starts from the newer of two meta pages and has no checksum for either. A damaged one
 * could make it start from an older state, or read behind the end of the file, which kills the
 * process; so they are looked at first. The owner may be writing one of them meanwhile: then
 * the next look finds them whole.
 */
function checkMeta(path: string): void {
  let wrong: string | undefined;
  for (let look = 0; look < 3; look += 1) {
    wrong = metaFault(path);
    if (wrong === undefined) return;
  }
  throw damaged(path, wrong as string);
}

function metaFault(path: string): string | undefined {
  const file = openSync(path, 'r');
  try {
    const size = statSync(path).size;
    const pageBytes = pageBytesOf(file);
    if (pageBytes === undefined) return 'it does not begin as a store does';
    const metas = [0, 1].map((page) => {
      const bytes = Buffer.alloc(META_BYTES);
      readSync(file, bytes, 0, META_BYTES, page * pageBytes);
      return {
        isMeta: bytes.readUInt32LE(MAGIC_AT) === MAGIC,
        lastPage: bytes.readBigUInt64LE(LAST_PAGE_AT),
        transaction: bytes.readBigUInt64LE(TRANSACTION_AT),
        isEmpty: bytes.readBigUInt64LE(ROOT_AT) === NO_PAGE,
      };
    });
    if (metas.some(({ isMeta }) => !isMeta)) return 'it does not begin as a store does';
    const [even, odd] = metas.map(({ transaction }) => transaction) as [bigint, bigint];
    const isPair = even % 2n === 0n && odd % 2n === 1n && (even - odd === 1n || odd - even === 1n);
    // A new file, or a compact copy: its first page has not had its turn yet.
    const isNew = even === 0n && metas[0]?.isEmpty === true;
    if (!isPair && !isNew) return 'its two meta pages do not belong together';
    const newest = even > odd ? metas[0] : metas[1];
    const needed = (Number((newest as { lastPage: bigint }).lastPage) + 1) * pageBytes;
    if (size < needed) return `it was cut off: ${size} bytes of ${needed}`;
    return undefined;
  } finally {
    closeSync(file);
  }
}

/** The page size is where the second meta page begins. */
function pageBytesOf(file: number): number | undefined {
  const bytes = Buffer.alloc(4);
  for (const pageBytes of [4_096, 8_192, 16_384, 32_768, 65_536]) {
    const read = readSync(file, bytes, 0, 4, pageBytes + MAGIC_AT);
    if (read === 4 && bytes.readUInt32LE(0) === MAGIC) return pageBytes;
  }
  return undefined;
}

export function damaged(what: string, reason: string): RuntimeError {
  return new RuntimeError(
    'STORE_DAMAGED',
    `${what} is damaged: ${reason}. Nothing of it is served. Look at it with "escapement data verify", and restore a copy.`,
  );
}

function openError(directory: string, cause: unknown): RuntimeError {
  const reason = messageOf(cause);
  if (/MDB_(INVALID|CORRUPTED|VERSION_MISMATCH|PAGE_NOTFOUND)/.test(reason))
    return damaged(directory, reason);
  return new RuntimeError('STORE_UNWRITABLE', `${directory} cannot be opened: ${reason}`, {
    cause,
  });
}
