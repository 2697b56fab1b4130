/**
 * A connection whose bytes are written by hand, so that nothing on this side keeps them in order.
 *
 * It reads what comes back well enough to know how a handshake was answered, which codes refusals
 * carry, when a ping was answered, and how the connection ended. It never throws because of what the
 * other side does.
 */

import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';
const FIN = 0x80;
const MASKED = 0x80;
const UNREAD_BYTES_MAX = 1 << 22;
const ANSWER_LIMIT_MS = 15_000;

export interface Head {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export class RawSocket {
  /** Codes in refusals that came back. */
  readonly refusals: string[] = [];
  /** The close code that was received; 0 for none. */
  closeCode = 0;
  readonly #socket: Socket;
  #bytes: Buffer = Buffer.alloc(0);
  #isOpen = false;
  #isEnded = false;
  #pongs = 0;
  #changed: Array<() => void> = [];

  constructor(url: URL) {
    this.#socket = connect(Number(url.port), url.hostname);
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      this.#isEnded = true;
      this.#tell();
    });
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Resolves when there is room for more, or nobody to write to. */
  async write(bytes: Buffer | string): Promise<void> {
    if (this.#isEnded || this.#socket.destroyed) return;
    if (this.#socket.write(bytes)) return;
    await this.#until(() => this.#isEnded || this.#socket.writableLength === 0, true);
  }

  /** The answer to a request to open a WebSocket; nothing when there is none. */
  async head(): Promise<Head | undefined> {
    let end = -1;
    await this.#until(() => {
      end = this.#bytes.indexOf(HEAD_END);
      return end >= 0 || this.#isEnded;
    });
    if (end < 0) return undefined;
    const [first = '', ...lines] = this.#bytes.toString('latin1', 0, end).split('\r\n');
    const status = Number(first.split(' ')[1]);
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    this.#bytes = this.#bytes.subarray(end + HEAD_END.length);
    this.#isOpen = status === 101;
    if (this.#isOpen) this.#readFrames();
    return { status, headers };
  }

  /** Pings, and resolves when all that was written before has been read there. False: it never was. */
  async isHeard(): Promise<boolean> {
    const before = this.#pongs;
    await this.write(frameBytes(OPCODE.ping, Buffer.alloc(0)));
    await this.#until(() => this.#pongs > before || this.#isEnded);
    return this.#pongs > before || this.#isEnded;
  }

  /** Resolves once the other side has hung up. False: it did not. */
  async isHungUp(): Promise<boolean> {
    await this.#until(() => this.#isEnded);
    return this.#isEnded;
  }

  end(): void {
    this.#socket.destroy();
  }

  /** Resolves when it is so, or after a while all the same. */
  #until(isSo: () => boolean, isDraining = false): Promise<void> {
    if (isSo()) return Promise.resolve();
    return new Promise((resolve) => {
      const late = setTimeout(done, ANSWER_LIMIT_MS);
      const look = (): void => {
        if (isSo()) done();
        else this.#changed.push(look);
      };
      function done(): void {
        clearTimeout(late);
        resolve();
      }
      this.#changed.push(look);
      if (isDraining) this.#socket.once('drain', look);
    });
  }

  #tell(): void {
    const waiting = this.#changed;
    this.#changed = [];
    for (const look of waiting) look();
  }

  #take(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    if (this.#isOpen) this.#readFrames();
    // Nobody writes that much to us; a node that does is not read to the end.
    if (this.#bytes.length > UNREAD_BYTES_MAX) this.#socket.destroy();
    this.#tell();
  }

  /** Nothing that is sent from now on is looked at. */
  #closed(payload: Buffer): void {
    this.closeCode = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
    this.#isEnded = true;
    this.#socket.end(frameBytes(OPCODE.close, payload));
  }

  #readFrames(): void {
    for (;;) {
      const frame = readFrame(this.#bytes);
      if (frame === undefined) return;
      this.#bytes = this.#bytes.subarray(frame.end);
      const { opcode, payload } = frame;
      if (opcode === OPCODE.pong) this.#pongs += 1;
      else if (opcode === OPCODE.close) this.#closed(payload);
      else if (opcode === OPCODE.text)
        for (const [, code] of payload.toString('latin1').matchAll(/"code":"([A-Z_]+)"/g))
          this.refusals.push(code as string);
    }
  }
}

/** One frame as a client writes it, with a mask of zeros. `first` and `length` may be anything. */
export function frameBytes(
  opcode: number,
  payload: Buffer,
  { first = FIN | opcode, mask = MASKED, length = payload.length } = {},
): Buffer {
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + extended + (mask === 0 ? 0 : 4));
  head[0] = first;
  head[1] = mask | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) head.writeUInt16BE(length, 2);
  if (extended === 8) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

function readFrame(
  bytes: Buffer,
): { readonly opcode: number; readonly payload: Buffer; readonly end: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] as number) & 0x7f;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start) return undefined;
  const length =
    short === 126
      ? bytes.readUInt16BE(2)
      : short === 127
        ? Number(bytes.readBigUInt64BE(2))
        : short;
  if (bytes.length < start + length) return undefined;
  return {
    opcode: (bytes[0] as number) & 0x0f,
    payload: bytes.subarray(start, start + length),
    end: start + length,
  };
}
