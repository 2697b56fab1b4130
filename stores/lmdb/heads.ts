/**
 * Memory of the LMDB store: the heads of rows that it wrote or read lately.
 *
 * Every write needs the row before it: its checksum, its index keys, where its history is.
 * Two generations of bounded size: when the young one is full it becomes the old one, and the
 * old one is dropped, between two commits: what a commit changes is not in the store before it is
 * settled, and must not be read from there. A forgotten row is read again.
 */

import { knob } from '../../runtime/base/knob.ts';
import type { RowHead } from './row.ts';

const GENERATION_MAX = knob('lmdbHeadsGenerationMax', 8_192);

export class Heads {
  #young = new Map<string, RowHead | null>();
  #old = new Map<string, RowHead | null>();
  readonly #read: (address: string) => RowHead | undefined;

  constructor(read: (address: string) => RowHead | undefined) {
    this.#read = read;
  }

  get(address: string): RowHead | undefined {
    const known = this.#young.get(address);
    if (known !== undefined) return known ?? undefined;
    const older = this.#old.get(address);
    const found = older === undefined ? (this.#read(address) ?? null) : older;
    this.set(address, found);
    return found ?? undefined;
  }

  /** Null: there is no such row. */
  set(address: string, head: RowHead | null): void {
    this.#young.set(address, head);
  }

  /** Forgets the old generation when the young one is full; the commit before must be settled. */
  age(): void {
    if (this.#young.size < GENERATION_MAX.value) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
  }
}
