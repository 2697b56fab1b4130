/**
 * Where commands print, and the only place that writes to the streams of the process.
 *
 * Guarantees: a reader that goes away (`| head`) is no error, and whatever is printed
 * after that is dropped; any other failure to write is remembered and told by `flushed`.
 * Colours appear only where the stream and the environment want them. What comes from
 * data goes through `printable`, so that no stored text can speak to a terminal.
 */

import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

export class Output {
  readonly #out: Writable;
  readonly #err: Writable;
  #failure: Error | undefined;
  #isClosed = false;
  /** On the screen now. */
  #progressLines = 0;

  constructor(out: Writable, err: Writable) {
    this.#out = out;
    this.#err = err;
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
    return this.#isClosed || this.#out.write(text);
  }

  line(text = ''): boolean {
    return this.write(`${text}\n`);
  }

  /** To standard error. */
  complain(text: string): void {
    this.progress(undefined);
    this.#err.write(text);
  }

  /** Whether anybody sees what `progress` says. */
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
      [...line].slice(0, columns ? columns - 1 : undefined).join('');
    const lines = text?.split('\n').map(fitting) ?? [];
    const up = Math.max(0, this.#progressLines - 1);
    this.#progressLines = lines.length;
    this.#err.write(`\r\u001b[2K${'\u001b[1A\u001b[2K'.repeat(up)}${lines.join('\n')}`);
  }

  paint(format: Format, text: string): string {
    return styleText(format, text, { stream: this.#out });
  }

  /** Resolves when everything is written. @throws what the stream failed with, but for a reader that went away. */
  async flushed(): Promise<void> {
    await Promise.all([this.#out, this.#err].map(written));
    if (this.#failure !== undefined) throw this.#failure;
  }
}

function written(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    // The answer comes with an error too; that is heard by whoever listens for errors.
    if (stream.destroyed || stream.writableEnded) resolve();
    else stream.write('', () => resolve());
  });
}

/** C0 and C1 controls, and what turns the direction of text around. */
const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text from data, such that a terminal shows it and does nothing. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** As `printable`, for text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** `1,204 records`, `1 record`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** `1,204`, written by hand: the tables of languages take a while to load. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
