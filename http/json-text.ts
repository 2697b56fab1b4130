/**
 * Text within JSON as it arrives: its bytes are counted while it is read, escapes as what they
 * stand for, and of a key the beginning is kept.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BLANK = 0x20;
const UNICODE = 0x75;
/** Longer keys are not looked at further: none that matters is as long. */
const KEY_SHOWN_MAX = 64;
/** Escapes: what stands behind a backslash, and what it means. */
const ESCAPED: ReadonlyMap<number, number> = new Map([
  [QUOTE, QUOTE],
  [BACKSLASH, BACKSLASH],
  [0x2f, 0x2f],
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
]);

export class JsonText {
  /** The last key that was read, as far as it is kept. */
  key = '';
  isKey = false;
  readonly #refuse: (message: string) => Error;
  #bytes = 0;
  #bytesMax = 0;
  #within: 'plain' | 'escape' | 'codePoint' = 'plain';
  #hexLeft = 0;
  #hex = 0;

  /** `refuse` makes the error for what is wrong. */
  constructor(refuse: (message: string) => Error) {
    this.#refuse = refuse;
  }

  begin(isKey: boolean, bytesMax: number): void {
    this.isKey = isKey;
    this.#bytes = 0;
    this.#bytesMax = bytesMax;
    if (isKey) this.key = '';
  }

  /**
   * Reads up to its closing quote, and returns where that is; the length of `piece` when it is still
   * to come.
   */
  read(piece: string, from: number): number {
    let at = from;
    for (; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (this.#within !== 'plain') this.#escape(code);
      else if (code === QUOTE) break;
      else if (code === BACKSLASH) this.#within = 'escape';
      else if (code < BLANK) throw this.#refuse('A text has a control character.');
      else if (this.isKey) this.#take(code);
      else at = this.#skip(piece, at) - 1;
    }
    return at;
  }

  /** End of the plain characters: most of a body is such. */
  #skip(piece: string, from: number): number {
    let at = from;
    let bytes = 0;
    for (; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (code === QUOTE || code === BACKSLASH || code < BLANK) break;
      bytes += bytesOf(code);
    }
    this.#count(bytes);
    return at;
  }

  #escape(code: number): void {
    if (this.#within === 'escape') {
      if (code === UNICODE) {
        this.#within = 'codePoint';
        this.#hexLeft = 4;
        this.#hex = 0;
        return;
      }
      const meant = ESCAPED.get(code);
      if (meant === undefined) throw this.#refuse('It is not JSON.');
      this.#within = 'plain';
      this.#take(meant);
      return;
    }
    const digit = digitOf(code);
    if (digit === undefined) throw this.#refuse('It is not JSON.');
    this.#hex = this.#hex * 16 + digit;
    this.#hexLeft -= 1;
    if (this.#hexLeft > 0) return;
    this.#within = 'plain';
    this.#take(this.#hex);
  }

  #take(code: number): void {
    this.#count(bytesOf(code));
    if (this.isKey && this.key.length < KEY_SHOWN_MAX) this.key += String.fromCharCode(code);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax)
      throw this.#refuse(`A text takes more than ${this.#bytesMax} bytes.`);
  }
}

/** In UTF-8. Each half of a pair of surrogates is two of the four bytes. */
function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  return code < 0x800 || code >> 11 === 0x1b ? 2 : 3;
}

function digitOf(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}
