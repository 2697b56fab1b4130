/**
 * Writer: hands groups to LMDB, one at a time, and reports the outcome of each.
 *
 * Guarantees: a group is settled without an error only when it is on disk; a refused group
 * changed nothing, here or there; after a failure that leaves open what is on disk, everything
 * is refused with STORE_FAILED. A group goes through only over the head it was computed from.
 */

import { messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import { fenceExhausted, isFence } from '../../runtime/base/fence.ts';
import type { Group, Settle } from '../../runtime/ports/store.ts';
import { HEAD_KEY, readHeadRow } from './check.ts';
import { CommitEncoder, type CommitLimits } from './commit.ts';
import type { Environment } from './environment.ts';
import { encodeHead, type Head } from './head.ts';
import type { Heads } from './heads.ts';
import { STORE_FORMAT } from './row.ts';
import { UndeliveredList } from './undelivered.ts';

export interface WriterOptions extends CommitLimits {
  readonly directory: string;
  readonly sizeBytesMax: number;
}

/** Errors that mean no room now: nothing was written, and there may be room later. */
const NO_ROOM =
  /ENOSPC|EDQUOT|ENOMEM|EMFILE|ENFILE|EROFS|MDB_MAP_FULL|MDB_TXN_FULL|No space left|quota exceeded|Cannot allocate memory|Too many open files|Read-only file system|mapsize limit/i;

const PAGES_BYTES_PER_WRITE = 8 * 1024;

const CUT_SHORT = /Input\/output error/i;

/**
 * Codes with which LMDB itself gives a transaction up, before anything of it counts: not found, bad transaction,
 * bad size, problem. The binding (3.5.6) does so when its list of free pages does not fit together; the next
 * transaction reads that list again.
 */
const GIVEN_UP: ReadonlySet<unknown> = new Set([-30_798, -30_782, -30_781, -30_779]);

export class LmdbWriter {
  head: Head;
  undelivered: UndeliveredList;
  readonly #environment: Environment;
  readonly #heads: Heads;
  readonly #options: WriterOptions;
  #encoder: CommitEncoder;
  #failure: RuntimeError | undefined;
  readonly #waiting: Array<readonly [Group, Settle]> = [];
  #isWriting = false;
  #drained: Array<() => void> = [];

  constructor(environment: Environment, head: Head, heads: Heads, options: WriterOptions) {
    this.#environment = environment;
    this.head = head;
    this.#heads = heads;
    this.#options = options;
    this.undelivered = new UndeliveredList(environment.undelivered);
    this.#encoder = this.#newEncoder();
  }

  /** Gives a new store its head. */
  async begin(): Promise<void> {
    if (this.head.commits > 0) return;
    await this.#putHead(this.head);
  }

  /** Says whose actors these are, once and for all. @throws {RuntimeError} STORE_FOREIGN */
  async name(place: string): Promise<void> {
    await this.drain();
    const { head } = this;
    if (head.place === place) return;
    if (head.place !== null) {
      const what = `The store in ${this.#options.directory} belongs to "${head.place}", and this node hosts "${place}". Give each place a directory of its own.`;
      throw new RuntimeError('STORE_FOREIGN', what);
    }
    const next = { ...head, format: STORE_FORMAT, place, commits: head.commits + 1 };
    await this.#putHead(next);
    this.head = next;
  }

  /** @throws {RuntimeError} STORE_UNWRITABLE */
  async #putHead(head: Head): Promise<void> {
    if (!this.#environment.hasRoom()) throw new RuntimeError('STORE_UNWRITABLE', this.#noRoom());
    try {
      await this.#environment.head.put(HEAD_KEY, encodeHead(head), head.commits);
    } catch (thrown) {
      const cause = await causeOf(thrown);
      const what = `${this.#options.directory} cannot be written: ${messageOf(cause)}`;
      throw new RuntimeError('STORE_UNWRITABLE', what, { cause });
    }
  }

  commit(group: Group, settle: Settle): void {
    this.#waiting.push([group, settle]);
    if (!this.#isWriting) this.#writeNext();
  }

  /** Resolves when everything handed over is settled. */
  async drain(): Promise<void> {
    if (!this.#isWriting) return;
    await new Promise<void>((resolve) => {
      this.#drained.push(resolve);
    });
  }

  /** Reads again what is remembered of the files. */
  refresh(): void {
    this.#heads.clear();
    this.#environment.patterns.refresh();
    this.head = readHeadRow(this.#environment, this.#options.directory);
    this.undelivered = new UndeliveredList(this.#environment.undelivered);
    this.#encoder = this.#newEncoder();
  }

  #newEncoder(): CommitEncoder {
    return new CommitEncoder(this.#environment, this.#heads, this.undelivered, this.#options);
  }

  #writeNext(): void {
    const next = this.#waiting.shift();
    this.#isWriting = next !== undefined;
    if (next === undefined) {
      const drained = this.#drained;
      this.#drained = [];
      for (const resolve of drained) resolve();
      return;
    }
    const [group, settle] = next;
    const settled = (refusal?: Error): void => {
      try {
        settle(refusal);
      } finally {
        this.#writeNext();
      }
    };
    const refusal = this.#refusalOf(group);
    if (refusal !== undefined) queueMicrotask(() => settled(refusal));
    else void this.#write(group).then(settled);
  }

  /** Error of a group that is not even tried. */
  #refusalOf(group: Group): Error | undefined {
    if (this.#failure !== undefined) return this.#failure;
    const known = this.head.fences[group.shard] ?? 0;
    if (!isFence(group.fence)) return fenceExhausted(group.fence);
    if (group.fence < known) return staleFence(group, known);
    try {
      const sizeBytes = this.#environment.sizeBytes();
      const { sizeBytesMax } = this.#options;
      if (sizeBytes >= sizeBytesMax) {
        const what = `The data file has ${sizeBytes} bytes (sizeBytesMax ${sizeBytesMax}). Raise the limit, or let actors end and compact the store.`;
        return new RuntimeError('COMMIT_REFUSED', what);
      }
      if (this.#environment.hasRoom(bytesOf(group))) return undefined;
      return new RuntimeError('COMMIT_REFUSED', this.#noRoom());
    } catch (thrown) {
      return this.fail(thrown);
    }
  }

  #noRoom(): string {
    return `There is no room on the disk of ${this.#options.directory}.`;
  }

  /** Returns the refusal, if there is one; never rejects. */
  async #write(group: Group): Promise<Error | undefined> {
    const { head } = this;
    let next: Head;
    try {
      next = this.#encoder.encode(group, head);
    } catch (thrown) {
      // Nothing was written yet, but it was taken down as if it were.
      return this.#forgotten(thrown as Error);
    }
    try {
      const isWritten = await this.#environment.head.ifVersion(HEAD_KEY, head.commits, () =>
        this.#encoder.apply(next.commits),
      );
      if (isWritten) {
        this.head = next;
        return undefined;
      }
      this.refresh();
      return staleFence(group, this.head.fences[group.shard] ?? 0);
    } catch (thrown) {
      return await this.#refused(thrown);
    }
  }

  /** The refusal, once nothing is remembered of what was refused. */
  #forgotten(refusal: Error): Error {
    try {
      this.refresh();
      return refusal;
    } catch (thrown) {
      return this.fail(thrown);
    }
  }

  async #refused(thrown: unknown): Promise<Error> {
    const reason = await causeOf(thrown);
    try {
      const { commits } = this.head;
      this.refresh();
      const hasPassed = GIVEN_UP.has(codeOf(reason)) || this.#isForRoom(messageOf(reason));
      if (this.head.commits === commits && hasPassed)
        return new RuntimeError('COMMIT_REFUSED', messageOf(reason), { cause: reason });
    } catch (again) {
      return this.fail(again);
    }
    return this.fail(reason);
  }

  /**
   * True if the disk is full: on a file system that fills up a write is cut short, and LMDB takes that
   * for an error of the disk.
   */
  #isForRoom(reason: string): boolean {
    return NO_ROOM.test(reason) || (CUT_SHORT.test(reason) && !this.#environment.hasRoom());
  }

  /** Takes nothing any more. */
  fail(reason: unknown): RuntimeError {
    const what = `The store in ${this.#options.directory} has failed: ${messageOf(reason)} Nobody knows what of the last commit is on disk. End this process and start it again; it goes on from what is.`;
    this.#failure =
      reason instanceof RuntimeError && reason.code === 'STORE_FAILED'
        ? reason
        : new RuntimeError('STORE_FAILED', what, { cause: reason });
    return this.#failure;
  }
}

/**
 * Room that a group may need: the pages a row and its index keys lie in are written again. It is asked for
 * before, because the binding (3.5.6) writes beyond a buffer of its own when a page cannot be written, and
 * that may end the process.
 */
function bytesOf({ writes }: Group): number {
  let bytes = 0;
  for (const { record, rows } of writes) {
    bytes += PAGES_BYTES_PER_WRITE + 2 * (record?.length ?? 0);
    for (const changes of rows?.values() ?? [])
      for (const row of changes.values()) bytes += PAGES_BYTES_PER_WRITE + 2 * (row?.length ?? 0);
  }
  return bytes;
}

/** LMDB rejects with a general error and tells the reason through a promise on it. */
async function causeOf(thrown: unknown): Promise<unknown> {
  const { commitError } = (thrown ?? {}) as { commitError?: Promise<never> };
  if (commitError === undefined) return thrown;
  try {
    return await commitError;
  } catch (reason) {
    return reason;
  }
}

function codeOf(thrown: unknown): unknown {
  return (thrown as { readonly code?: unknown } | undefined)?.code;
}

function staleFence(group: Group, known: number): RuntimeError {
  const what =
    group.fence < known
      ? `Shard "${group.shard}" has a newer holder (fence ${known}); this one has fence ${group.fence}.`
      : `Another process has written into the store of shard "${group.shard}".`;
  return new RuntimeError('FENCE_STALE', what);
}
