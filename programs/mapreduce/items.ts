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
import { syncDirectoryOf } from './run-folder.ts';

export interface Item {
  readonly itemId: string;
  readonly value: unknown;
}

const ID_LENGTH_MAX = 128;
const CHUNK_CHARACTERS = 65_536;
const LINE_FEED = 10;

/** Checks a JSONPath. @throws {RuntimeError} INPUT_INVALID */
export function checkPath(jsonPath: string): void {
  inInput(`JSONPath ${jsonPath}`, () => compile(jsonPath));
}

/** The values that a path finds in a file. @throws {RuntimeError} INPUT_INVALID */
export function readInput(file: string, jsonPath: string): unknown[] {
  const text = inInput(file, () => readFileSync(file, 'utf8'));
  const document = inInput(file, () => JSON.parse(text) as never);
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
    const kind = thrown instanceof JSONPathError ? 'is no valid path' : 'cannot be read';
    throw new RuntimeError('INPUT_INVALID', `${what} ${kind}: ${messageOf(thrown)}`);
  }
}

/** Items with their ids: their own if all have one and no two the same, otherwise by their place. */
export function* withIds(values: readonly unknown[]): Iterable<Item> {
  const seen = new Set<string>();
  const ids: string[] = [];
  for (const value of values) {
    const id = ownId(value);
    if (id === undefined || seen.has(id)) break;
    seen.add(id);
    ids.push(id);
  }
  const haveIds = ids.length === values.length;
  for (const [index, value] of values.entries())
    yield { itemId: haveIds ? (ids[index] as string) : `item_${index}`, value };
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
  for (const { itemId, value } of items) {
    count += 1;
    chunk += `${JSON.stringify([itemId, value])}\n`;
    if (chunk.length > CHUNK_CHARACTERS) flush();
  }
  flush();
  fsyncSync(descriptor);
  closeSync(descriptor);
  syncDirectoryOf(path);
  return { count, hash: hash.digest('hex') };
}

/** The items of a run by their index. */
export class ItemFile {
  readonly #descriptor: number;
  /** Where each line begins, and where the last one ends. */
  readonly #offsets: readonly number[];

  /** @throws the system's error when there is no such file */
  constructor(path: string) {
    this.#descriptor = openSync(path, 'r');
    this.#offsets = offsetsOf(this.#descriptor);
  }

  get count(): number {
    return this.#offsets.length - 1;
  }

  at(index: number): Item {
    const [begin, end] = [this.#offsets[index], this.#offsets[index + 1]];
    if (begin === undefined || end === undefined)
      throw new RangeError(`There is no item ${index}.`);
    const bytes = Buffer.alloc(end - begin);
    readSync(this.#descriptor, bytes, 0, bytes.length, begin);
    const [itemId, value] = JSON.parse(bytes.toString()) as [string, unknown];
    return { itemId, value };
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function offsetsOf(descriptor: number): readonly number[] {
  const offsets = [0];
  const bytes = Buffer.alloc(1 << 20);
  for (let at = 0; ; ) {
    const length = readSync(descriptor, bytes, 0, bytes.length, at);
    if (length === 0) return offsets;
    for (let found = bytes.indexOf(LINE_FEED); found >= 0 && found < length; ) {
      offsets.push(at + found + 1);
      found = bytes.indexOf(LINE_FEED, found + 1);
    }
    at += length;
  }
}
