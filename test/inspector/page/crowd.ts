/**
 * Many actors on disk at once: one is spawned by the engine, and its record is copied to as many addresses.
 */

import { createRuntime } from '../../../create-runtime.ts';
import type { Store } from '../../../runtime/ports/store.ts';
import { lmdbStore } from '../../../stores/lmdb.ts';
import { orderMachine } from '../server/inspected.ts';

const GROUP_RECORDS = 2_000;

/** An order whose deadline does not come while somebody scrolls. */
export const patientOrder = orderMachine.provide({ delays: { limit: 3_600_000 } });

/** Orders `order/000000` and so on. */
export async function fillWithOrders(directory: string, place: string, count: number) {
  const name = (index: number): string => `order/${String(index).padStart(6, '0')}`;
  const runtime = await createRuntime({
    kinds: { order: patientOrder },
    place,
    store: lmdbStore(directory),
    telemetry: false,
  });
  await runtime.spawn(`order/${'0'.repeat(6)}`, { input: undefined });
  const fence = runtime.fence;
  await runtime.stop();
  const store = lmdbStore(directory);
  await store.open(place);
  const address = `${name(0)}@${place}`;
  const entry = store.entry(address);
  const record = store.load(address);
  if (entry === undefined || record === undefined) throw new Error('The first order is not there.');
  for (let first = 1; first < count; first += GROUP_RECORDS) {
    const writes = Array.from({ length: Math.min(GROUP_RECORDS, count - first) }, (_, index) => ({
      address: `${name(first + index)}@${place}`,
      record: record.replaceAll(address, `${name(first + index)}@${place}`),
      entry: { ...entry, turnAt: entry.turnAt + first + index },
      history: [],
    }));
    await committed(store, place, fence, writes);
  }
  await store.close();
}

function committed(
  store: Store,
  shard: string,
  fence: number,
  writes: Parameters<Store['commit']>[0]['writes'],
): Promise<void> {
  return new Promise((resolve, reject) => {
    store.commit({ shard, fence, writes }, (refusal) =>
      refusal === undefined ? resolve() : reject(refusal),
    );
  });
}
