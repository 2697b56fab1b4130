/**
 * Opens a store with many records and says how long that took and what memory it left in use.
 *
 *   node --expose-gc population-program.js DIRECTORY RECORDS
 *
 * Fills the directory first where it is empty.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../runtime/ports/store.ts';
import { lmdbStore } from '../../stores/lmdb.ts';

export interface Population {
  readonly records: number;
  readonly openMs: number;
  readonly heapBytes: number;
}

const [directory = '', count = '0'] = process.argv.slice(2);
const PLACE = 'town';
const GROUP_RECORDS = 2_000;
const gc = (globalThis as { gc?: () => void }).gc as () => void;

if (!existsSync(join(directory, 'data.mdb'))) await fill(Number(count));
else await look();

async function fill(records: number): Promise<void> {
  const store = lmdbStore(directory);
  await store.open(PLACE);
  const snapshot = { value: 'open', context: { note: 'x'.repeat(300) }, status: 'active' };
  for (let first = 0; first < records; first += GROUP_RECORDS) {
    const writes = Array.from({ length: Math.min(GROUP_RECORDS, records - first) }, (_, index) => ({
      address: `person/${first + index}@${PLACE}`,
      record: JSON.stringify({ format: 1, number: first + index, snapshot }),
      entry: {
        kind: 'person',
        status: 'active' as const,
        isPending: false,
        state: 'open',
        tags: [],
        dueAt: null,
        turnAt: first,
      },
      history: [],
    }));
    await committed(store, writes, 1);
  }
  await store.close();
}

function committed(
  store: Store,
  writes: Parameters<Store['commit']>[0]['writes'],
  fence: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    store.commit({ shard: PLACE, fence, writes }, (refusal) =>
      refusal === undefined ? resolve() : reject(refusal),
    );
  });
}

async function look(): Promise<void> {
  const before = await bytesInUse();
  const begun = performance.now();
  const store = lmdbStore(directory);
  await store.open(PLACE);
  const openMs = Math.round(performance.now() - begun);
  let records = 0;
  for (const [address] of store.entries()) {
    // A record is read and let go, as when a node looks for what has to be woken.
    if (store.load(address) !== undefined) records += 1;
  }
  // What the opening has remembered for the reading above is of no use after the first commit.
  await committed(store, [], 2);
  const heapBytes = (await bytesInUse()) - before;
  await store.close();
  process.stdout.write(JSON.stringify({ records, openMs, heapBytes } satisfies Population));
}

/** After everything that nobody holds any more is gone, buffers outside of the heap included. */
async function bytesInUse(): Promise<number> {
  for (let pass = 0; pass < 3; pass += 1) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
