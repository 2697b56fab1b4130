/**
 * Row of one actor in the LMDB store: its record, and in front of it everything that can be asked without
 * reading the record.
 *
 *   0  format    1  flags      2  length of the tags     4  length of the state
 *   8  commit   16  dueAt     24  turnAt    32  born (commit)
 *  40  chunk and 48 offset of its latest history rows    52  rows so far
 *  56  body: state, tags (JSON; behind them queue and order, where it stands in one), record; the last four bytes are
 *      the checksum of the address and of everything before them
 *
 * In a row of format 2 the body is packed by a pattern: 56 number of the pattern, 58 bytes of the body, 62 what it was
 * packed to.
 *
 * Guarantees: a row whose bytes changed, or that lies under another address, is not sound; nor is one whose
 * pattern is missing. The functions that read take sound rows. It knows bytes only; where rows lie and when they
 * are written is for others.
 */

import { crc32 } from 'node:zlib';
import { kindOf } from '../../runtime/base/address.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { knob } from '../../runtime/base/knob.ts';
import type { IndexEntry, Rank } from '../../runtime/ports/store.ts';
import type { Patterns } from './patterns.ts';
import type { ByteWriter, Slab } from './slab.ts';

/** Version of the form of everything in a data directory: 2 since rows may be packed. */
export const STORE_FORMAT = 2;

/** First byte of a row whose body stands there as it is, and of one whose body is packed. */
const PLAIN = 1;
const PACKED = 2;
const HEAD_BYTES = 56;
const PACKED_HEAD_BYTES = 62;
/** A longer body would hold up its commit. */
const PACKED_BODY_BYTES_MAX = knob('lmdbPackedBodyBytesMax', 64 * 1024);
const CHECKSUM_BYTES = 4;
const STATUSES = ['active', 'done', 'stopped'] as const;
const STATUS_BITS = 3;
const PENDING_BIT = 4;
const DUE_BIT = 8;
const RANK_BIT = 16;
const TAGS_BYTES_MAX = 0xffff;

/** Facts that the next write of an actor must know of the one before. Changed in place, once per write. */
export interface RowHead {
  /** The commit that began this life of the address. */
  born: number;
  /** Place of its latest history rows: a chunk and a place in it; chunk 0 when there are none. */
  chunk: number;
  offset: number;
  /** History rows written in this life. */
  rows: number;
  checksum: number;
  state: string;
  tags: readonly string[];
  rank: Rank | undefined;
}

/** Encodes a row at the slab's position and leaves it there; returns where it begins. Sets the head's checksum. */
export function writeRow(
  slab: Slab,
  patterns: Patterns,
  address: string,
  record: string,
  entry: IndexEntry,
  head: RowHead,
  commit: number,
): number {
  const { state, tags, dueAt, rank } = entry;
  const words = rank === undefined ? tags : [...tags, rank.queue, rank.order];
  const tagsText = words.length === 0 ? '' : tagsAsText(words);
  const textLength = state.length + tagsText.length + record.length;
  const whole = slab.reserve(address.length + HEAD_BYTES + CHECKSUM_BYTES + 3 * textLength);
  const { buffer } = slab;
  // The address comes first, so that one checksum covers it too; the row begins behind it.
  const start = whole + buffer.latin1Write(address, whole);
  let end = start + HEAD_BYTES;
  const stateBytes = buffer.utf8Write(state, end);
  end += stateBytes;
  const tagsBytes = tagsText === '' ? 0 : buffer.utf8Write(tagsText, end);
  end += tagsBytes;
  end += buffer.utf8Write(record, end);
  let flags = STATUSES.indexOf(entry.status);
  if (entry.isPending) flags |= PENDING_BIT;
  if (dueAt !== null) flags |= DUE_BIT;
  if (rank !== undefined && tagsText !== '') flags |= RANK_BIT;
  buffer[start] = PLAIN;
  buffer[start + 1] = flags;
  buffer.writeUInt16LE(tagsBytes, start + 2);
  buffer.writeUInt32LE(stateBytes, start + 4);
  buffer.writeDoubleLE(commit, start + 8);
  buffer.writeDoubleLE(dueAt ?? 0, start + 16);
  buffer.writeDoubleLE(entry.turnAt, start + 24);
  buffer.writeDoubleLE(head.born, start + 32);
  buffer.writeDoubleLE(head.chunk, start + 40);
  buffer.writeUInt32LE(head.offset, start + 48);
  buffer.writeUInt32LE(head.rows, start + 52);
  end = packBody(buffer, patterns, kindOf(address), start, end);
  head.checksum = crc32(buffer.subarray(whole, end));
  buffer.writeUInt32LE(head.checksum, end);
  slab.position = end + CHECKSUM_BYTES;
  return start;
}

/** Packs the body of a row where that makes it shorter; returns where it ends. */
function packBody(
  buffer: ByteWriter,
  patterns: Patterns,
  kind: string,
  start: number,
  end: number,
): number {
  const length = end - start - HEAD_BYTES;
  if (length > PACKED_BODY_BYTES_MAX.value) return end;
  // It is packed to where it stands, from a copy: that is shorter, or is given up.
  const body = patterns.copyOf(buffer, start + HEAD_BYTES, length);
  const number = patterns.current(kind);
  const packedStart = start + PACKED_HEAD_BYTES;
  const packedEnd =
    number === 0 ? -1 : (patterns.get(number)?.pack(body, length, buffer, packedStart, end) ?? -1);
  patterns.learn(kind, body, length, packedEnd === -1 ? length : packedEnd - packedStart);
  if (packedEnd === -1) {
    body.copy(buffer, start + HEAD_BYTES, 0, length);
    return end;
  }
  buffer[start] = PACKED;
  buffer.writeUInt16LE(number, start + HEAD_BYTES);
  buffer.writeUInt32LE(length, start + HEAD_BYTES + 2);
  return packedEnd;
}

