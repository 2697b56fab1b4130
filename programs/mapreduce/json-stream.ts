/**
 * JSON stream: the elements of one array of a JSON file, one by one, in the memory of the largest of them.
 *
 * The whole file is checked on the way: what is not an element is parsed and dropped. Reads are synchronous.
 */

import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

/** The file says the same name twice on the way to the array: what counts is the last, which a stream cannot know. */
export class NotStreamable extends Error {}

const CHUNK_BYTES = 1 << 18;

/** @throws {SyntaxError} @throws {NotStreamable} @throws the system's error */
export function* streamElements(file: string, path: readonly string[]): Iterable<unknown> {
  const descriptor = openSync(file, 'r');
  try {
    const text = new Text(descriptor);
    yield* elementsAt(text, path);
    if (text.peek() !== undefined) text.fail();
  } finally {
    closeSync(descriptor);
  }
}

function* elementsAt(text: Text, path: readonly string[]): Iterable<unknown> {
  const [name, ...rest] = path;
  const first = text.peek();
  if (name === undefined && first === '[') yield* elements(text);
  else if (name === undefined && first === '{') throw new NotStreamable();
  else if (name !== undefined && first === '{') yield* member(text, name, rest);
  else text.value();
}

function* elements(text: Text): Iterable<unknown> {
  text.take('[');
  if (text.takeIf(']')) return;
  do yield text.value();
  while (text.takeIf(','));
  text.take(']');
}

function* member(text: Text, name: string, rest: readonly string[]): Iterable<unknown> {
  text.take('{');
  if (text.takeIf('}')) return;
  let isFound = false;
  do {
    const key = text.peek() === '"' ? text.value() : text.fail();
    text.take(':');
    if (key !== name) text.value();
    else if (isFound) throw new NotStreamable();
    else {
      isFound = true;
      yield* elementsAt(text, rest);
    }
  } while (text.takeIf(','));
  text.take('}');
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Text of a file from where it was read to; more is read when it is needed. */
class Text {
  readonly #descriptor: number;
  readonly #decoder = new StringDecoder('utf8');
  readonly #bytes = Buffer.alloc(CHUNK_BYTES);
  #text = '';
  #at = 0;
  #isEnded = false;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  fail(): never {
    const found = this.#text.slice(this.#at, this.#at + 20);
    throw new SyntaxError(
      found === '' ? 'the JSON ends too early' : `unexpected ${JSON.stringify(found)}`,
    );
  }

  /** The next character that is no space; undefined at the end. */
  peek(): string | undefined {
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined) {
        if (!this.#fill()) return undefined;
      } else if (
        character === ' ' ||
        character === '\n' ||
        character === '\t' ||
        character === '\r'
      )
        this.#at += 1;
      else return character;
    }
  }

  takeIf(character: string): boolean {
    if (this.peek() !== character) return false;
    this.#at += 1;
    return true;
  }

  take(character: string): void {
    if (!this.takeIf(character)) this.fail();
  }

  value(): unknown {
    const first = this.peek() ?? this.fail();
    const end =
      first === '"'
        ? this.#stringEnd(1)
        : first === '{' || first === '['
          ? this.#nestedEnd()
          : this.#wordEnd();
    const part = this.#text.slice(this.#at, this.#at + end);
    this.#at += end;
    return JSON.parse(part);
  }

  /** Code of the character so far behind; NaN at the end. */
  #code(offset: number): number {
    while (this.#at + offset >= this.#text.length) if (!this.#fill()) return Number.NaN;
    return this.#text.charCodeAt(this.#at + offset);
  }

  #stringEnd(offset: number): number {
    for (let end = offset; ; end++) {
      const code = this.#code(end);
      if (Number.isNaN(code)) this.fail();
      if (code === QUOTE) return end + 1;
      if (code === BACKSLASH) end += 1;
    }
  }

  #nestedEnd(): number {
    let depth = 0;
    for (let end = 0; ; ) {
      const code = this.#code(end);
      if (Number.isNaN(code)) this.fail();
      end = code === QUOTE ? this.#stringEnd(end + 1) : end + 1;
      if (code === 0x5b || code === 0x7b) depth += 1;
      else if (code === 0x5d || code === 0x7d) depth -= 1;
      if (depth === 0) return end;
    }
  }

  #wordEnd(): number {
    for (let end = 1; ; end++) {
      const code = this.#code(end);
      const isPart =
        (code >= 0x61 && code <= 0x7a) || (code >= 0x2b && code <= 0x45 && code !== 0x2c);
      if (!isPart) return end;
    }
  }

  #fill(): boolean {
    if (this.#isEnded) return false;
    const length = readSync(this.#descriptor, this.#bytes, 0, CHUNK_BYTES, null);
    this.#isEnded = length === 0;
    const more = this.#isEnded
      ? this.#decoder.end()
      : this.#decoder.write(this.#bytes.subarray(0, length));
    this.#text = this.#text.slice(this.#at) + more;
    this.#at = 0;
    return more !== '' || !this.#isEnded;
  }
}
