/**
 * Row of one actor in the LMDB store: its record, and in front of it everything that can be asked without
 * reading the record.
 *
 *   0  format    1  flags      2  length of the tags     4  length of the state
 *   8  commit   16  dueAt     24  turnAt    32  born (commit)
 *  40  chunk and 48 offset of its latest history rows    52  rows so far
 *  56  state, tags (JSON; behind them queue and order, where it stands in one), record; the last four bytes are the checksum of the address and of
 *      everything before them
 *
 * Guarantees: a row whose bytes changed, or that lies under another address, is not sound.
 * The functions that read take sound rows. It knows bytes only; where rows lie and when they
 * are written is for others.
 */

import { crc32 } from 'node:zlib';
import { kindOf } from '../../runtime/base/address.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { IndexEntry, Rank } from '../../runtime/ports/store.ts';
import type { Slab } from './slab.ts';

/** Version of the form of everything in a data directory. */
export const STORE_FORMAT = 1;

const HEAD_BYTES = 56;
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
  buffer[start] = STORE_FORMAT;
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
  head.checksum = crc32(buffer.subarray(whole, end));
  buffer.writeUInt32LE(head.checksum, end);
  slab.position = end + CHECKSUM_BYTES;
  return start;
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

/** True when the bytes are what was written for this address. */
export function isSound(address: string, row: Buffer): boolean {
  return checksumIn(row) === checksumOf(crc32(address), row) && row[0] === STORE_FORMAT;
}

/** The row, when it is what was written. @throws {RuntimeError} RECORD_DAMAGED */
export function checkedRow(address: string, row: Buffer): Buffer {
  if (isSound(address, row)) return row;
  throw damagedRecord(address, 'its checksum is wrong');
}

export function damagedRecord(address: string, reason: string): RuntimeError {
  const what = `The record of ${address} is damaged: ${reason}. Its actor is left alone; restore a copy of the store to get it back.`;
  return new RuntimeError('RECORD_DAMAGED', what, { address });
}

export function readHead(row: Buffer): RowHead {
  return {
    born: row.readDoubleLE(32),
    chunk: row.readDoubleLE(40),
    offset: row.readUInt32LE(48),
    rows: row.readUInt32LE(52),
    checksum: row.readUInt32LE(row.length - CHECKSUM_BYTES),
    state: stateIn(row),
    ...wordsIn(row),
  };
}

export function readEntry(address: string, row: Buffer): IndexEntry {
  const flags = row[1] as number;
  const { tags, rank } = wordsIn(row);
  return {
    kind: kindOf(address),
    status: STATUSES[flags & STATUS_BITS] as IndexEntry['status'],
    isPending: (flags & PENDING_BIT) !== 0,
    state: stateIn(row),
    tags,
    dueAt: (flags & DUE_BIT) === 0 ? null : row.readDoubleLE(16),
    turnAt: row.readDoubleLE(24),
    ...(rank !== undefined && { rank }),
  };
}

export function readRecord(row: Buffer): string {
  const start = HEAD_BYTES + row.readUInt32LE(4) + row.readUInt16LE(2);
  return row.toString('utf8', start, row.length - CHECKSUM_BYTES);
}

function stateIn(row: Buffer): string {
  return row.toString('utf8', HEAD_BYTES, HEAD_BYTES + row.readUInt32LE(4));
}

function wordsIn(row: Buffer): { tags: readonly string[]; rank: Rank | undefined } {
  const words = tagsIn(row);
  if (((row[1] as number) & RANK_BIT) === 0) return { tags: words, rank: undefined };
  const [queue, order] = words.slice(-2) as [string, string];
  return { tags: words.slice(0, -2), rank: { queue, order } };
}

function tagsIn(row: Buffer): readonly string[] {
  const start = HEAD_BYTES + row.readUInt32LE(4);
  const end = start + row.readUInt16LE(2);
  return start === end ? NO_TAGS : (JSON.parse(row.toString('utf8', start, end)) as string[]);
}

/** Tags that pass what a row can say of their length are not indexed: they are in the machine, not in the data. */
function tagsAsText(tags: readonly string[]): string {
  const text = JSON.stringify(tags);
  return Buffer.byteLength(text) <= TAGS_BYTES_MAX ? text : '';
}

const NO_TAGS: readonly string[] = [];
