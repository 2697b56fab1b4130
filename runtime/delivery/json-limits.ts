/**
 * Bounds on JSON text, checked before it is parsed.
 *
 * They are depth, keys of one object, parts and items in all, lengths of texts and of numbers: `JSON.parse`
 * knows a limit of none of them. The check is one pass and copies nothing. It does not say whether the text
 * is JSON at all; a text that is none passes here and is refused by the parser.
 */

import { excerpt, RuntimeError } from '../base/errors.ts';

export interface JsonBounds {
  readonly depthMax: number;
  /** Keys of one object. */
  readonly keysMax: number;
  /** Objects, lists and keys in all: what the parser has most to do with. */
  readonly partsMax: number;
  /** Values that follow another one in a list or an object, in all: each has little to it, and there may be millions. */
  readonly itemsMax: number;
  /** Characters of one text. */
  readonly textMax: number;
  /** Characters of a text under one of the `payloadKeys`, which nobody looks into. */
  readonly payloadMax: number;
  readonly payloadKeys: ReadonlySet<string>;
}

/** Characters of a number; the longest one that JavaScript writes has 25. */
const NUMBER_LENGTH_MAX = 40;

/** Characters that an escape takes for one, at most. */
const ESCAPE_LENGTH_MAX = 6;

/** Distance up to which looking at each character is quicker than to begin a search. */
const NEAR = 24;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** `[` and `{`, `]` and `}` without the bit in which they differ. */
const OPENING = 0x5b;
const CLOSING = 0x5d;
const SHAPE = ~0x20;
const SPACE = 0x20;

/** @throws {RuntimeError} ENVELOPE_MALFORMED naming the first bound that is passed. */
export function scanJson(text: string, bounds: JsonBounds): void {
  const { depthMax, keysMax, partsMax, itemsMax } = bounds;
  const writtenMax = ESCAPE_LENGTH_MAX * Math.max(bounds.textMax, bounds.payloadMax);
  const keys = new Uint32Array(depthMax + 1);
  const { length } = text;
  let depth = 0;
  let key = -1;
  let latest = 0;
  let word = 0;
  let parts = 0;
  let items = 0;
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      const end = endOfText(text, index + 1, writtenMax);
      if (end < 0) return;
      if (end - index > bounds.textMax) checkText(text, index + 1, end, key, bounds);
      latest = index;
      index = end;
      word = 0;
    } else if (code === COLON) {
      key = latest;
      const count = (keys[depth] as number) + 1;
      if (count > keysMax) throw beyond(`more than ${keysMax} keys in one object`);
      keys[depth] = count;
      parts += 1;
      if (parts > partsMax) throw beyond(`more than ${partsMax} parts`);
      word = 0;
    } else if (code === COMMA) {
      items += 1;
      if (items > itemsMax) throw beyond(`more than ${itemsMax} items`);
      word = 0;
    } else if (code <= SPACE) {
      word = 0;
    } else if ((code & SHAPE) === OPENING) {
      depth += 1;
      if (depth > depthMax) throw beyond(`more than ${depthMax} levels`);
      keys[depth] = 0;
      parts += 1;
      if (parts > partsMax) throw beyond(`more than ${partsMax} parts`);
      word = 0;
    } else if ((code & SHAPE) === CLOSING) {
      if (depth === 0) return;
      depth -= 1;
      word = 0;
    } else {
      word += 1;
      if (word > NUMBER_LENGTH_MAX) throw beyond('a number of too many digits');
    }
  }
}

/** Index of the quote that ends the text beginning at `start`; below zero when there is none. */
function endOfText(text: string, start: number, writtenMax: number): number {
  const near = Math.min(start + NEAR, text.length);
  let index = start;
  for (; index < near; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index;
    if (code === BACKSLASH) break;
  }
  for (;;) {
    const end = text.indexOf('"', index);
    if (end < 0) return end;
    let before = end - 1;
    while (before >= start && text.charCodeAt(before) === BACKSLASH) before -= 1;
    if (end - start > writtenMax) throw beyond(`a text of more than ${writtenMax} characters`);
    // After an odd number of backslashes the quote is one of the text.
    if ((end - before) % 2 === 1) return end;
    index = end + 1;
  }
}

/** Checks the length of a text. One of many characters on the wire may be shorter: an escape is one. */
function checkText(text: string, start: number, end: number, key: number, bounds: JsonBounds) {
  let length = end - start;
  for (let index = start; ; ) {
    index = text.indexOf('\\', index);
    if (index < 0 || index >= end) break;
    const isLong = text[index + 1] === 'u';
    length -= isLong ? 5 : 1;
    index += isLong ? 6 : 2;
  }
  if (length <= bounds.textMax) return;
  const name =
    key < 0 ? '' : text.slice(key + 1, endOfText(text, key + 1, Number.POSITIVE_INFINITY));
  const max = bounds.payloadKeys.has(name) ? bounds.payloadMax : bounds.textMax;
  if (length <= max) return;
  throw beyond(`a text of ${length} characters at ${excerpt(name)}, where ${max} may be`);
}

function beyond(what: string): RuntimeError {
  return new RuntimeError('ENVELOPE_MALFORMED', `A frame has ${what}.`);
}
