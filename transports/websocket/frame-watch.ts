/**
 * Watch of the bytes of a connection as they come in, for one thing that `ws` does not tell: the
 * time since which a frame has been unfinished.
 *
 * It reads headers of WebSocket frames and skips what is in them, so a byte costs nothing. It
 * judges nothing else: whether frames are well formed is for `ws` to say.
 */

const FIN = 0x80;
const OPCODE = 0x0f;
const CONTROL = 0x08;
const MASKED = 0x80;
const LENGTH = 0x7f;
const MASK_BYTES = 4;
const HEADER_BYTES_MAX = 14;

export class FrameWatch {
  readonly #header = Buffer.alloc(HEADER_BYTES_MAX);
  #headerBytes = 0;
  #payloadLeft = 0;
  /** True between the first fragment of a message and the last byte of its last. */
  #isInMessage = false;
  #endsMessage = false;

  /** True while the bytes seen so far end in the middle of something. */
  get isUnfinished(): boolean {
    return this.#isInMessage || this.#headerBytes > 0 || this.#payloadLeft > 0;
  }

  /** Number of messages that have ended; a rising count is progress. */
  messages = 0;

  see(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#payloadLeft > 0) {
        const skipped = Math.min(this.#payloadLeft, chunk.length - at);
        at += skipped;
        this.#payloadLeft -= skipped;
        if (this.#payloadLeft === 0) this.#frameEnded();
        continue;
      }
      at = this.#readHeader(chunk, at);
    }
  }

  #readHeader(chunk: Buffer, from: number): number {
    let at = from;
    while (at < chunk.length) {
      this.#header[this.#headerBytes++] = chunk[at++] as number;
      if (this.#headerBytes >= 2 && this.#headerBytes === headerLength(this.#header)) {
        this.#headerRead();
        break;
      }
    }
    return at;
  }

  #headerRead(): void {
    const first = this.#header[0] as number;
    const isControl = (first & OPCODE & CONTROL) !== 0;
    this.#endsMessage = !isControl && (first & FIN) !== 0;
    if (!isControl) this.#isInMessage = true;
    this.#payloadLeft = payloadLength(this.#header);
    this.#headerBytes = 0;
    if (this.#payloadLeft === 0) this.#frameEnded();
  }

  #frameEnded(): void {
    if (!this.#endsMessage) return;
    this.#endsMessage = false;
    this.#isInMessage = false;
    this.messages += 1;
  }
}

function headerLength(header: Buffer): number {
  const second = header[1] as number;
  const length = second & LENGTH;
  const extended = length === 127 ? 8 : length === 126 ? 2 : 0;
  return 2 + extended + ((second & MASKED) === 0 ? 0 : MASK_BYTES);
}

function payloadLength(header: Buffer): number {
  const length = (header[1] as number) & LENGTH;
  if (length === 127) return Number(header.readBigUInt64BE(2));
  return length === 126 ? header.readUInt16BE(2) : length;
}