/** The checksum written in a row, sound or not; undefined when it is too short to have one. */
export function checksumIn(row: Buffer): number | undefined {
  return row.length < HEAD_BYTES + CHECKSUM_BYTES
    ? undefined
    : row.readUInt32LE(row.length - CHECKSUM_BYTES);
}

/** The checksum a row should have, going by its bytes and the checksum of its address. */
export function checksumOf(ofAddress: number, row: Buffer): number {
  return crc32(row.subarray(0, Math.max(0, row.length - CHECKSUM_BYTES)), ofAddress);
}

/** True when the bytes are what was written for this address, and can be read. */
export function isSound(address: string, row: Buffer, patterns: Patterns): boolean {
  return (
    checksumIn(row) === checksumOf(crc32(address), row) && faultOf(row, patterns) === undefined
  );
}

/** What is wrong with a row whose checksum is right; undefined where nothing is. */
export function faultOf(row: Buffer, patterns: Patterns): string | undefined {
  if (row[0] === PLAIN) return undefined;
  if (row[0] !== PACKED) return `its row has format ${row[0]}`;
  const isThere = patterns.get(row.readUInt16LE(HEAD_BYTES)) !== undefined;
  return isThere ? undefined : 'the pattern that it was packed by is damaged';
}

/** The row, when it is what was written. @throws {RuntimeError} RECORD_DAMAGED */
export function checkedRow(address: string, row: Buffer, patterns: Patterns): Buffer {
  if (isSound(address, row, patterns)) return row;
  throw damagedRecord(
    address,
    checksumIn(row) === checksumOf(crc32(address), row)
      ? (faultOf(row, patterns) as string)
      : 'its checksum is wrong',
  );
}

export function damagedRecord(address: string, reason: string): RuntimeError {
  const what = `The record of ${address} is damaged: ${reason}. Its actor is left alone; restore a copy of the store to get it back.`;
  return new RuntimeError('RECORD_DAMAGED', what, { address });
}

export function readHead(row: Buffer, patterns: Patterns): RowHead {
  return {
    born: row.readDoubleLE(32),
    chunk: row.readDoubleLE(40),
    offset: row.readUInt32LE(48),
    rows: row.readUInt32LE(52),
    checksum: row.readUInt32LE(row.length - CHECKSUM_BYTES),
    ...wordsIn(row, patterns),
  };
}

export function readEntry(address: string, row: Buffer, patterns: Patterns): IndexEntry {
  const flags = row[1] as number;
  const { state, tags, rank } = wordsIn(row, patterns);
  return {
    kind: kindOf(address),
    status: STATUSES[flags & STATUS_BITS] as IndexEntry['status'],
    isPending: (flags & PENDING_BIT) !== 0,
    state,
    tags,
    dueAt: (flags & DUE_BIT) === 0 ? null : row.readDoubleLE(16),
    turnAt: row.readDoubleLE(24),
    ...(rank !== undefined && { rank }),
  };
}

export function readRecord(row: Buffer, patterns: Patterns): string {
  const bytes = bytesOfBody(row);
  return bodyOf(row, patterns, bytes).toString('utf8', bytesOfWords(row), bytes);
}

function wordsIn(row: Buffer, patterns: Patterns): Pick<RowHead, 'state' | 'tags' | 'rank'> {
  const stateBytes = row.readUInt32LE(4);
  const wordsBytes = bytesOfWords(row);
  const body = bodyOf(row, patterns, wordsBytes);
  const state = body.toString('utf8', 0, stateBytes);
  if (wordsBytes === stateBytes) return { state, tags: NO_TAGS, rank: undefined };
  const words = JSON.parse(body.toString('utf8', stateBytes, wordsBytes)) as string[];
  if (((row[1] as number) & RANK_BIT) === 0) return { state, tags: words, rank: undefined };
  const [queue, order] = words.slice(-2) as [string, string];
  return { state, tags: words.slice(0, -2), rank: { queue, order } };
}

/** Bytes of state and tags, with which a body begins. */
function bytesOfWords(row: Buffer): number {
  return row.readUInt32LE(4) + row.readUInt16LE(2);
}

function bytesOfBody(row: Buffer): number {
  return row[0] === PLAIN
    ? row.length - HEAD_BYTES - CHECKSUM_BYTES
    : row.readUInt32LE(HEAD_BYTES + 2);
}

/** At least the first `wanted` bytes of a body; valid until the next is read. */
function bodyOf(row: Buffer, patterns: Patterns, wanted: number): Buffer {
  if (row[0] === PLAIN) return row.subarray(HEAD_BYTES);
  const body = patterns.room(bytesOfBody(row));
  const pattern = patterns.get(row.readUInt16LE(HEAD_BYTES));
  const end = row.length - CHECKSUM_BYTES;
  if (pattern?.unpack(row, PACKED_HEAD_BYTES, end, body, wanted) === true) return body;
  throw new RuntimeError('STORE_DAMAGED', 'A row does not fit the pattern that it was packed by.');
}

/** Tags that pass what a row can say of their length are not indexed: they are in the machine, not in the data. */
function tagsAsText(tags: readonly string[]): string {
  const text = JSON.stringify(tags);
  return Buffer.byteLength(text) <= TAGS_BYTES_MAX ? text : '';
}

const NO_TAGS: readonly string[] = [];
