/**
 * Stores at the end of a run: what lies in them, and which of them have lost something.
 *
 * Guarantees: what was written last for an actor counts, also when nobody told of the turn because
 * its node died. It costs nothing until somebody asks.
 */

import {
  type CommitRecord,
  isWritten,
  lostDisk,
  partsOf,
  type StoredParts,
} from '../../invariants.ts';
import type { ActorRecord, FaultRecord, TurnRecord } from './reading-turns.ts';

export class Stores {
  readonly #groups: CommitRecord[] = [];

  readonly commit = (record: CommitRecord): void => {
    if (isWritten(record)) this.#groups.push(record);
  };

  /** The last record of every actor whose address begins so; what was taken out of the store is left out. */
  ofKind(kind: string): ReadonlyMap<string, string> {
    const prefix = `${kind}/`;
    const texts = new Map<string, string>();
    for (const { writes } of this.#groups) {
      for (const { address, record } of writes) {
        if (!address.startsWith(prefix)) continue;
        if (record === null) texts.delete(address);
        else texts.set(address, record);
      }
    }
    return texts;
  }

  /** The last record of one actor; undefined when none was ever written, or it was taken out. */
  find(address: string): StoredParts | undefined {
    for (let index = this.#groups.length - 1; index >= 0; index -= 1) {
      const found = this.#groups[index]?.writes.findLast((write) => write.address === address);
      if (found !== undefined) return found.record === null ? undefined : partsOf(found.record);
    }
    return undefined;
  }
}

/**
 * When places last lost something that once was durable there: their disk is gone, their jobs service, which is
 * spawned once, was spawned again, or their pool went back. What two places know of each other says nothing
 * from then until they have been reunited.
 */
export class Losses {
  readonly #services = new Set<string>();
  readonly #pools = new Map<string, number>();
  readonly #lostAtMs = new Map<string, number>();

  readonly actor = ({ kind, change, place, atMs }: ActorRecord): void => {
    if (kind !== 'desk' || change !== 'born') return;
    if (this.#services.has(place)) this.#lostAtMs.set(place, atMs);
    this.#services.add(place);
  };

  readonly turn = ({ kind, place, turn, atMs }: TurnRecord): void => {
    if (kind !== 'worker-pool') return;
    if (turn <= (this.#pools.get(place) ?? 0)) this.#lostAtMs.set(place, atMs);
    this.#pools.set(place, turn);
  };

  readonly fault = (record: FaultRecord): void => {
    const place = lostDisk(record);
    if (place !== undefined) this.#lostAtMs.set(place, record.atMs);
  };

  has(place: string): boolean {
    return this.#lostAtMs.has(place);
  }

  /** True time of the last loss; undefined when it has lost nothing. */
  lostAtMs(place: string): number | undefined {
    return this.#lostAtMs.get(place);
  }
}
