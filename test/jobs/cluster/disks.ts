/**
 * Stores on real disks for a cluster: one LMDB directory for each place that asks for one.
 *
 * The disk takes real time and the simulated clock does not wait by itself, so anybody who moves it asks
 * `isBusy` first. A node that comes back reads its files again: nothing of the store before is in
 * memory. Two managers of one datacenter cannot share a directory while both run.
 */

import { cpSync, rmSync } from 'node:fs';
import type { Store } from '../../../runtime/ports/store.ts';
import { type Death, RecoveryStore, recoveryDirectory } from '../../durability/recovery-store.ts';

class DiskStore extends RecoveryStore {
  readonly #splitsGroups: boolean;

  constructor(directory: string, splitsGroups: boolean) {
    super(directory);
    this.#splitsGroups = splitsGroups;
  }

  override get isGroupAtomic(): boolean {
    return !this.#splitsGroups && super.isGroupAtomic;
  }

  override async open(place?: string): Promise<void> {
    await this.#during(() => super.open(place));
  }

  override async reopen(): Promise<void> {
    await this.#during(() => super.reopen());
  }

  /** Closing sets the count to 0, so it is counted apart. */
  #calls = 0;

  get isBusy(): boolean {
    return this.#calls > 0 || this.underWay > 0;
  }

  async #during(call: () => Promise<void>): Promise<void> {
    this.#calls += 1;
    try {
      await call();
    } finally {
      this.#calls -= 1;
    }
  }
}

export class Disks {
  readonly #stores = new Map<string, DiskStore>();
  readonly #copies: string[] = [];
  readonly #splitsGroups: boolean;

  /** With `splitsGroups` nothing is taken in the group that sends it: what happens is spread over more of them. */
  constructor(splitsGroups = false) {
    this.#splitsGroups = splitsGroups;
  }

  storeOf(place: string): Store {
    const known = this.#stores.get(place) ?? new DiskStore(recoveryDirectory(), this.#splitsGroups);
    this.#stores.set(place, known);
    return known;
  }

  /** Something is with a disk: time has to wait. */
  get isBusy(): boolean {
    return [...this.#stores.values()].some((store) => store.isBusy);
  }

  get underWay(): string {
    const busy = [...this.#stores].filter(([, store]) => store.isBusy);
    return busy.map(([place]) => `the disk of ${place}`).join(', ');
  }

  /** From now on the process of a place has this many groups to live; what follows is never heard of. */
  kill(place: string, death: Death): void {
    this.#stores.get(place)?.die(death);
  }

  /** True once the group has come that `kill` spoke of. */
  isKilled(place: string): boolean {
    return this.#stores.get(place)?.isSilent === true;
  }

  /** The process that had the files is gone; the next one begins with what is in them. */
  async reopen(place: string): Promise<void> {
    await this.#stores.get(place)?.reopen();
  }

  /** The files of a place whose node is down, as they are now. */
  async copy(place: string): Promise<string> {
    await this.reopen(place);
    const copy = recoveryDirectory();
    this.#copies.push(copy);
    cpSync(this.directoryOf(place), copy, { recursive: true });
    return copy;
  }

  /** An administrator puts a copy in the place of the files of a node that is down. */
  async restore(place: string, copy: string): Promise<void> {
    await this.reopen(place);
    const directory = this.directoryOf(place);
    rmSync(directory, { recursive: true, force: true });
    cpSync(copy, directory, { recursive: true });
  }

  /** When nothing runs any more. */
  async remove(): Promise<void> {
    for (const store of this.#stores.values()) {
      await store.close();
      rmSync(store.directory, { recursive: true, force: true });
    }
    for (const copy of this.#copies) rmSync(copy, { recursive: true, force: true });
  }

  directoryOf(place: string): string {
    const store = this.#stores.get(place);
    if (store === undefined) throw new Error(`There is no disk of "${place}".`);
    return store.directory;
  }
}
