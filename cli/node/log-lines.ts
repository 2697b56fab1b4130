/**
 * Log lines on their way to the reader of the log, as JSON or as what is made of it.
 *
 * Guarantees: writing never waits for the reader; what he has not taken is kept up to a limit, beyond
 * which lines are lost and counted. For lines that say how the node itself is there is room that no
 * other line takes: a flood does not hide that it stopped, or who leads. No line can speak to a terminal.
 */

import { type DestinationStream, destination } from 'pino';
import { printable } from '../../runtime/base/printable.ts';

export interface LogLinesOptions {
  readonly fd: number;
  /** Makes the line of a record; it lets nothing speak to a terminal. Default: the record itself, printable. */
  readonly lineOf?: (json: string) => string;
  /** Bytes of lines that the reader has not taken. Default 4 MiB. */
  readonly bufferBytesMax?: number;
  /** Beyond that, for lines about the node itself. Default 1 MiB. */
  readonly reserveBytesMax?: number;
}

/** Beginning of a record that tells of the node: its start and end, its configuration, who leads. */
const LIFECYCLE = /"event":"(?:node|leader|configuration)\./;
/** Time for which a node that ends waits for the reader of its log. */
const WRITTEN_MS = 1_000;

export class LogLines implements DestinationStream {
  readonly #lines: ReturnType<typeof destination>;
  readonly #lineOf: (json: string) => string;
  readonly #bufferBytesMax: number;
  readonly #reserveBytesMax: number;
  #waitingBytes = 0;
  #lost = 0;
  /** A reader that goes away is no reason to end: a node is there for its jobs. But then nothing is flushed: that would be tried for ever. */
  #isUnread = false;

  constructor({
    fd,
    lineOf = (json) => printable(json.trimEnd()),
    bufferBytesMax = 4 * 1024 * 1024,
    reserveBytesMax = 1024 * 1024,
  }: LogLinesOptions) {
    this.#lines = destination({ fd, sync: false });
    this.#lineOf = lineOf;
    this.#bufferBytesMax = bufferBytesMax;
    this.#reserveBytesMax = reserveBytesMax;
    this.#lines.on('write', (bytes: number) => {
      this.#waitingBytes -= bytes;
    });
    this.#lines.on('error', () => {
      this.#isUnread = true;
    });
  }

  /** Lines that were lost because nobody read them. */
  get lost(): number {
    return this.#lost;
  }

  write(json: string): void {
    const line = `${this.#lineOf(json)}\n`;
    const bytes = Buffer.byteLength(line);
    const reserve = LIFECYCLE.test(json) ? this.#reserveBytesMax : 0;
    if (this.#waitingBytes + bytes > this.#bufferBytesMax + reserve) {
      this.#lost += 1;
      return;
    }
    this.#waitingBytes += bytes;
    this.#lines.write(line);
  }

  /** Resolves when what was said is written; after a moment in any case, for a reader may be slow or gone. */
  async written(): Promise<void> {
    await new Promise<void>((resolve) => {
      const late = setTimeout(() => {
        this.#isUnread = true;
        resolve();
      }, WRITTEN_MS);
      const over = (): void => {
        clearTimeout(late);
        resolve();
      };
      this.#lines.once('drain', over).once('error', over);
      // Where nothing is waiting there would be nothing to hear of.
      this.#lines.write('');
    });
  }

  /** Writes what is waiting, as far as somebody reads it. */
  flush(): void {
    if (this.#isUnread) return;
    try {
      this.#lines.flushSync();
    } catch {
      // It was never opened, or nobody reads any more.
    }
  }
}
