/**
 * Image of the disk of each place, as the commits tell it.
 *
 * Guarantees: the image of an actor is the record that was written last. A place is kept when
 * something was ever committed for it; of the others nobody can say what they
 * should remember. A disk that was lost, or put back to an older copy, is begun again: what was
 * on it says nothing about what is on it now.
 */

import { placeOf } from '../../runtime/base/address.ts';
import type { HistoryRecord } from '../history.ts';
import { type CommitRecord, isWritten } from './reading-holders.ts';

/** The kind of the fault that takes a place its data, or puts older data there; `about` names the place. */
const DISK_LOST = 'diskLost';

type FaultRecord = Extract<HistoryRecord, { readonly type: 'fault' }>;
type LogRecord = Extract<HistoryRecord, { readonly type: 'log' }>;

export class Disks {
  readonly #texts = new Map<string, string>();
  readonly #kept = new Set<string>();

  commit(record: CommitRecord): void {
    if (!isWritten(record)) return;
    this.#kept.add(record.place);
    for (const { address, record: text } of record.writes) {
      if (text === null) this.#texts.delete(address);
      else this.#texts.set(address, text);
    }
  }

  fault(record: FaultRecord): void {
    const place = lostDisk(record);
    if (place === undefined) return;
    this.#kept.delete(place);
    for (const address of this.#texts.keys())
      if (placeOf(address) === place) this.#texts.delete(address);
  }

  /** Whether the place has a disk that something was committed to. */
  isKept(place: string): boolean {
    return this.#kept.has(place);
  }

  /** The record of an actor; undefined when there is none. */
  of(address: string): string | undefined {
    return this.#texts.get(address);
  }

  entries(): Iterable<readonly [address: string, text: string]> {
    return this.#texts;
  }
}

/** The place whose data is gone with this fault; undefined for any other. */
export function lostDisk({ kind, change, about }: FaultRecord): string | undefined {
  if (kind !== DISK_LOST || change === 'ended') return undefined;
  return (about as { readonly place?: string } | null)?.place;
}

/** The actor that a node cannot read from its record and leaves alone, as its log has it. */
export function unreadable({ level, fields }: LogRecord): string | undefined {
  const { address } = fields;
  return level === 'error' && typeof address === 'string' ? address : undefined;
}
