/**
 * History in the LMDB store: what happened to each actor, for people to read.
 *
 * Rows are written as a log, one chunk per commit: a page written for a thousand actors costs what
 * one costs. Each actor's rows in a chunk name the chunk that has its rows before, so one actor's
 * history is read backwards, chunk by chunk. When the log has grown past its bound the oldest
 * chunks are folded: the rows still wanted move to one folded row per actor, the rest is dropped.
 * So an actor keeps its last rows however busy the others are, and the log stays within its bound
 * plus one commit.
 *
 *   chunk   0 checksum   4 parts
 *   part    0 length  4 offset before  8 chunk before  16 born  24 number of its first row
 *          28 length of the address  30 number of rows  32 address, then each row: length, text
 *   folded  0 checksum   4 one part
 */

import { crc32 } from 'node:zlib';
import { knob } from '../../runtime/base/knob.ts';
import type { ByteWriter } from './slab.ts';

const CHUNK_HEAD_BYTES = 4;
const PART_HEAD_BYTES = 32;
const BYTES_AT_FIRST = knob('lmdbHistoryBytesAtFirst', 64 * 1024);
const ROWS_PER_PART_MAX = 0xffff;

/** Some consecutive history rows of one life of an actor. */
export interface HistoryPart {
  readonly address: string;
  readonly born: number;
  /** Number of the first row; an actor's first row ever is number 1. */
  readonly firstRow: number;
  readonly chunkBefore: number;
  readonly offsetBefore: number;
  readonly rows: readonly string[];
}

/** A chunk being written. Its memory is used again for the next one. */
export class ChunkWriter {
  #buffer = Buffer.allocUnsafeSlow(BYTES_AT_FIRST.value) as ByteWriter;
  #end = CHUNK_HEAD_BYTES;

  get isEmpty(): boolean {
    return this.#end === CHUNK_HEAD_BYTES;
  }

  reset(): void {
    this.#end = CHUNK_HEAD_BYTES;
  }

  /** Adds consecutive rows of an actor, and returns where in the chunk they lie. */
  add(
    address: string,
    before: { readonly born: number; readonly chunk: number; readonly offset: number },
    firstRow: number,
    rows: readonly string[],
  ): number {
    let bytesMax = PART_HEAD_BYTES + address.length;
    for (const row of rows) bytesMax += 4 + 3 * row.length;
    this.#grow(bytesMax);
    const buffer = this.#buffer;
    const start = this.#end;
    let end = start + PART_HEAD_BYTES;
    end += buffer.latin1Write(address, end);
    for (const row of rows) {
      const bytes = buffer.utf8Write(row, end + 4);
      buffer.writeUInt32LE(bytes, end);
      end += 4 + bytes;
    }
    buffer.writeUInt32LE(end - start, start);
    buffer.writeUInt32LE(before.offset, start + 4);
    buffer.writeDoubleLE(before.chunk, start + 8);
    buffer.writeDoubleLE(before.born, start + 16);
    buffer.writeUInt32LE(firstRow, start + 24);
    buffer.writeUInt16LE(address.length, start + 28);
    buffer.writeUInt16LE(rows.length, start + 30);
    this.#end = end;
    return start;
  }

  /** The chunk with its checksum; valid until the next reset. */
  finish(): Buffer {
    this.#buffer.writeUInt32LE(crc32(this.#buffer.subarray(4, this.#end)), 0);
    return this.#buffer.subarray(0, this.#end);
  }

  #grow(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2)) as ByteWriter;
    this.#buffer.copy(larger, 0, 0, this.#end);
    this.#buffer = larger;
  }
}

/** Source of history, wherever it lies. */
export interface HistorySource {
  chunk(number: number): Buffer | undefined;
  folded(address: string): Buffer | undefined;
}

/** Chunk at which the reading of an actor's history begins. */
export interface HistoryEnd {
  readonly born: number;
  readonly chunk: number;
  readonly offset: number;
  readonly rows: number;
}

