/**
 * Terminal while the demo is on it: keys come in, screens go out.
 *
 * Guarantees: at most ten screens a second, and only what has changed of them is written; a slow
 * terminal gets the newest one. It uses the alternate screen, and leaves everything as it was.
 */

import type { ReadStream, WriteStream } from 'node:tty';
import { Paints } from '../cli/render/paints.ts';
import type { Format, Paint, ScreenSize } from './screen.ts';

export interface TerminalSetup {
  readonly input: ReadStream;
  readonly output: WriteStream;
  /** Draws the screen for a size. */
  draw(size: ScreenSize, paint: Paint): readonly string[];
  onKey(key: string): void;
}

const FRAME_MS = 100;
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const CLEAR = '\u001b[2J';

export class Terminal {
  readonly #setup: TerminalSetup;
  readonly #paints: Paints;
  readonly #timer: NodeJS.Timeout;
  readonly #onKey: (bytes: Buffer) => void;
  readonly #onResize: () => void;
  #shown: readonly string[] = [];
  #isBusy = false;
  #isLeft = false;

  constructor(setup: TerminalSetup) {
    const { input, output, onKey } = setup;
    this.#setup = setup;
    this.#paints = new Paints(output);
    // A pasted text is many keys at once.
    this.#onKey = (bytes) => {
      for (const key of bytes.toString('utf8').slice(0, 16)) onKey(key);
    };
    this.#onResize = () => {
      this.#shown = [];
      output.write(CLEAR);
    };
    input.setRawMode(true);
    input.on('data', this.#onKey);
    output.on('resize', this.#onResize);
    output.write(ENTER + CLEAR);
    this.#timer = setInterval(() => this.#show(), FRAME_MS);
    this.#show();
  }

  leave(): void {
    if (this.#isLeft) return;
    this.#isLeft = true;
    clearInterval(this.#timer);
    const { input, output } = this.#setup;
    input.off('data', this.#onKey);
    output.off('resize', this.#onResize);
    input.setRawMode(false);
    input.pause();
    output.write(LEAVE);
  }

  #show(): void {
    const { output, draw } = this.#setup;
    if (this.#isBusy) return;
    const size = { columns: output.columns || 80, rows: output.rows || 24 };
    const paint = (format: Format, text: string): string => this.#paints.paint(format, text);
    const lines = draw(size, paint).map((line) => this.#paints.harmless(line));
    const rows = Math.max(lines.length, this.#shown.length);
    let changes = '';
    for (let row = 0; row < rows; row += 1) {
      const line = lines[row] ?? '';
      // Emptied before and not after: behind a full line the cursor still stands on its last character.
      if (line !== this.#shown[row]) changes += `\u001b[${row + 1};1H\u001b[K${line}`;
    }
    this.#shown = lines;
    if (changes === '') return;
    this.#isBusy = true;
    output.write(changes, () => {
      this.#isBusy = false;
    });
  }
}
