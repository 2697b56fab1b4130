/**
 * Shares of clients in something limited: how much each has, and whether one may have more.
 *
 * Guarantees: alone a client may have all there is; once half of it is taken each may have its part:
 * all of it divided by how many have any. What is asked costs the same however many there are.
 */

/** Part of the bound from which on each client has its share of it only. */
const CROWDED = 0.5;
/** Shares get smaller with each client that comes: together they never exceed the bound times this. */
const SHARED_FACTOR = 2;

export class Shares {
  readonly #byClient = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Those that have any. */
  get clients(): number {
    return this.#byClient.size;
  }

  /** `count` may be negative, by what was added before. */
  add(client: string, count: number): void {
    this.#total += count;
    const own = (this.#byClient.get(client) ?? 0) + count;
    if (own > 0) this.#byClient.set(client, own);
    else this.#byClient.delete(client);
  }

  clear(): void {
    this.#byClient.clear();
    this.#total = 0;
  }

  hasRoom(client: string, max: number): boolean {
    if (this.#total < max * CROWDED) return true;
    const own = this.#byClient.get(client) ?? 0;
    const clients = this.#byClient.size + (own === 0 ? 1 : 0);
    return own < max / clients && this.#total < SHARED_FACTOR * max;
  }
}
