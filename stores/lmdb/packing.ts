/**
 * Packing: bytes told by what they share with a pattern that their reader has.
 *
 * Records of one kind are alike but for a few values, so a record is a fifth of its text where the rest is
 * taken from another one. What is packed is a list of steps, each a run of own bytes and a piece of the pattern:
 *
 *   number of own bytes, these bytes, number of bytes of the pattern, place of these
 *
 * The last step ends behind its own bytes. Numbers have seven bits a byte, the lowest first. A place is told by how
 * far it is from where the piece before ended plus the own bytes since: 0 where a value was replaced by one as long.
 *
 * Guarantees: what was packed comes back, whatever the bytes; bytes that nobody packed are refused, and nothing
 * outside the pattern is read.
 */

/** A shorter piece takes as many bytes to tell as it has. */
const PIECE_MIN = 6;
/** Bytes that a piece is looked up by. */
const KEY_BYTES = 4;
/** Bytes of one step at most, without its own bytes. */
const STEP_BYTES = 15;
/** Fewer bytes are copied one by one: a call costs more. */
const COPIED_BY_CALL = 48;
const HASH_FACTOR = 0x9e37_79b1;
const HASH_BITS_MIN = 8;

export class Pattern {
  readonly bytes: Buffer;
  /** Places in the pattern by the hash of the bytes there, plus one; made for the first that is packed. */
  #places: Uint16Array | undefined;
  #shift = 0;

  /** Of 65,535 bytes at most. */
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Packs the first bytes of `source` into `target`; returns where they end there, -1 where they need more than `limit`. */
  pack(source: Buffer, length: number, target: Buffer, start: number, limit: number): number {
    const places = this.#index();
    const last = length - PIECE_MIN;
    let end = start;
    let own = 0;
    let follows = 0;
    let at = 0;
    while (at <= last) {
      let from = follows + at - own;
      let bytes = this.#alike(source, at, length, from);
      if (bytes < PIECE_MIN) {
        from = (places[hashAt(source, at) >>> this.#shift] as number) - 1;
        bytes = from < 0 ? 0 : this.#alike(source, at, length, from);
      }
      if (bytes < PIECE_MIN) {
        at += 1;
        continue;
      }
      while (at > own && from > 0 && source[at - 1] === this.bytes[from - 1]) {
        at -= 1;
        from -= 1;
        bytes += 1;
      }
      const ownBytes = at - own;
      if (end + ownBytes + STEP_BYTES > limit) return -1;
      end = writeOwn(source, own, ownBytes, target, end);
      end = writeNumber(target, end, bytes - PIECE_MIN);
      end = writeNumber(target, end, zigzag(from - follows - ownBytes));
      at += bytes;
      own = at;
      follows = from + bytes;
    }
    if (end + length - own + STEP_BYTES > limit) return -1;
    return writeOwn(source, own, length - own, target, end);
  }

  /** Unpacks the first `wanted` bytes, or more, into `target`; false for bytes that nobody packed. */
  unpack(packed: Buffer, start: number, end: number, target: Buffer, wanted: number): boolean {
    const reader = new NumberReader(packed, start);
    let follows = 0;
    let at = 0;
    while (at < wanted) {
      const own = reader.next();
      if (!(reader.at + own <= end && at + own <= target.length)) return false;
      copy(packed, reader.at, own, target, at);
      reader.at += own;
      at += own;
      if (at >= wanted || reader.at >= end) break;
      const bytes = reader.next() + PIECE_MIN;
      const from = follows + own + unzigzag(reader.next());
      const isWithin =
        from >= 0 && from + bytes <= this.bytes.length && at + bytes <= target.length;
      if (!isWithin) return false;
      copy(this.bytes, from, bytes, target, at);
      at += bytes;
      follows = from + bytes;
    }
    return at >= wanted;
  }

  /** Number of bytes that are the same from there on in both. */
  #alike(source: Buffer, at: number, length: number, from: number): number {
    const { bytes } = this;
    const max = Math.min(length - at, bytes.length - from);
    let count = 0;
    while (count < max && source[at + count] === bytes[from + count]) count += 1;
    return count;
  }

  #index(): Uint16Array {
    if (this.#places !== undefined) return this.#places;
    const { bytes } = this;
    let bits = HASH_BITS_MIN;
    while (1 << bits < 2 * bytes.length) bits += 1;
    const places = new Uint16Array(1 << bits);
    this.#shift = 32 - bits;
    // Backwards, so that of places alike the first counts.
    for (let at = bytes.length - KEY_BYTES; at >= 0; at -= 1)
      places[hashAt(bytes, at) >>> this.#shift] = at + 1;
    this.#places = places;
    return places;
  }
}

/** Numbers of a packed text, one after the other; behind its end they are 0. */
class NumberReader {
  at: number;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  next(): number {
    let number = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes[this.at] ?? 0;
      this.at += 1;
      number += (byte & 127) * factor;
      if (byte < 128 || factor > 2 ** 32) return number;
    }
  }
}

function writeNumber(target: Buffer, start: number, number: number): number {
  let at = start;
  let rest = number;
  while (rest > 127) {
    target[at] = (rest & 127) | 128;
    at += 1;
    rest >>>= 7;
  }
  target[at] = rest;
  return at + 1;
}

function writeOwn(source: Buffer, from: number, bytes: number, target: Buffer, at: number): number {
  const start = writeNumber(target, at, bytes);
  copy(source, from, bytes, target, start);
  return start + bytes;
}

function copy(source: Buffer, from: number, bytes: number, target: Buffer, at: number): void {
  if (bytes >= COPIED_BY_CALL) source.copy(target, at, from, from + bytes);
  else
    for (let index = 0; index < bytes; index += 1)
      target[at + index] = source[from + index] as number;
}

function hashAt(bytes: Buffer, at: number): number {
  const key =
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24);
  return Math.imul(key, HASH_FACTOR);
}

function zigzag(number: number): number {
  return number < 0 ? -2 * number - 1 : 2 * number;
}

function unzigzag(number: number): number {
  return number % 2 === 1 ? -(number + 1) / 2 : number / 2;
}
