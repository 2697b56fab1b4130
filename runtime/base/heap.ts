/**
 * A 4-ary heap whose items know their place, so that any of them can be moved or removed.
 *
 * Guarantees: the item with the lowest key is on top, of equal keys the one with the
 * lowest order; push, pop, move and remove take O(log n). Keys and orders lie in one
 * array of numbers (16 bytes per item), so sifting reads neighbours and no objects.
 * An item is in one heap at most. Its memory follows the largest size it ever had.
 */

/** Item of a heap. The heap alone writes `position`. */
export interface HeapItem {
  /** Place in the heap, or `OUTSIDE`. */
  position: number;
}

/** The position of an item that is in no heap. */
export const OUTSIDE = -1;

const CAPACITY_AT_START = 16;

export class Heap<T extends HeapItem> {
  readonly #items: T[] = [];
  /** Key and order of the item at `i` are at `2i` and `2i + 1`. */
  #ranks = new Float64Array(2 * CAPACITY_AT_START);

  get size(): number {
    return this.#items.length;
  }

  /** The item on top. */
  peek(): T | undefined {
    return this.#items[0];
  }

  /** The key `item` waits under; meaningless for an item outside. */
  keyOf(item: T): number {
    return this.#ranks[2 * item.position] as number;
  }

  orderOf(item: T): number {
    return this.#ranks[2 * item.position + 1] as number;
  }

  /** Adds an item that is outside. Neither number may be NaN. */
  push(item: T, key: number, order: number): void {
    const at = this.#items.length;
    if (2 * at === this.#ranks.length) {
      const larger = new Float64Array(4 * at);
      larger.set(this.#ranks);
      this.#ranks = larger;
    }
    this.#items.push(item);
    this.#siftUp(at, item, key, order);
  }

  /** Takes the top item out. */
  pop(): T | undefined {
    const top = this.#items[0];
    if (top !== undefined) this.remove(top);
    return top;
  }

  /** Gives an item of this heap another key and order. */
  move(item: T, key: number, order: number): void {
    this.#settle(item.position, item, key, order);
  }

  /** Takes an item of this heap out. */
  remove(item: T): void {
    const at = item.position;
    const end = this.#items.length - 1;
    const last = this.#items.pop() as T;
    item.position = OUTSIDE;
    if (at === end) return;
    this.#settle(at, last, this.#ranks[2 * end] as number, this.#ranks[2 * end + 1] as number);
  }

  /** Takes out every item for which `isKept` is false, in O(n). */
  retain(isKept: (item: T) => boolean): void {
    const items = this.#items;
    const ranks = this.#ranks;
    let kept = 0;
    for (let i = 0; i < items.length; i++) {
      const item = items[i] as T;
      if (isKept(item)) {
        this.#place(kept++, item, ranks[2 * i] as number, ranks[2 * i + 1] as number);
      } else {
        item.position = OUTSIDE;
      }
    }
    items.length = kept;
    for (let at = (kept - 2) >> 2; at >= 0; at--) {
      this.#siftDown(at, items[at] as T, ranks[2 * at] as number, ranks[2 * at + 1] as number);
    }
  }

  #settle(at: number, item: T, key: number, order: number): void {
    const parent = (at - 1) >> 2;
    const parentKey = this.#ranks[2 * parent] as number;
    const parentOrder = this.#ranks[2 * parent + 1] as number;
    if (at > 0 && isBefore(key, order, parentKey, parentOrder)) {
      this.#siftUp(at, item, key, order);
    } else {
      this.#siftDown(at, item, key, order);
    }
  }

  /** Moves the hole at `at` upwards until `item` fits into it. */
  #siftUp(at: number, item: T, key: number, order: number): void {
    const ranks = this.#ranks;
    let hole = at;
    while (hole > 0) {
      const parent = (hole - 1) >> 2;
      const parentKey = ranks[2 * parent] as number;
      const parentOrder = ranks[2 * parent + 1] as number;
      if (!isBefore(key, order, parentKey, parentOrder)) break;
      this.#place(hole, this.#items[parent] as T, parentKey, parentOrder);
      hole = parent;
    }
    this.#place(hole, item, key, order);
  }

  /** Moves the hole at `at` downwards until `item` fits into it. */
  #siftDown(at: number, item: T, key: number, order: number): void {
    const ranks = this.#ranks;
    const size = this.#items.length;
    let hole = at;
    for (let child = 4 * hole + 1; child < size; child = 4 * hole + 1) {
      let least = child;
      let leastKey = ranks[2 * child] as number;
      let leastOrder = ranks[2 * child + 1] as number;
      const end = Math.min(child + 4, size);
      for (let next = child + 1; next < end; next++) {
        const nextKey = ranks[2 * next] as number;
        if (nextKey > leastKey) continue;
        const nextOrder = ranks[2 * next + 1] as number;
        if (nextKey === leastKey && nextOrder >= leastOrder) continue;
        least = next;
        leastKey = nextKey;
        leastOrder = nextOrder;
      }
      if (!isBefore(leastKey, leastOrder, key, order)) break;
      this.#place(hole, this.#items[least] as T, leastKey, leastOrder);
      hole = least;
    }
    this.#place(hole, item, key, order);
  }

  #place(at: number, item: T, key: number, order: number): void {
    this.#items[at] = item;
    this.#ranks[2 * at] = key;
    this.#ranks[2 * at + 1] = order;
    item.position = at;
  }
}

function isBefore(key: number, order: number, otherKey: number, otherOrder: number): boolean {
  return key < otherKey || (key === otherKey && order < otherOrder);
}
