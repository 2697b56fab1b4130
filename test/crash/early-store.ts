/**
 * A store that settles a group before the store behind it has even seen it: the fault that the
 * crash rig and the trace must find.
 *
 * The page cache survives a killed process, so settling before LMDB's sync would go unnoticed
 * by a kill; what is lost here was never handed over.
 */

import type { Group, Settle } from '../../runtime/ports/store.ts';
import { StoreInFront } from '../store-in-front.ts';

const LATE_MS = 30;

export class EarlyStore extends StoreInFront {
  #handedOver: Promise<void> = Promise.resolve();

  override commit(group: Group, settle: Settle): void {
    setImmediate(() => settle());
    // The engine changes nothing of a group that it has handed over.
    const waited = new Promise((resolve) => setTimeout(resolve, LATE_MS));
    this.#handedOver = Promise.all([this.#handedOver, waited]).then(
      () => new Promise((resolve) => this.behind.commit(group, () => resolve())),
    );
  }

  override async close(): Promise<void> {
    await this.#handedOver;
    await this.behind.close();
  }
}