/** The last `limit` rows, oldest first. What is damaged ends the reading: older rows cannot be found then. */
export function readHistory(
  source: HistorySource,
  address: string,
  end: HistoryEnd,
  limit: number,
): readonly string[] {
  const wantedFrom = Math.max(1, end.rows - limit + 1);
  const parts: Array<readonly string[]> = [];
  let oldest = end.rows + 1;
  let chunk = end.chunk;
  let offset = end.offset;
  const take = (part: HistoryPart): void => {
    // A part of a folded row may reach into what was read from the log already.
    const rows = part.rows.slice(
      Math.max(0, wantedFrom - part.firstRow),
      Math.max(0, oldest - part.firstRow),
    );
    parts.push(rows);
    oldest = Math.min(oldest, part.firstRow);
  };
  while (chunk !== 0 && oldest > wantedFrom) {
    const bytes = source.chunk(chunk);
    if (bytes === undefined) break;
    const part = isSoundHistory(bytes) ? readPart(bytes, offset) : undefined;
    if (part?.address !== address || part.born !== end.born) return parts.reverse().flat();
    take(part);
    chunk = part.chunkBefore;
    offset = part.offsetBefore;
  }
  const folded = oldest > wantedFrom ? readFolded(source.folded(address), end.born) : undefined;
  if (folded !== undefined) take(folded);
  return parts.reverse().flat();
}

/** All parts of a chunk; none when it is damaged. */
export function* partsOf(chunk: Buffer): Iterable<HistoryPart> {
  if (!isSoundHistory(chunk)) return;
  let offset = CHUNK_HEAD_BYTES;
  while (offset < chunk.length) {
    yield readPart(chunk, offset);
    offset += chunk.readUInt32LE(offset);
  }
}

/** A folded row with the part added to it and cut to the last `rowsMax`. */
export function fold(
  folded: Buffer | undefined,
  part: HistoryPart,
  rowsMax: number,
): { readonly bytes: Buffer } {
  const before = readFolded(folded, part.born);
  // Only rows that follow one another can share a row.
  const isNext = before !== undefined && before.firstRow + before.rows.length === part.firstRow;
  const all = isNext ? [...before.rows, ...part.rows] : part.rows;
  const rows = all.slice(-Math.min(rowsMax, ROWS_PER_PART_MAX));
  const writer = new ChunkWriter();
  const firstRow = part.firstRow + part.rows.length - rows.length;
  writer.add(part.address, { born: part.born, chunk: 0, offset: 0 }, firstRow, rows);
  return { bytes: Buffer.from(writer.finish()) };
}

export function isSoundHistory(bytes: Buffer): boolean {
  return bytes.length >= CHUNK_HEAD_BYTES && bytes.readUInt32LE(0) === crc32(bytes.subarray(4));
}

function readFolded(bytes: Buffer | undefined, born: number): HistoryPart | undefined {
  if (bytes === undefined || !isSoundHistory(bytes)) return undefined;
  const part = readPart(bytes, CHUNK_HEAD_BYTES);
  return part.born === born ? part : undefined;
}

function readPart(bytes: Buffer, start: number): HistoryPart {
  const addressEnd = start + PART_HEAD_BYTES + bytes.readUInt16LE(start + 28);
  const rows: string[] = [];
  let end = addressEnd;
  for (let count = bytes.readUInt16LE(start + 30); count > 0; count -= 1) {
    const length = bytes.readUInt32LE(end);
    rows.push(bytes.toString('utf8', end + 4, end + 4 + length));
    end += 4 + length;
  }
  return {
    address: bytes.toString('latin1', start + PART_HEAD_BYTES, addressEnd),
    born: bytes.readDoubleLE(start + 16),
    firstRow: bytes.readUInt32LE(start + 24),
    chunkBefore: bytes.readDoubleLE(start + 8),
    offsetBefore: bytes.readUInt32LE(start + 4),
    rows,
  };
}
