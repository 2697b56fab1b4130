/**
 * Item places: numbers of the files in which attempts at work find their items, and those files.
 *
 * A place is taken again when nothing of the attempt that had it lives, so a run has as many files as it has attempts
 * at a time: to make a new one for each costs a file system more than to write it, and so does opening one again. The
 * first places keep theirs open, unless a command has taken it away.
 */

import { closeSync, fstatSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs';

/** Files kept open. */
const OPEN_MAX = 64;

interface OpenFile {
  readonly path: string;
  readonly descriptor: number;
  length: number;
}

export class ItemPlaces {
  readonly #taken = new Map<string, number>();
  readonly #free: number[] = [];
  readonly #open = new Map<number, OpenFile>();
  readonly #openMax: number;
  #count = 0;

  constructor(openMax = OPEN_MAX) {
    this.#openMax = openMax;
  }

  /** Place of an attempt, the same until it is released. */
  of(attempt: string): number {
    const known = this.#taken.get(attempt);
    if (known !== undefined) return known;
    const place = this.#free.pop() ?? this.#count++;
    this.#taken.set(attempt, place);
    return place;
  }

  /** Writes the item of an attempt into the file of its place. */
  write(place: number, path: string, text: string): void {
    if (place >= this.#openMax) {
      writeFileSync(path, text, { mode: 0o600 });
      return;
    }
    const bytes = Buffer.from(text);
    const file = this.#file(place, path);
    for (let at = 0; at < bytes.length; )
      at += writeSync(file.descriptor, bytes, at, bytes.length - at, at);
    if (bytes.length < file.length) ftruncateSync(file.descriptor, bytes.length);
    file.length = bytes.length;
  }

  /** The attempt has ended. Its place is not used again where something of it may live. */
  release(attempt: string, isClean: boolean): void {
    const place = this.#taken.get(attempt);
    if (place === undefined) return;
    this.#taken.delete(attempt);
    if (isClean) this.#free.push(place);
    else this.#close(place);
  }

  close(): void {
    for (const place of [...this.#open.keys()]) this.#close(place);
  }

  #file(place: number, path: string): OpenFile {
    const known = this.#open.get(place);
    if (known?.path === path) {
      const { nlink, size } = fstatSync(known.descriptor);
      // A command may have written into it.
      known.length = size;
      if (nlink > 0) return known;
    }
    this.#close(place);
    const file = { path, descriptor: openSync(path, 'w', 0o600), length: 0 };
    this.#open.set(place, file);
    return file;
  }

  #close(place: number): void {
    const file = this.#open.get(place);
    if (file === undefined) return;
    this.#open.delete(place);
    closeSync(file.descriptor);
  }
}
