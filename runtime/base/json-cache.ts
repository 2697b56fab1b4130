/**
 * Flat text for records and history rows. These are put together piece by piece, which leaves V8
 * with a tree of pieces per text. Kept by the hundred thousand, those trees are most of what the
 * garbage collector has to walk.
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

/** Characters of a context that takes longer to write than to look into. */
const LONG = 16 * 1024;

/** JSON of a context whose text had that length last time. */
export function contextText(context: object, lengthBefore: number): string {
  return lengthBefore > LONG ? jsonByParts(context) : JSON.stringify(context);
}

/** Depth to which a value is searched for parts. */
const DEPTH_MAX = 3;

/**
 * JSON of a value, as `JSON.stringify` makes it. What is frozen in it, all the way down, is written
 * once and not again: for a large context, of which an event changes little.
 */
export function jsonByParts(value: unknown, depth: number = DEPTH_MAX): string {
  if (!isPlain(value) || depth === 0) return JSON.stringify(value);
  if (isConstant(value)) return jsonOnce(value);
  if (Array.isArray(value)) return JSON.stringify(value);
  let text = '{';
  for (const [name, part] of Object.entries(value)) {
    const member = isPlain(part)
      ? `${JSON.stringify(name)}:${jsonByParts(part, depth - 1)}`
      : memberText(name, part);
    if (member !== '') text += text.length > 1 ? `,${member}` : member;
  }
  return `${text}}`;
}

/**
 * Text of a member with its name, which a `toJSON` of the value is told; empty where JSON has no words
 * for it.
 */
function memberText(name: string, part: unknown): string {
  return JSON.stringify({ [name]: part }).slice(1, -1);
}

const constants = new WeakSet<object>();

/** Frozen, and so is everything in it, and nothing of it is worked out when it is asked for: it never changes. */
function isConstant(value: object): boolean {
  if (constants.has(value)) return true;
  if (!Object.isFrozen(value)) return false;
  for (const name of Object.keys(value)) {
    const { get, value: part } = Object.getOwnPropertyDescriptor(value, name) ?? {};
    const isSure = Object(part) !== part || (isPlain(part) && isConstant(part));
    if (get !== undefined || !isSure) return false;
  }
  constants.add(value);
  return true;
}

/** True for a plain object or array without a `toJSON`. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const own = Array.isArray(value) ? Array.prototype : Object.prototype;
  const { toJSON } = value as { readonly toJSON?: unknown };
  return Object.getPrototypeOf(value) === own && typeof toJSON !== 'function';
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
