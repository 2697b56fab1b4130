/**
 * Dead letters, or undelivered messages, in the LMDB store: a list in the order they came, with a
 * bound.
 *
 * The ids are remembered, the rows are not. Keys count up, so the oldest is first.
 */

import { crc32 } from 'node:zlib';
import type { NumberedTable } from './environment.ts';

const CHECKSUM_BYTES = 4;

export class UndeliveredList {
  readonly #keys = new Map<string, number>();
  readonly #rows: NumberedTable;
  #next = 1;

  constructor(rows: NumberedTable) {
    this.#rows = rows;
    for (const { key, value } of rows.getRange({})) {
      const number = numberOf(key);
      this.#next = number + 1;
      const row = decode(value);
      if (row !== undefined) this.#keys.set(row[0], number);
    }
  }

  get size(): number {
    return this.#keys.size;
  }

  *all(): Iterable<readonly [string, string]> {
    for (const { value } of this.#rows.getRange({})) {
      const row = decode(value);
      if (row !== undefined) yield row;
    }
  }

  /** The key of a row to write; one that is there already keeps its place. */
  add(id: string): Buffer {
    const known = this.#keys.get(id);
    if (known !== undefined) return numberKey(known);
    const number = this.#next;
    this.#next += 1;
    this.#keys.set(id, number);
    return numberKey(number);
  }

  /** The key of a row to remove, if there is one. */
  take(id: string): Buffer | undefined {
    const number = this.#keys.get(id);
    if (number === undefined) return undefined;
    this.#keys.delete(id);
    return numberKey(number);
  }

  /** The keys of the oldest rows beyond the bound. */
  *overflow(max: number): Iterable<Buffer> {
    for (const [id, number] of this.#keys) {
      if (this.#keys.size <= max) return;
      this.#keys.delete(id);
      yield numberKey(number);
    }
  }
}

export function encodeUndelivered(id: string, row: string): Buffer {
  const text = Buffer.from(JSON.stringify([id, row]));
  const bytes = Buffer.allocUnsafe(CHECKSUM_BYTES + text.length);
  bytes.writeUInt32LE(crc32(text), 0);
  text.copy(bytes, CHECKSUM_BYTES);
  return bytes;
}

export function isSoundUndelivered(bytes: Buffer): boolean {
  return (
    bytes.length >= CHECKSUM_BYTES &&
    bytes.readUInt32LE(0) === crc32(bytes.subarray(CHECKSUM_BYTES))
  );
}

/** Undefined when the bytes are not what was written. */
function decode(bytes: Buffer): readonly [id: string, row: string] | undefined {
  if (!isSoundUndelivered(bytes)) return undefined;
  return JSON.parse(bytes.toString('utf8', CHECKSUM_BYTES)) as [string, string];
}

/** Keys that lie in the order of their numbers. */
export function numberKey(number: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  key.writeBigUInt64BE(BigInt(number));
  return key;
}

export function numberOf(key: Buffer): number {
  return Number(key.readBigUInt64BE(0));
}
