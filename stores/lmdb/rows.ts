/**
 * Rows of tables in the LMDB store: parts of what an actor keeps, beside its record.
 *
 *   key   the address, then table and key of the row, each behind a zero; by a hash where it is long or unusual
 *   row   0 checksum of the key and of everything behind   4 format   5 length of the table's name
 *         7 length of the key   11 table, key, text
 *
 * Guarantees: a row whose bytes changed, or that lies under another key, is not sound. The head holds the
 * number of rows and the sum of their checksums, so that a row that is missing, or older than it should be,
 * is seen when the store is opened. The record says which rows belong to it.
 */

import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { StoredRow } from '../../runtime/ports/store.ts';
import { type Environment, FIRST_KEY } from './environment.ts';
import { addToSum, type Head } from './head.ts';
import { damagedRecord } from './row.ts';

/** Form of the rows of tables. */
const ROW_FORMAT = 1;
const HEAD_BYTES = 11;
const SEPARATOR = '\u0000';
/** The first that comes behind the separator. */
const BEHIND = '\u0001';
const WRONG_ROW = 'the checksum of one of its rows is wrong';
const PLAIN_NAME = /^(?!#)[ -~]{0,64}$/;

export function rowKey(address: string, table: string, key: string): string {
  return address + SEPARATOR + shortened(table) + SEPARATOR + shortened(key);
}

/** Range of all rows of an actor. */
export function rowRange(address: string): { readonly start: string; readonly end: string } {
  return { start: address + SEPARATOR, end: address + BEHIND };
}

export function encodeRow(rowKey: string, [table, key, text]: StoredRow): Buffer {
  const [tableBytes, keyBytes] = [Buffer.byteLength(table), Buffer.byteLength(key)];
  const start = HEAD_BYTES + tableBytes + keyBytes;
  const bytes = Buffer.allocUnsafe(start + Buffer.byteLength(text));
  bytes[4] = ROW_FORMAT;
  bytes.writeUInt16LE(tableBytes, 5);
  bytes.writeUInt32LE(keyBytes, 7);
  bytes.write(table, HEAD_BYTES);
  bytes.write(key, HEAD_BYTES + tableBytes);
  bytes.write(text, start);
  bytes.writeUInt32LE(checksumOf(rowKey, bytes), 0);
  return bytes;
}

/** Checksum that stands in the row; 0 for a row that is too short to have one. */
export function rowChecksum(bytes: Buffer): number {
  return bytes.length < HEAD_BYTES ? 0 : bytes.readUInt32LE(0);
}

/** @throws {RuntimeError} RECORD_DAMAGED */
export function* readRows(environment: Environment, address: string): Iterable<StoredRow> {
  for (const { key, value } of environment.rows.getRange(rowRange(address))) {
    if (!isSoundRow(key, value)) throw damagedRecord(address, WRONG_ROW);
    yield rowIn(value);
  }
}

/** Reads every row once. Adds the addresses of damaged ones; returns what is wrong where rows are missing or old. */
export function checkRows(
  { rows, records }: Environment,
  head: Head,
  damaged: Map<string, string>,
): string | undefined {
  let count = 0;
  let sum = 0;
  let repaired = 0;
  let strays = 0;
  let owner = '';
  for (const { key, value } of rows.getRange({ start: FIRST_KEY })) {
    const address = key.slice(0, key.indexOf(SEPARATOR));
    count += 1;
    sum = addToSum(sum, rowChecksum(value));
    repaired = addToSum(repaired, checksumOf(key, value));
    if (address !== owner && !records.doesExist(address)) strays += 1;
    else owner = address;
    if (!isSoundRow(key, value)) damaged.set(address, WRONG_ROW);
  }
  const when = `after commit ${head.commits}`;
  if (count !== head.rows)
    return `${when} there were ${head.rows} rows of tables, and now there are ${count}`;
  if (strays > 0) return `${strays} of ${count} rows of tables have no record`;
  if (sum === head.rowsSum || repaired === head.rowsSum) return undefined;
  return `at least one of ${count} rows of tables is not the one last written by commit ${head.commits}`;
}

function isSoundRow(key: string, bytes: Buffer): boolean {
  return (
    bytes.length >= HEAD_BYTES &&
    bytes[4] === ROW_FORMAT &&
    rowChecksum(bytes) === checksumOf(key, bytes)
  );
}

function checksumOf(key: string, bytes: Buffer): number {
  return crc32(bytes.subarray(4), crc32(key));
}

function rowIn(bytes: Buffer): StoredRow {
  const keyAt = HEAD_BYTES + bytes.readUInt16LE(5);
  const textAt = keyAt + bytes.readUInt32LE(7);
  return [
    bytes.toString('utf8', HEAD_BYTES, keyAt),
    bytes.toString('utf8', keyAt, textAt),
    bytes.toString('utf8', textAt),
  ];
}

function shortened(name: string): string {
  if (PLAIN_NAME.test(name)) return name;
  return `#${createHash('sha256').update(name).digest('base64url')}`;
}
