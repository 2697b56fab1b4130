/**
 * Text that is kept: records and history rows are put together piece by piece, which
 * leaves V8 with a tree of pieces per text. Kept by the hundred thousand, those trees
 * are most of what the garbage collector has to walk.
 */

/**
 * The same text, as one piece: to read it as a number V8 has to put it together. The
 * answer is looked at so that the compiler does not leave the question out.
 */
export function inOnePiece(text: string): string {
  return Number.isNaN(Number(text)) ? text : String(text);
}

const texts = new WeakMap<object, string>();

/** JSON of a value that recurs as the same object, such as the state value of a configuration; made once. */
export function jsonOnce(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let text = texts.get(value);
  if (text === undefined) {
    text = JSON.stringify(value);
    texts.set(value, text);
  }
  return text;
}

let lastAt = -1;
let lastText = '';

/** A moment as text. Many turns share a millisecond, and thirteen digits take a while to write. */
export function timeText(at: number): string {
  if (at !== lastAt) {
    lastText = String(at);
    lastAt = at;
  }
  return lastText;
}
