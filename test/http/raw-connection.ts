/** A bare TCP connection, for requests that no HTTP client would make. */

import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

export class RawConnection {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #text = '';

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      this.#text += text;
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
  }

  static open(port: number, localAddress = '127.0.0.1'): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      socket.once('error', reject);
      socket.once('connect', () => resolve(new RawConnection(socket)));
    });
  }

  static openMany(port: number, count: number): Promise<RawConnection[]> {
    return Promise.all(Array.from({ length: count }, () => RawConnection.open(port)));
  }

  get text(): string {
    return this.#text;
  }

  write(text: string | Buffer): void {
    this.socket.write(text);
  }

  /** When what was written is on its way, or never will be. */
  drained(): Promise<void> {
    const { socket } = this;
    if (socket.destroyed || !socket.writableNeedDrain) return Promise.resolve();
    const drain = new Promise<void>((resolve) => socket.once('drain', () => resolve()));
    return Promise.race([drain, this.closed]);
  }

  /** Everything until the other side has closed. */
  async answer(): Promise<RawAnswer> {
    await this.closed;
    return answerIn(this.#text);
  }
}

/** Sends bytes and waits until the connection is closed by the other side. */
export async function exchange(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  const connection = await RawConnection.open(port);
  connection.write(bytes);
  return connection.answer();
}

function answerIn(text: string): RawAnswer {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1] ?? 0), head: head.toLowerCase(), body };
}
