/**
 * Tables of a machine: rows by name, for a context that keeps one entry for each of many things.
 *
 *   context: () => ({ attempts: Table.of<Attempt>() })
 *   assign({ attempts: ({ context, event }) => context.attempts.with(event.id, { cores: event.cores }) })
 *
 * Guarantees: a table never changes; `with` and `without` make another one and share with it all that
 * is alike, so that a change costs the same with ten rows and with a hundred thousand. Rows come in the
 * order of their keys. As a member of the context of an actor's own machine it is stored row by row, and
 * a turn writes the rows that it has changed; anywhere else in what is stored it is refused. A row is
 * JSON, and is replaced and not changed, as everything in a context is.
 */

import { excerpt, RuntimeError } from './errors.ts';

/** A tree whose sides differ in size by a factor at most (Adams, "Functional Pearls: Efficient sets"). */
interface Node<T> {
  readonly key: string;
  readonly row: T;
  readonly left: Node<T> | undefined;
  readonly right: Node<T> | undefined;
  readonly size: number;
}

type Tree<T> = Node<T> | undefined;

/** Factor by which the rows of one side may outnumber those of the other. */
const DELTA = 3;
/** Ratio below which one rotation is enough to make up for that. */
const RATIO = 2;

/** True while a record is encoded: what is a table then has no rows of its own. */
let isStoring = false;

export class Table<T> implements Iterable<readonly [key: string, row: T]> {
  readonly #root: Tree<T>;

  private constructor(root: Tree<T>) {
    this.#root = root;
  }

  /**
   * Makes a table of an object, of pairs, or of a table, which is given back as it is. Of two rows of one
   * key the later counts.
   */
  static of<T>(
    rows: Table<T> | Iterable<readonly [key: string, row: T]> | Readonly<Record<string, T>> = [],
  ): Table<T> {
    if (rows instanceof Table) return rows as Table<T>;
    const pairs: Array<readonly [string, T]> =
      Symbol.iterator in rows ? [...(rows as Iterable<[string, T]>)] : Object.entries(rows);
    return new Table<T>(isSorted(pairs) ? halved(pairs, 0, pairs.length) : built(pairs));
  }

