/**
 * Slab: memory that one commit is encoded into.
 *
 * LMDB's writer thread reads what it writes from here, so nothing in a slab may change until
 * the commit is settled; then the same memory serves the next one. Allocating afresh for each
 * commit would cost more than the encoding.
 */
import { knob } from '../../runtime/base/knob.ts';

const BYTES_AT_FIRST = knob('lmdbSlabBytesAtFirst', 256 * 1024);
/** A larger commit gets memory of its own, which is given back. */
const BYTES_KEPT_MAX = knob('lmdbSlabBytesKeptMax', 16 * 1024 * 1024);

/**
 * Methods that Node's buffers have and its types leave out: without the checks that `write` makes for
 * each call.
 */
export interface ByteWriter extends Buffer {
  utf8Write(text: string, start: number): number;
  latin1Write(text: string, start: number): number;
  latin1Slice(start: number, end: number): string;
}

export class Slab {
  /** Memory that is written into, from `position` on. */
  buffer: ByteWriter;
  position = 0;
  #kept: ByteWriter;

  constructor() {
    this.#kept = Buffer.allocUnsafeSlow(BYTES_AT_FIRST.value) as ByteWriter;
    this.buffer = this.#kept;
  }

  /**
   * Makes room for `bytes` in one piece and returns where it begins; move `position` behind what was
   * used.
   */
  reserve(bytes: number): number {
    if (this.position + bytes > this.buffer.length) {
      const size = Math.max(bytes, Math.min(this.buffer.length * 2, BYTES_KEPT_MAX.value));
      this.buffer = Buffer.allocUnsafeSlow(size) as ByteWriter;
      if (size <= BYTES_KEPT_MAX.value) this.#kept = this.buffer;
      this.position = 0;
    }
    return this.position;
  }

  /** Everything written so far may be overwritten. */
  reset(): void {
    this.buffer = this.#kept;
    this.position = 0;
  }
}
