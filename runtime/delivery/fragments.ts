/**
 * Fragments of a frame that is larger than a peer takes: it is cut into fragments here and put together by the
 * peer.
 *
 * A fragment is text too: `p1:<id>:<index>:<of>:<bytes>:` and then as much of the frame as fits. All fragments of a
 * frame follow each other on one connection, so the order of frames is kept, and a receiver has at most one
 * unfinished frame of each peer. A fragment that does not follow, or is more than was announced, is refused
 * together with all that came before; so is a frame whose fragments stop coming.
 */

import { excerpt, RuntimeError } from '../base/errors.ts';
import type { Cancel, Clock } from '../ports/clock.ts';

/**
 * Bytes that a frame may take beside one message: what is collected with it, 32 Ki characters at three
 * bytes, and brackets.
 */
export const FRAME_ROOM_BYTES = 128 * 1024;

/** Bytes that UTF-8 takes for a code unit, at most; so most texts need not be measured. */
const BYTES_PER_CODE_UNIT_MAX = 3;

/** No JSON begins like that. */
const MARK = 'p1:';
const HEADER = /^p1:(\d{1,15}):(\d{1,5}):(\d{1,5}):(\d{1,12}):/;
const HEADER_BYTES_MAX = 64;

/** Fragments of one frame, so that a frame cannot be cut into crumbs. */
export const FRAGMENTS_MAX = 1_024;

/** True if a text takes more bytes on the wire. */
export function isLonger(text: string, bytesMax: number): boolean {
  if (text.length * BYTES_PER_CODE_UNIT_MAX <= bytesMax) return false;
  return text.length > bytesMax || endWithin(text, 0, bytesMax) < text.length;
}

/**
 * Cuts a frame where at most `bytesMax` bytes are taken at a time; one that fits is sent whole.
 *
 * @throws {RangeError} when it takes more fragments than anybody would put together.
 */
export function cutFrame(frame: string, id: number, bytesMax: number): readonly string[] {
  if (!isLonger(frame, bytesMax)) return [frame];
  const bodies: string[] = [];
  for (let start = 0; start < frame.length; ) {
    const end = endWithin(frame, start, bytesMax - HEADER_BYTES_MAX);
    if (end === start || bodies.length === FRAGMENTS_MAX)
      throw new RangeError(`A frame of ${frame.length} characters is too large for this peer.`);
    bodies.push(frame.slice(start, end));
    start = end;
  }
  const bytes = bytesOf(frame, 0, frame.length);
  return bodies.map((body, index) => `${MARK}${id}:${index + 1}:${bodies.length}:${bytes}:${body}`);
}

export function isFragment(text: string): boolean {
  return text.startsWith(MARK);
}

/** The frame of one peer that is not yet whole. */
export class Assembly {
  readonly #clock: Clock;
  readonly #pauseMaxMs: number;
  readonly #stalled: () => void;
  #id: string | undefined;
  #index = 0;
  #of = 0;
  #bytesLeft = 0;
  #bodies: string[] = [];
  /** The frame that was refused: what is still under way of it is let be. */
  #refusedId: string | undefined;
  #cancel: Cancel | undefined;

  /** `stalled` is told when no further fragment has come within the pause; what there was is gone then. */
  constructor(clock: Clock, pauseMaxMs: number, stalled: () => void) {
    this.#clock = clock;
    this.#pauseMaxMs = pauseMaxMs;
    this.#stalled = stalled;
  }

  get isUnfinished(): boolean {
    return this.#id !== undefined;
  }

  /**
   * The whole frame with its last fragment; undefined before that.
   *
   * @throws {RuntimeError} ENVELOPE_MALFORMED once for each frame that is refused.
   */
  add(fragment: string, messageBytesMax: number): string | undefined {
    const [header, id = '', index, of, bytes] = HEADER.exec(fragment) ?? [];
    if (header === undefined) throw this.#refuse('', `begins with ${excerpt(fragment)}`);
    if (id === this.#refusedId) return undefined;
    if (Number(index) === 1) this.#begin(id, Number(of), Number(bytes), messageBytesMax);
    else if (id !== this.#id || Number(index) !== this.#index + 1 || Number(of) !== this.#of)
      throw this.#refuse(id, `is number ${index} of ${of} after number ${this.#index}`);
    this.#index += 1;
    this.#bytesLeft -= bytesOf(fragment, header.length, fragment.length);
    if (this.#bytesLeft < 0) throw this.#refuse(id, 'has more than was announced');
    this.#bodies.push(fragment.slice(header.length));
    if (this.#index < this.#of) {
      this.#arm();
      return undefined;
    }
    if (this.#bytesLeft > 0)
      throw this.#refuse(id, `is the last one and ${this.#bytesLeft} bytes are missing`);
    const frame = this.#bodies.join('');
    this.drop();
    return frame;
  }

  /** Something else has come in between: the fragments so far are of no use. */
  interrupt(): RuntimeError {
    return this.#refuse(this.#id ?? '', 'is followed by another frame');
  }

  /** Lets go of what there is. */
  drop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#id = undefined;
    this.#index = 0;
    this.#bodies = [];
  }

  #begin(id: string, of: number, bytes: number, messageBytesMax: number): void {
    const wasUnfinished = this.isUnfinished;
    this.drop();
    if (of < 2 || of > FRAGMENTS_MAX) throw this.#refuse(id, `is one of ${of}`);
    if (bytes > messageBytesMax + FRAME_ROOM_BYTES)
      throw this.#refuse(id, `is of ${bytes} bytes, where ${messageBytesMax} may be`);
    if (wasUnfinished) throw this.#refuse(id, 'is the first one while another frame is not whole');
    this.#id = id;
    this.#of = of;
    this.#bytesLeft = bytes;
  }

  #arm(): void {
    this.#cancel?.();
    this.#cancel = this.#clock.schedule(this.#clock.now() + this.#pauseMaxMs, () => {
      this.#refusedId = this.#id;
      this.drop();
      this.#stalled();
    });
  }

  #refuse(id: string, what: string): RuntimeError {
    this.drop();
    this.#refusedId = id;
    return new RuntimeError('ENVELOPE_MALFORMED', `A fragment of a frame ${what}.`);
  }
}

/** End of the part that begins at `start` and takes at most `bytesMax` bytes; never within a pair. */
function endWithin(text: string, start: number, bytesMax: number): number {
  let bytes = 0;
  for (let index = start; index < text.length; ) {
    const width = widthAt(text, index);
    bytes += width;
    if (bytes > bytesMax) return index;
    index += width === 4 ? 2 : 1;
  }
  return text.length;
}

function bytesOf(text: string, start: number, end: number): number {
  let bytes = 0;
  for (let index = start; index < end; ) {
    const width = widthAt(text, index);
    bytes += width;
    index += width === 4 ? 2 : 1;
  }
  return bytes;
}

/** Bytes of the character that begins there; four for a pair of code units. */
function widthAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  const isPair = (code & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
  return isPair ? 4 : 3;
}
