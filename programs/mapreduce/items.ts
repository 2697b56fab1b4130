/**
 * Items of a run: taken from a JSON file by a JSONPath when the run is made, and kept in a file of the run.
 *
 * One line for each item, its id and its value, so that a run resumed after a year finds what it began with,
 * and any number of items costs the memory of their offsets. The hash of the file tells items from others.
 */

import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { compile, JSONPathError } from 'json-p3';
import { messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import { syncDirectoryOf } from '../runs.ts';
import { NotStreamable, streamElements } from './json-stream.ts';

export interface Item {
  readonly itemId: string;
  readonly value: unknown;
}

const ID_LENGTH_MAX = 128;
const CHUNK_CHARACTERS = 65_536;
const LINE_FEED = 10;
/** Items kept in memory after they were read, none of them longer than this: an attempt asks for its item more than once. */
const RECENT_MAX = 1_000;
const RECENT_BYTES_MAX = 1_000;

/** Checks a JSONPath. @throws {RuntimeError} INPUT_INVALID */
export function checkPath(jsonPath: string): void {
  inInput(`JSONPath ${jsonPath}`, () => compile(jsonPath));
}

/** Items of an input: how many there are, and they themselves, as often as somebody wants them. */
export interface Input {
  readonly count: number;
  items(): Iterable<Item>;
}

/**
 * The items that a path finds in a file. Those of one array are read one by one, however many they are; any other
 * path needs the file in memory.
 *
 * @throws {RuntimeError} INPUT_INVALID
 */
export function readInput(file: string, jsonPath: string): Input {
  const path = pathOfArray(jsonPath);
  const whole = (): Input => {
    const values = wholeInput(file, jsonPath);
    return inputOf(() => values);
  };
  return inInput(file, () => {
    if (path === undefined) return whole();
    try {
      return inputOf(() => streamElements(file, path));
    } catch (thrown) {
      if (thrown instanceof NotStreamable) return whole();
      throw thrown;
    }
  });
}

/** Goes through all values once, so that all of the file is checked before anything begins. */
function inputOf(values: () => Iterable<unknown>): Input {
  const ids = new UniqueIds();
  let count = 0;
  for (const value of values()) {
    ids.add(ownId(value));
    count += 1;
  }
  const haveIds = ids.areUnique(values);
  return { count, items: () => named(values(), haveIds) };
}

function* named(values: Iterable<unknown>, haveIds: boolean): Iterable<Item> {
  let index = 0;
  for (const value of values) {
    yield { itemId: haveIds ? (ownId(value) as string) : `item_${index}`, value };
    index += 1;
  }
}

const NAME = String.raw`\.([A-Za-z_][\w-]*)|\['([^'\\]*)'\]|\["([^"\\]*)"\]`;
const ARRAY_PATH = new RegExp(String.raw`^\$((?:${NAME})*)(?:\[\*\]|\.\*)$`);

/** The names on the way to an array all of whose elements are asked for; undefined of any other path. */
function pathOfArray(jsonPath: string): readonly string[] | undefined {
  const names = ARRAY_PATH.exec(jsonPath)?.[1];
  if (names === undefined) return undefined;
  return [...names.matchAll(new RegExp(NAME, 'g'))].map(
    ([, ...found]) => found.find((each) => each !== undefined) ?? '',
  );
}

function wholeInput(file: string, jsonPath: string): unknown[] {
  const document = JSON.parse(readFileSync(file, 'utf8')) as never;
  return inInput(`JSONPath ${jsonPath}`, () => {
    const values: unknown[] = [];
    for (const { value } of compile(jsonPath).lazyQuery(document)) values.push(value);
    return values;
  });
}

function inInput<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof RuntimeError) throw thrown;
    const kind = thrown instanceof JSONPathError ? 'is no valid path' : 'cannot be read';
    throw new RuntimeError('INPUT_INVALID', `${what} ${kind}: ${messageOf(thrown)}`);
  }
}

/**
 * Whether all values have an id and no two the same, in 8 bytes for each: hashes are compared, and ids only where two
 * hashes are alike.
 */
class UniqueIds {
  #hashes = new Float64Array(1_024);
  #count = 0;
  #isMissing = false;

