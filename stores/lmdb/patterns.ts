/**
 * Patterns of the LMDB store: texts of a few records of each kind, by which the others of that kind are packed.
 *
 *   key   the pattern's number   row   0 checksum of the number and of what follows   4 kind, zero, bytes
 *
 * A kind's pattern is made of its first record that is long enough, and again, with the former pattern behind
 * it, of a record that packs badly: rarely, and a few times at most. A pattern is written with the first row packed by it, never
 * changes and is never removed, since rows of any age may need it.
 *
 * Guarantees: no row that lies in the store needs a pattern that does not; one whose bytes have changed is not
 * used, and what was packed by it is damaged.
 */

import { crc32 } from 'node:zlib';
import { knob } from '../../runtime/base/knob.ts';
import type { NumberedTable } from './environment.ts';
import { Pattern } from './packing.ts';
import { numberKey, numberOf } from './undelivered.ts';

/** A number has to fit into two bytes of a row, and 0 stands for none. */
const PATTERNS_MAX = knob('lmdbPatternsMax', 4_096);
const PER_KIND_MAX = knob('lmdbPatternsPerKindMax', 12);
const PATTERN_BYTES_MAX = knob('lmdbPatternBytesMax', 16 * 1024);
/** Of one record. */
const SAMPLE_BYTES_MAX = knob('lmdbPatternSampleBytesMax', 4 * 1024);
/** A record of fewer bytes is no pattern. */
const SAMPLE_BYTES_MIN = knob('lmdbPatternSampleBytesMin', 128);
/** Records of a kind that are written before its second pattern; before each further one, this many times more. */
const RECORDS_BETWEEN = knob('lmdbPatternRecordsBetween', 4);
const ROOM_BYTES = knob('lmdbPatternsRoomBytes', 16 * 1024);
/** A record packs badly when more than this share of it is left. */
const BAD_SHARE = 0.3;
/** More than what is behind the head of a pattern's row. */
const ROW_HEAD_BYTES = 4;

interface OfKind {
  number: number;
  pattern: Pattern;
  made: number;
  /** Records written since it was made. */
  records: number;
}

export class Patterns {
  readonly #table: NumberedTable;
  readonly #byNumber = new Map<number, Pattern>();
  readonly #byKind = new Map<string, OfKind>();
  #next = 1;
  #isRead = false;
  #room = Buffer.allocUnsafeSlow(ROOM_BYTES.value);
  /** Rows of patterns that are to be written with the commit that is encoded. */
  #new: Array<readonly [key: Buffer, row: Buffer]> = [];

  constructor(table: NumberedTable) {
    this.#table = table;
  }

  /** The pattern of that number; undefined where it is missing or damaged. */
  get(number: number): Pattern | undefined {
    const known = this.#byNumber.get(number);
    if (known !== undefined) return known;
    const row = this.#table.get(numberKey(number));
    const found = row === undefined ? undefined : decode(number, row);
    if (found !== undefined) this.#byNumber.set(number, found.pattern);
    return found?.pattern;
  }

  /** Number of the pattern by which a record of the kind is packed; 0 where there is none yet. */
  current(kind: string): number {
    this.#read();
    return this.#byKind.get(kind)?.number ?? 0;
  }

  /** Learns from a record of the kind and the bytes that it took: it may be the pattern of the next ones. */
  learn(kind: string, body: Buffer, length: number, packed: number): void {
    const known = this.#byKind.get(kind);
    if (known !== undefined) known.records += 1;
    if (length < SAMPLE_BYTES_MIN.value || packed <= BAD_SHARE * length) return;
    if (known !== undefined && !mayBeMadeAgain(known)) return;
    if (this.#next > PATTERNS_MAX.value) return;
    const sample = body.subarray(0, Math.min(length, SAMPLE_BYTES_MAX.value));
    const before = known?.pattern.bytes ?? Buffer.alloc(0);
    const bytes = Buffer.concat([sample, before]).subarray(0, PATTERN_BYTES_MAX.value);
    const number = this.#next;
    this.#next += 1;
    this.#new.push([numberKey(number), encode(number, kind, bytes)]);
    const pattern = new Pattern(Buffer.from(bytes));
    this.#byNumber.set(number, pattern);
    this.#byKind.set(kind, { number, pattern, made: (known?.made ?? 0) + 1, records: 0 });
  }

  /** Memory of that size, which the next reader uses again. */
  room(bytes: number): Buffer {
    if (bytes > this.#room.length) this.#room = Buffer.allocUnsafeSlow(2 * bytes);
    return this.#room;
  }

  /** A copy in that memory. */
  copyOf(source: Buffer, start: number, bytes: number): Buffer {
    const room = this.room(bytes);
    source.copy(room, 0, start, start + bytes);
    return room;
  }

  /** Rows that belong to the commit that is encoded. */
  takeNew(): ReadonlyArray<readonly [key: Buffer, row: Buffer]> {
    const made = this.#new;
    this.#new = [];
    return made;
  }

  /** Forgets all that is not in the store. */
  refresh(): void {
    this.#byNumber.clear();
    this.#byKind.clear();
    this.#new = [];
    this.#next = 1;
    this.#isRead = false;
  }

  #read(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    for (const { key, value } of this.#table.getRange({})) {
      const number = numberOf(key);
      this.#next = Math.max(this.#next, number + 1);
      const found = decode(number, value);
      if (found === undefined) continue;
      const made = (this.#byKind.get(found.kind)?.made ?? 0) + 1;
      this.#byNumber.set(number, found.pattern);
      this.#byKind.set(found.kind, { number, pattern: found.pattern, made, records: 0 });
    }
  }
}

function mayBeMadeAgain({ made, records }: OfKind): boolean {
  return made < PER_KIND_MAX.value && records >= RECORDS_BETWEEN.value ** made;
}

function encode(number: number, kind: string, bytes: Buffer): Buffer {
  const text = Buffer.concat([Buffer.from(`${kind}\0`), bytes]);
  const row = Buffer.concat([Buffer.alloc(ROW_HEAD_BYTES), text]);
  row.writeUInt32LE(checksumOf(number, row), 0);
  return row;
}

function decode(
  number: number,
  row: Buffer,
): { readonly kind: string; readonly pattern: Pattern } | undefined {
  const zero = row.indexOf(0, ROW_HEAD_BYTES);
  if (zero === -1 || row.readUInt32LE(0) !== checksumOf(number, row)) return undefined;
  const kind = row.toString('utf8', ROW_HEAD_BYTES, zero);
  return { kind, pattern: new Pattern(Buffer.from(row.subarray(zero + 1))) };
}

function checksumOf(number: number, row: Buffer): number {
  return crc32(row.subarray(ROW_HEAD_BYTES), number);
}
