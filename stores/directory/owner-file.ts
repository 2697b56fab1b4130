/**
 * Owner file, `owner.json`: the owner of a directory, written for other processes and for people.
 *
 * Guarantees: a reader finds a whole record or none; `create` succeeds for one contender only;
 * `replace` only while the file is still what it was judged by. A beat is written into the owner's
 * own file and never over that of another, even if something happens between the check and the
 * write. Its beats are not durable, only visible: they matter to processes that live now. A beat
 * opens nothing: a process that has no descriptor left goes on beating.
 */

import {
  type BigIntStats,
  fstatSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FILE_MODE, syncEntries } from '../durable-files.ts';
import type { ProcessIdentity } from './process-identity.ts';

const OWNER_FILE = 'owner.json';
const DRAFT_PREFIX = 'owner.';
const DRAFT_SUFFIX = '.tmp';
const FORMAT = 1;
/** Digits of the beat counter: its place in the file is written over, so its width is fixed. */
const BEAT_DIGITS = 12;
/** A longer lease time in a file is taken for nonsense: it would make everybody wait. */
export const LEASE_MS_MAX = 3_600_000;

/** Far more than a record takes. */
const TEXT_BYTES_MAX = 64 * 1024;

/** The last moment that a calendar has. */
const TIME_MAX = 8_640_000_000_000_000;

export interface OwnerRecord extends ProcessIdentity {
  /** Id of this one ownership; the next one of the same process has another. */
  readonly id: string;
  readonly node?: string | undefined;
  /** Time that the owner may be silent; it beats three times as often. */
  readonly leaseMs: number;
  /** Time by the owner's own clock, for people to read. */
  readonly since: number;
}

export interface OwnerSighting {
  /** Another text means another owner, or another beat of the same. */
  readonly mark: string;
  /** Undefined when the file is not one of ours, or of a later format. */
  readonly record: OwnerRecord | undefined;
}

/** Undefined when there is no owner file. @throws the file system's error when it cannot be read. */
export function readOwner(directory: string): OwnerSighting | undefined {
  const mark = readText(join(directory, OWNER_FILE));
  return mark === undefined ? undefined : { mark, record: parseOwner(mark) };
}

export class OwnerFile {
  readonly #path: string;
  readonly #id: string;
  readonly #handle: FileHandle;
  readonly #beatAt: number;
  #beats = 0;

  /** Creates the file; undefined when one is there already. */
  static create(directory: string, record: OwnerRecord): Promise<OwnerFile | undefined> {
    return OwnerFile.#write(directory, record, async (from, to) => {
      try {
        await link(from, to);
      } catch (thrown) {
        if (['EEXIST', 'ENOENT'].includes((thrown as NodeJS.ErrnoException).code ?? ''))
          return false;
        // Some file systems have no hard links; there the check comes a moment before the write.
        if (readText(to) !== undefined) return false;
        await rename(from, to);
      }
      return true;
    });
  }

  /** Takes the place of the file that was last seen as `mark`. Nothing when it has changed. */
  static replace(
    directory: string,
    record: OwnerRecord,
    mark: string,
  ): Promise<OwnerFile | undefined> {
    return OwnerFile.#write(directory, record, async (from, to) => {
      if (readText(to) !== mark) return false;
      try {
        await rename(from, to);
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false;
        throw thrown;
      }
      return true;
    });
  }

  static async #write(
    directory: string,
    record: OwnerRecord,
    publish: (from: string, to: string) => Promise<boolean>,
  ): Promise<OwnerFile | undefined> {
    const path = join(directory, OWNER_FILE);
    const draft = join(directory, `${DRAFT_PREFIX}${record.id}${DRAFT_SUFFIX}`);
    const text = formatOwner(record);
    const handle = await open(draft, 'wx+', FILE_MODE);
    try {
      await handle.writeFile(text);
      await handle.sync();
      if (await publish(draft, path)) {
        await syncEntries(directory);
        return new OwnerFile(path, record.id, handle, text.indexOf('"beat": "') + 9);
      }
    } catch (thrown) {
      await handle.close();
      throw thrown;
    } finally {
      await rm(draft, { force: true });
    }
    await handle.close();
    return undefined;
  }

  private constructor(path: string, id: string, handle: FileHandle, beatAt: number) {
    this.#path = path;
    this.#id = id;
    this.#handle = handle;
    this.#beatAt = beatAt;
  }

  /** Removes what contenders left that died while they wrote. One that still lives tries again. */
  sweep(): void {
    const directory = dirname(this.#path);
    for (const name of readdirSync(directory)) {
      if (!name.startsWith(DRAFT_PREFIX) || !name.endsWith(DRAFT_SUFFIX)) continue;
      rmSync(join(directory, name), { force: true });
    }
  }

  /** Shows that the owner lives. False when the file is gone or another's. @throws when it cannot be read or written. */
  beat(): boolean {
    if (!this.#isOurs()) return false;
    this.#beats += 1;
    writeSync(this.#handle.fd, beatText(this.#beats), this.#beatAt);
    return true;
  }

  /** Leaves the file to its present owner. */
  abandon(): void {
    // Only the descriptor is at stake, and nothing could be done about it.
    this.#handle.close().catch(() => {});
  }

  /** Removes the file if it is still ours. */
  remove(): void {
    try {
      if (this.#isOurs()) rmSync(this.#path, { force: true });
    } catch {
      // The file that stays behind names a process that has no socket: the next owner finds that
      // out.
    }
    this.abandon();
  }

  /** Compares the name of the file and the content of the file that is held open, without opening either. */
  #isOurs(): boolean {
    const named = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    if (named === undefined || !isSameFile(named, fstatSync(this.#handle.fd, { bigint: true })))
      return false;
    const bytes = Buffer.alloc(Math.min(Number(named.size), TEXT_BYTES_MAX));
    const size = readSync(this.#handle.fd, bytes, 0, bytes.length, 0);
    return parseOwner(bytes.toString('utf8', 0, size))?.id === this.#id;
  }
}

function isSameFile(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

function beatText(beats: number): string {
  return String(beats).padStart(BEAT_DIGITS, '0');
}

function formatOwner(record: OwnerRecord): string {
  return `${JSON.stringify({ format: FORMAT, beat: beatText(0), ...record }, null, 2)}\n`;
}

function parseOwner(text: string): OwnerRecord | undefined {
  let value: Partial<Record<keyof OwnerRecord | 'format', unknown>> | null;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || value.format !== FORMAT) return undefined;
  const { id, pid, host, leaseMs, since } = value;
  if (typeof id !== 'string' || typeof host !== 'string') return undefined;
  if (!isPositiveInteger(since) || since > TIME_MAX) return undefined;
  // A pid that is not above 0 would mean a group of processes to a caller that signals it.
  if (!isPositiveInteger(pid) || !isPositiveInteger(leaseMs) || leaseMs > LEASE_MS_MAX) {
    return undefined;
  }
  return {
    id,
    pid,
    host,
    leaseMs,
    since,
    node: textOrNothing(value.node),
    startTicks: textOrNothing(value.startTicks),
    bootId: textOrNothing(value.bootId),
    pidNamespace: textOrNothing(value.pidNamespace),
    netNamespace: textOrNothing(value.netNamespace),
  };
}

function isPositiveInteger(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
