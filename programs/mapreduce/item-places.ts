/**
 * Item places: numbers of the files in which attempts at work find their items.
 *
 * A place is taken again when nothing of the attempt that had it lives, so a run has as many files as it has attempts
 * at a time: to make a new one for each costs a file system more than to write it.
 */

export class ItemPlaces {
  readonly #taken = new Map<string, number>();
  readonly #free: number[] = [];
  #count = 0;

  /** Place of an attempt, the same until it is released. */
  of(attempt: string): number {
    const known = this.#taken.get(attempt);
    if (known !== undefined) return known;
    const place = this.#free.pop() ?? this.#count++;
    this.#taken.set(attempt, place);
    return place;
  }

  /** The attempt has ended. Its place is not used again where something of it may live. */
  release(attempt: string, isClean: boolean): void {
    const place = this.#taken.get(attempt);
    if (place === undefined) return;
    this.#taken.delete(attempt);
    if (isClean) this.#free.push(place);
  }
}
