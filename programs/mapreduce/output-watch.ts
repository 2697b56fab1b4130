/**
 * Output watch: passes what a command prints on to its file, and looks at it on the way: for the last line, for
 * `::cost name=amount`, for words that mean that a quota is used up, and for the moment of the last byte.
 */

import type { OutputSink } from '../processes.ts';

export interface OutputListener {
  /** Some bytes have come. */
  seen(): void;
  cost(name: string, amount: number): void;
}

const LINE_LENGTH_MAX = 4_096;
const COST = /^::cost\s+([A-Za-z_][\w.-]*)=(\d+(?:\.\d+)?)\s*$/;

export class OutputWatch implements OutputSink {
  readonly #sink: OutputSink;
  readonly #listener: OutputListener;
  readonly #matches: readonly RegExp[];
  #rest = '';
  lastLine = '';
  hasMatched = false;

  constructor(sink: OutputSink, listener: OutputListener, matches: readonly RegExp[]) {
    this.#sink = sink;
    this.#listener = listener;
    this.#matches = matches;
  }

  write(chunk: Buffer): void {
    this.#sink.write(chunk);
    this.#listener.seen();
    // Of a flood only the end of a line is looked at.
    const text = chunk.toString('utf8');
    const lines = (this.#rest + text).split('\n');
    this.#rest = (lines.pop() ?? '').slice(-LINE_LENGTH_MAX);
    for (const line of lines) this.#take(line.slice(0, LINE_LENGTH_MAX));
  }

  close(): void {
    if (this.#rest !== '') this.#take(this.#rest);
    this.#rest = '';
    this.#sink.close();
  }

  #take(line: string): void {
    if (line.trim() !== '') this.lastLine = line;
    const [, name, amount] = COST.exec(line) ?? [];
    if (name !== undefined) this.#listener.cost(name, Number(amount));
    this.hasMatched ||= this.#matches.some((match) => match.test(line));
  }
}
