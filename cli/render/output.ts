/**
 * Output of commands, and the only place that writes to the streams of the process.
 *
 * Guarantees: a reader that goes away (`| head`) is no error, and whatever is printed
 * after that is dropped; any other failure to write is remembered and told by `flushed`.
 * Colours appear only where the stream and the environment want them. What comes from
 * data goes through `printable`, which also keeps it on its line; whatever was forgotten is made
 * harmless here, so that no text from outside can speak to a terminal.
 */

import type { Writable } from 'node:stream';
import { printable } from '../../runtime/base/printable.ts';
import { type Format, Paints } from './paints.ts';

export { printable, printableLines } from '../../runtime/base/printable.ts';

export class Output {
  readonly #out: Writable;
  readonly #err: Writable;
  readonly #paints: Paints;
  #failure: Error | undefined;
  #isClosed = false;
  /** On the screen now. */
  #progressLines = 0;

  constructor(out: Writable, err: Writable) {
    this.#out = out;
    this.#err = err;
    this.#paints = new Paints(out);
    out.on('error', (error: NodeJS.ErrnoException) => {
      this.#isClosed = true;
      if (error.code !== 'EPIPE') this.#failure ??= error;
    });
    // Nobody can be told when the stream for telling is gone.
    err.on('error', () => {});
  }

  /** True once nobody reads any more: a command that prints much can stop. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** False when the reader is slow: then wait for `flushed` before the next piece. */
  write(text: string): boolean {
    return this.#isClosed || this.#out.write(this.#paints.harmless(text));
  }

  line(text = ''): boolean {
    return this.write(`${text}\n`);
  }

  /** To standard error. */
  complain(text: string): void {
    this.progress(undefined);
    this.#err.write(this.#paints.harmless(text));
  }

  /** True when anybody sees what `progress` says. */
  get showsProgress(): boolean {
    return (this.#err as { isTTY?: boolean }).isTTY === true;
  }

  /**
   * Lines that are replaced by the next ones, without colours; only where somebody is there to read
   * them. What does not fit the terminal is left out: a line that went on in the next row would stay.
   */
  progress(text: string | undefined): void {
    if (!this.showsProgress) return;
    if (text === undefined && this.#progressLines === 0) return;
    const { columns } = this.#err as { columns?: number };
    const fitting = (line: string): string =>
      [...printable(line)].slice(0, columns ? columns - 1 : undefined).join('');
    const lines = text?.split('\n').map(fitting) ?? [];
    const up = Math.max(0, this.#progressLines - 1);
    this.#progressLines = lines.length;
    this.#err.write(`\r\u001b[2K${'\u001b[1A\u001b[2K'.repeat(up)}${lines.join('\n')}`);
  }

  paint(format: Format, text: string): string {
    return this.#paints.paint(format, text);
  }

  /** Resolves when everything is written. @throws what the stream failed with, but for a reader that went away. */
  async flushed(): Promise<void> {
    await Promise.all([this.#out, this.#err].map(written));
    if (this.#failure !== undefined) throw this.#failure;
  }
}

function written(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    // The answer comes with an error too; that is heard by the listener for errors.
    if (stream.destroyed || stream.writableEnded) resolve();
    else stream.write('', () => resolve());
  });
}

/** `1,204 records`, `1 record`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** `1,204`, written by hand: the tables of languages take a while to load. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
