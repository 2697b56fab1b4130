/**
 * Colours, and the last check before a terminal: of all that is written only these may speak to it.
 *
 * Guarantees: a control character that did not come from `paint` is shown and does nothing, whatever
 * was forgotten on the way. Line breaks and tabs stay, so text from data goes through `printable` before
 * it is put into a line.
 */

import { styleText } from 'node:util';
import { printable } from '../../runtime/base/printable.ts';

export type Format = Parameters<typeof styleText>[0];

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what speak to a terminal.
const COLOUR = /\u001b\[[\d;]*m/g;

export class Paints {
  readonly #stream: NodeJS.WritableStream;
  /** Every escape that it has made so far. */
  readonly #own = new Set<string>();

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
  }

  /** `text` as a terminal shows it, in that format where the stream and the environment want colours. */
  paint(format: Format, text: string): string {
    const painted = styleText(format, text, { stream: this.#stream });
    for (const [made] of styleText(format, '', { stream: this.#stream }).matchAll(COLOUR))
      this.#own.add(made);
    return painted;
  }

  harmless(text: string): string {
    let shown = '';
    let from = 0;
    for (const { 0: colour, index } of text.matchAll(COLOUR)) {
      if (!this.#own.has(colour)) continue;
      shown += printableText(text.slice(from, index)) + colour;
      from = index + colour.length;
    }
    return shown + printableText(text.slice(from));
  }
}

function printableText(text: string): string {
  return text
    .split(/([\n\t])/)
    .map((part, index) => (index % 2 === 0 ? printable(part) : part))
    .join('');
}
