/**
 * Queue in an array: first in, first out; now and then an item goes ahead of all.
 *
 * Guarantees: pushing and taking cost the same however many wait; its memory follows how many do.
 */

export class Queue<T> {
  #items: Array<T | undefined> = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  get last(): T | undefined {
    return this.#items.at(-1);
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Ahead of everything that waits. */
  pushFirst(item: T): void {
    this.#items.splice(this.#head, 0, item);
  }

  replaceLast(item: T): void {
    this.#items[this.#items.length - 1] = item;
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.size === 0) {
      this.#items.length = 0;
      this.#head = 0;
    } else if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  clear(): void {
    this.#items.length = 0;
    this.#head = 0;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let index = this.#head; index < this.#items.length; index += 1)
      yield this.#items[index] as T;
  }
}