  /**
   * Changes from `before` to `after`: the rows that are new or replaced, and undefined for those that are
   * gone.
   */
  static *changes<T>(
    before: Table<T> = Table.of(),
    after: Table<T> = Table.of(),
  ): Iterable<readonly [key: string, row: T | undefined]> {
    const old = new Walk(before.#root);
    const now = new Walk(after.#root);
    for (let one = old.top, other = now.top; one ?? other; one = old.top, other = now.top) {
      if (one === other && old.isRow === now.isRow) {
        old.pass();
        now.pass();
      } else if (one && !old.isRow && (!other || now.isRow || one.size >= other.size)) old.open();
      else if (other && !now.isRow) now.open();
      else if (!other || (one && one.key < other.key)) {
        yield [(one as Node<T>).key, undefined];
        old.pass();
      } else {
        if (one?.key !== other.key || one.row !== other.row) yield [other.key, other.row];
        if (one?.key === other.key) old.pass();
        now.pass();
      }
    }
  }

  get size(): number {
    return sizeOf(this.#root);
  }

  has(key: string): boolean {
    return find(this.#root, key) !== undefined;
  }

  get(key: string): T | undefined {
    return find(this.#root, key)?.row;
  }

  /** Makes a table with this row, in place of one of the same key. */
  with(key: string, row: T): Table<T> {
    return this.get(key) === row && this.has(key) ? this : new Table(put(this.#root, key, row));
  }

  without(key: string): Table<T> {
    return this.has(key) ? new Table(taken(this.#root as Node<T>, key)) : this;
  }

  /** Yields entries in the order of the keys; with `from`, those that are not before it. */
  *entries(from = ''): Generator<readonly [key: string, row: T]> {
    const above: Node<T>[] = [];
    let node = this.#root;
    while (node !== undefined || above.length > 0) {
      if (node === undefined) {
        const next = above.pop() as Node<T>;
        yield [next.key, next.row];
        node = next.right;
      } else if (node.key < from) node = node.right;
      else {
        above.push(node);
        node = node.left;
      }
    }
  }

  /** The row whose key is the greatest. */
  last(): readonly [key: string, row: T] | undefined {
    const node = this.#root && end(this.#root, 'right');
    return node && [node.key, node.row];
  }

  *keys(): Generator<string> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): Generator<T> {
    for (const [, row] of this.entries()) yield row;
  }

  [Symbol.iterator](): Generator<readonly [key: string, row: T]> {
    return this.entries();
  }

  /**
   * Gives the table as an object. @throws {RuntimeError} TABLE_MISPLACED where it is stored as part of
   * something else.
   */
  toJSON(name?: string): Record<string, T> {
    if (!isStoring) return Object.fromEntries(this.entries());
    const what = `A table stands at ${excerpt(name ?? '')}, where it cannot be stored row by row. Keep it as a member of the context of the actor's own machine, and give children and messages what they need of it, or its toJSON().`;
    throw new RuntimeError('TABLE_MISPLACED', what);
  }
}

/** Refuses every table that comes up while something is encoded to be stored. */
export function refusingTables<T>(encode: () => T): T {
  const wasStoring = isStoring;
  isStoring = true;
  try {
    return encode();
  } finally {
    isStoring = wasStoring;
  }
}

/** Goes through a tree in the order of its keys, and over whole parts of it where there is nothing to see. */
class Walk<T> {
  readonly #parts: Node<T>[] = [];
  readonly #areRows: boolean[] = [];

  constructor(root: Tree<T>) {
    this.#push(root, false);
  }

  /** The next row, or the part that begins with it. */
  get top(): Tree<T> {
    return this.#parts.at(-1);
  }

  get isRow(): boolean {
    return this.#areRows.at(-1) ?? true;
  }

  pass(): void {
    this.#parts.pop();
    this.#areRows.pop();
  }

  /** Takes a part for what it is made of. */
  open(): void {
    const node = this.top as Node<T>;
    this.pass();
    this.#push(node.right, false);
    this.#push(node, true);
    this.#push(node.left, false);
  }

  #push(node: Tree<T>, isRow: boolean): void {
    if (node === undefined) return;
    this.#parts.push(node);
    this.#areRows.push(isRow || node.size === 1);
  }
}

function sizeOf(tree: Tree<unknown>): number {
  return tree === undefined ? 0 : tree.size;
}

function nodeOf<T>(key: string, row: T, left: Tree<T>, right: Tree<T>): Node<T> {
  return { key, row, left, right, size: sizeOf(left) + sizeOf(right) + 1 };
}

/** The same after one row more or less on either side. */
function balanced<T>(key: string, row: T, left: Tree<T>, right: Tree<T>): Node<T> {
  const [ofLeft, ofRight] = [sizeOf(left), sizeOf(right)];
  if (ofLeft + ofRight > 1) {
    if (ofRight > DELTA * ofLeft) return turnedLeft(key, row, left, right as Node<T>);
    if (ofLeft > DELTA * ofRight) return turnedRight(key, row, left as Node<T>, right);
  }
  return nodeOf(key, row, left, right);
}

function turnedLeft<T>(key: string, row: T, left: Tree<T>, right: Node<T>): Node<T> {
  const { left: middle } = right;
  if (middle === undefined || sizeOf(middle) < RATIO * sizeOf(right.right))
    return nodeOf(right.key, right.row, nodeOf(key, row, left, middle), right.right);
  const lower = nodeOf(key, row, left, middle.left);
  const upper = nodeOf(right.key, right.row, middle.right, right.right);
  return nodeOf(middle.key, middle.row, lower, upper);
}

function turnedRight<T>(key: string, row: T, left: Node<T>, right: Tree<T>): Node<T> {
  const { right: middle } = left;
  if (middle === undefined || sizeOf(middle) < RATIO * sizeOf(left.left))
    return nodeOf(left.key, left.row, left.left, nodeOf(key, row, middle, right));
  const lower = nodeOf(left.key, left.row, left.left, middle.left);
  const upper = nodeOf(key, row, middle.right, right);
  return nodeOf(middle.key, middle.row, lower, upper);
}

function find<T>(tree: Tree<T>, key: string): Tree<T> {
  let node = tree;
  while (node !== undefined && node.key !== key) node = key < node.key ? node.left : node.right;
  return node;
}

function put<T>(tree: Tree<T>, key: string, row: T): Node<T> {
  if (tree === undefined) return nodeOf(key, row, undefined, undefined);
  const { left, right } = tree;
  if (key < tree.key) return balanced(tree.key, tree.row, put(left, key, row), right);
  if (key > tree.key) return balanced(tree.key, tree.row, left, put(right, key, row));
  return nodeOf(key, row, left, right);
}

/** Removes a key that is there. */
function taken<T>(tree: Node<T>, key: string): Tree<T> {
  const { left, right } = tree;
  if (key < tree.key) return balanced(tree.key, tree.row, taken(left as Node<T>, key), right);
  if (key > tree.key) return balanced(tree.key, tree.row, left, taken(right as Node<T>, key));
  if (left === undefined) return right;
  if (right === undefined) return left;
  // The neighbour on the larger side takes its place.
  if (left.size > right.size) {
    const last = end(left, 'right');
    return balanced(last.key, last.row, taken(left, last.key), right);
  }
  const first = end(right, 'left');
  return balanced(first.key, first.row, left, taken(right, first.key));
}

function end<T>(tree: Node<T>, side: 'left' | 'right'): Node<T> {
  let node = tree;
  for (let next = node[side]; next !== undefined; next = node[side]) node = next;
  return node;
}

function isSorted(pairs: ReadonlyArray<readonly [key: string, row: unknown]>): boolean {
  return pairs.every(([key], at) => at === 0 || (pairs[at - 1]?.[0] as string) < key);
}

function built<T>(pairs: ReadonlyArray<readonly [key: string, row: T]>): Tree<T> {
  let tree: Tree<T>;
  for (const [key, row] of pairs) tree = put(tree, key, row);
  return tree;
}

function halved<T>(
  pairs: ReadonlyArray<readonly [key: string, row: T]>,
  from: number,
  to: number,
): Tree<T> {
  if (from === to) return undefined;
  const middle = (from + to) >> 1;
  const [key, row] = pairs[middle] as readonly [string, T];
  return nodeOf(key, row, halved(pairs, from, middle), halved(pairs, middle + 1, to));
}
