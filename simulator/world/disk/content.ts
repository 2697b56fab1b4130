/**
 * Content of a pretend disk: records in memory, kept as a real store keeps them, and their damage.
 *
 * Guarantees: an image is all of it, fences and history too, and a restored disk is what it was. A
 * damaged record is neither listed nor loaded nor overwritten; where one is missing nothing is served.
 * Which node reads or writes, and when, is not its business.
 */

import { RuntimeError } from '../../../runtime/base/errors.ts';
import type {
  ActorWrite,
  Group,
  IndexEntry,
  RowChanges,
  Settle,
  Store,
  StoredRow,
} from '../../../runtime/ports/store.ts';
import { wholeRecord } from '../../../runtime/statechart.ts';
import { type MemoryStoreOptions, memoryStore } from '../../../stores/memory.ts';
import type { CommitFact } from '../../history.ts';

/** A copy of all that is on a disk. */
export interface DiskImage {
  readonly fences: ReadonlyMap<string, number>;
  readonly writes: readonly ActorWrite[];
  readonly damaged: ReadonlyMap<string, string>;
  /** What records that are missing said. */
  readonly missing: readonly ActorWrite[];
}

const HISTORY_ALL = Number.MAX_SAFE_INTEGER;
const WRONG_CHECKSUM = 'its checksum is wrong';

export class DiskContent {
  readonly #options: MemoryStoreOptions | undefined;
  #store: Store;
  /** All that there ever were: a store does not list them. */
  #shards = new Set<string>();
  #damaged = new Map<string, string>();
  #missing: readonly ActorWrite[] = [];

  constructor(options: MemoryStoreOptions | undefined) {
    this.#options = options;
    this.#store = memoryStore(options);
  }

  /** Everything that is sound, and what is damaged: see `expectSound`. */
  get store(): Store {
    return this.#store;
  }

  get damaged(): ReadonlyMap<string, string> {
    return this.#damaged;
  }

  /** @throws {RuntimeError} STORE_DAMAGED */
  expectComplete(): void {
    if (this.#missing.length === 0) return;
    const what =
      'The disk is damaged: a record is missing. Nothing of it is served; restore a copy.';
    throw new RuntimeError('STORE_DAMAGED', what);
  }

  /** @throws {RuntimeError} RECORD_DAMAGED */
  expectSound(address: string): void {
    if (this.#damaged.has(address)) throw damagedRecord(address);
  }

  /** Why nothing of a group can be written. */
  refusalOf({ writes }: Group): RuntimeError | undefined {
    const hit = writes.find(({ address }) => this.#damaged.has(address));
    return hit === undefined ? undefined : damagedRecord(hit.address);
  }

  /** The shard has a newer holder. */
  isStale({ shard, fence }: Group): boolean {
    return fence < this.#store.fence(shard);
  }

  /** Writes these records of a group. */
  commit(group: Group, writes: readonly ActorWrite[], settle: Settle): void {
    this.#shards.add(group.shard);
    this.#store.commit(writes === group.writes ? group : { ...group, writes }, settle);
  }

  keep(): DiskImage {
    const store = this.#store;
    const writes = Array.from(store.entries(), ([address, entry]) => this.#written(address, entry));
    // Undelivered messages need nobody's record.
    const undelivered = [...store.undelivered()];
    if (undelivered.length > 0)
      writes.push({ address: '', record: null, entry: null, history: [], undelivered });
    return {
      fences: new Map([...this.#shards].map((shard) => [shard, store.fence(shard)])),
      writes,
      damaged: new Map(this.#damaged),
      missing: this.#missing,
    };
  }

  restore({ fences, writes, damaged, missing }: DiskImage): void {
    this.#store = memoryStore(this.#options);
    this.#shards = new Set(fences.keys());
    this.#damaged = new Map(damaged);
    this.#missing = missing;
    for (const [shard, fence] of fences) this.#store.commit({ shard, fence, writes: [] }, () => {});
    this.#store.commit({ shard: '', fence: 0, writes }, () => {});
  }

  forget(): void {
    this.#store = memoryStore(this.#options);
    this.#shards = new Set();
    this.#damaged = new Map();
    this.#missing = [];
  }

  damage(address: string): boolean {
    if (this.#store.load(address) === undefined) return false;
    this.#damaged.set(address, WRONG_CHECKSUM);
    return true;
  }

  lose(address: string): boolean {
    const found = [...this.#store.entries()].find(([stored]) => stored === address);
    if (found === undefined) return false;
    this.#missing = [...this.#missing, this.#written(...found)];
    const write = { address, record: null, entry: null, history: [] };
    this.#store.commit({ shard: '', fence: 0, writes: [write] }, () => {});
    this.#damaged.delete(address);
    return true;
  }

  /** The record of this address is as it was; what else is wrong stays so. */
  mend(address: string): void {
    const { writes, damaged, missing, ...others } = this.keep();
    const isOther = (write: ActorWrite): boolean => write.address !== address;
    const back = missing.filter((write) => !isOther(write));
    this.restore({
      ...others,
      writes: back.length === 0 ? writes : [...writes.filter(isOther), ...back],
      damaged: new Map([...damaged].filter(([other]) => other !== address)),
      missing: missing.filter(isOther),
    });
  }

  addresses(): readonly string[] {
    return Array.from(this.#store.entries(), ([address]) => address);
  }

  recordOf(address: string): string | undefined {
    return this.#store.load(address);
  }

  /** What these actors have on the disk now, with their tables in the record. */
  written(writes: readonly ActorWrite[]): CommitFact['writes'] {
    return writes.map(({ address, record }) => ({
      address,
      record: record === null ? null : wholeRecord(record, this.#store.rows(address)),
    }));
  }

  #written(address: string, entry: IndexEntry): ActorWrite {
    const record = this.#store.load(address) as string;
    const rows = changesOf(this.#store.rows(address));
    return { address, record, rows, entry, history: this.#store.history(address, HISTORY_ALL) };
  }
}

function changesOf(rows: Iterable<StoredRow>): RowChanges {
  const changes = new Map<string, Map<string, string>>();
  for (const [name, key, text] of rows) {
    const table = changes.get(name) ?? new Map<string, string>();
    changes.set(name, table.set(key, text));
  }
  return changes;
}

function damagedRecord(address: string): RuntimeError {
  const what = `The record of ${address} is damaged: ${WRONG_CHECKSUM}. Its actor is left alone; restore a copy of the store to get it back.`;
  return new RuntimeError('RECORD_DAMAGED', what, { address });
}