  add(id: string | undefined): void {
    this.#isMissing ||= id === undefined;
    if (id === undefined || this.#isMissing) return;
    if (this.#count === this.#hashes.length) {
      const grown = new Float64Array(this.#count * 2);
      grown.set(this.#hashes);
      this.#hashes = grown;
    }
    this.#hashes[this.#count] = hashOf(id);
    this.#count += 1;
  }

  areUnique(values: () => Iterable<unknown>): boolean {
    if (this.#isMissing) return false;
    const sorted = this.#hashes.subarray(0, this.#count).sort();
    const alike = new Set<number>();
    for (let index = 1; index < sorted.length; index++)
      if (sorted[index] === sorted[index - 1]) alike.add(sorted[index] as number);
    if (alike.size === 0) return true;
    const seen = new Set<string>();
    for (const value of values()) {
      const id = ownId(value) ?? '';
      if (!alike.has(hashOf(id))) continue;
      if (seen.has(id)) return false;
      seen.add(id);
    }
    return true;
  }
}

/** 53 bits, of two runs of FNV-1a. */
function hashOf(text: string): number {
  let [low, high] = [0x811c9dc5, 0x01000193];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b);
  }
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0);
}

function ownId(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { id } = value as { id?: unknown };
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  const text = String(id);
  return text !== '' && text.length <= ID_LENGTH_MAX ? text : undefined;
}

/** Writes items to a file that is there whole, or not at all. Gives their number and the hash of the file. */
export function writeItems(
  path: string,
  items: Iterable<Item>,
): { readonly count: number; readonly hash: string } {
  const hash = createHash('sha256');
  const descriptor = openSync(path, 'w', 0o600);
  let count = 0;
  let chunk = '';
  const flush = (): void => {
    hash.update(chunk);
    writeSync(descriptor, chunk);
    chunk = '';
  };
  for (const item of items) {
    count += 1;
    chunk += lineOf(item);
    if (chunk.length > CHUNK_CHARACTERS) flush();
  }
  flush();
  fsyncSync(descriptor);
  closeSync(descriptor);
  syncDirectoryOf(path);
  return { count, hash: hash.digest('hex') };
}

/** True where a file still has the items of that hash; also where it is gone or cannot be read: a run has its own. */
export function hasItems(file: string, jsonPath: string, hash: string): boolean {
  try {
    const found = createHash('sha256');
    for (const item of readInput(file, jsonPath).items()) found.update(lineOf(item));
    return found.digest('hex') === hash;
  } catch (thrown) {
    if (thrown instanceof RuntimeError) return true;
    throw thrown;
  }
}

const lineOf = ({ itemId, value }: Item): string => `${JSON.stringify([itemId, value])}\n`;

/** The items of a run by their index. */
export class ItemFile {
  readonly #descriptor: number;
  /** Where each line begins, and where the last one ends. */
  readonly #offsets: Float64Array;
  /** Small items that were asked for last: each is, several times while it is at work. */
  readonly #recent = new Map<number, Item>();

  /** @throws the system's error when there is no such file */
  constructor(path: string) {
    this.#descriptor = openSync(path, 'r');
    this.#offsets = offsetsOf(this.#descriptor);
  }

  get count(): number {
    return this.#offsets.length - 1;
  }

  at(index: number): Item {
    const known = this.#recent.get(index);
    if (known !== undefined) return known;
    const [begin, end] = [this.#offsets[index], this.#offsets[index + 1]];
    if (begin === undefined || end === undefined)
      throw new RangeError(`There is no item ${index}.`);
    const bytes = Buffer.alloc(end - begin);
    readSync(this.#descriptor, bytes, 0, bytes.length, begin);
    const [itemId, value] = JSON.parse(bytes.toString()) as [string, unknown];
    const item = { itemId, value };
    if (bytes.length > RECENT_BYTES_MAX) return item;
    const [oldest] = this.#recent.keys();
    if (this.#recent.size >= RECENT_MAX && oldest !== undefined) this.#recent.delete(oldest);
    this.#recent.set(index, item);
    return item;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function offsetsOf(descriptor: number): Float64Array {
  let offsets = new Float64Array(1_024);
  let count = 1;
  const bytes = Buffer.alloc(1 << 20);
  for (let at = 0; ; ) {
    const length = readSync(descriptor, bytes, 0, bytes.length, at);
    if (length === 0) return offsets.subarray(0, count);
    for (let found = bytes.indexOf(LINE_FEED); found >= 0 && found < length; ) {
      if (count === offsets.length) {
        const grown = new Float64Array(count * 2);
        grown.set(offsets);
        offsets = grown;
      }
      offsets[count] = at + found + 1;
      count += 1;
      found = bytes.indexOf(LINE_FEED, found + 1);
    }
    at += length;
  }
}
