/** A store that counts what it is given to write: the characters of all texts of a group, records and history above all. */

import type { Group, Settle, Store } from '../runtime/ports/store.ts';
import { StoreInFront } from '../test/store-in-front.ts';

export class CountedStore extends StoreInFront {
  written = 0;

  override commit(group: Group, settle: Settle): void {
    this.written += lengthOf(group.writes);
    super.commit(group, settle);
  }
}

export const countedStore = (behind: Store): CountedStore => new CountedStore(behind);

function lengthOf(what: unknown): number {
  if (typeof what === 'string') return what.length;
  if (typeof what !== 'object' || what === null) return 0;
  let length = 0;
  const parts = what instanceof Map ? [...what].flat() : Object.values(what);
  for (const part of parts) length += lengthOf(part);
  return length;
}
