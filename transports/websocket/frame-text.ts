/**
 * Frame prefix: what stands in front of a frame on the wire, which is a checksum, the connection it
 * belongs to, and its number there.
 *
 *   crc32 of all that follows, 8 hex │ link id, 8 characters │ number, 8 of base 36 │ the frame
 *
 * Guarantees: a frame that was changed, repeated, held back until later or taken from another
 * connection is told apart from a good one and never read. It proves nothing about the sender: the
 * handshake has done that once, for as long as the connection lasts.
 */

import { crc32 } from 'node:zlib';

export const LINK_ID_LENGTH = 8;
const CHECKSUM_LENGTH = 8;
const NUMBER_LENGTH = 8;
const NUMBER_STARTS = CHECKSUM_LENGTH + LINK_ID_LENGTH;
export const PREFIX_LENGTH = NUMBER_STARTS + NUMBER_LENGTH;
/** Least charge of a frame against a rate in bytes: many empty frames are work, too. */
export const FRAME_CHARGE_MIN = 128;
const NUMBER_BASE = 36;
const ZEROS = '0'.repeat(NUMBER_LENGTH);

export type BadFrame = 'too short' | 'damaged' | 'of another connection' | 'out of order';

export class FrameWriter {
  readonly #linkId: string;
  #number = 0;

  constructor(linkId: string) {
    this.#linkId = linkId;
  }

  write(frame: string): string {
    this.#number += 1;
    const number = this.#number.toString(NUMBER_BASE);
    const rest = `${this.#linkId}${ZEROS.slice(number.length)}${number}${frame}`;
    return `${checksumOf(rest)}${rest}`;
  }
}

export class FrameReader {
  readonly #linkId: string;
  #number = 0;

  constructor(linkId: string) {
    this.#linkId = linkId;
  }

  /** Reason why the bytes are no frame of this connection, if they are none; else `textOf` has it. */
  check(bytes: Buffer): BadFrame | undefined {
    if (bytes.length < PREFIX_LENGTH) return 'too short';
    const prefix = bytes.toString('latin1', 0, PREFIX_LENGTH);
    // As text: read as a number, a space would be as good as a zero.
    if (prefix.slice(0, CHECKSUM_LENGTH) !== checksumOf(bytes.subarray(CHECKSUM_LENGTH)))
      return 'damaged';
    if (prefix.slice(CHECKSUM_LENGTH, NUMBER_STARTS) !== this.#linkId)
      return 'of another connection';
    const number = Number.parseInt(prefix.slice(NUMBER_STARTS), NUMBER_BASE);
    // Not "the next": one that was dropped as damaged leaves a gap.
    if (!(number > this.#number)) return 'out of order';
    this.#number = number;
    return undefined;
  }

  textOf(bytes: Buffer): string {
    return bytes.toString('utf8', PREFIX_LENGTH);
  }
}

function checksumOf(rest: string | Buffer): string {
  const checksum = crc32(rest).toString(16);
  return `${ZEROS.slice(checksum.length)}${checksum}`;
}
