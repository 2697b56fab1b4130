/** Limits of an LMDB store, and groups that cannot be put together. */

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Store } from '../../runtime/ports/store.ts';
import { Environment } from '../../stores/lmdb/environment.ts';
import { type LmdbStoreOptions, lmdbStore } from '../../stores/lmdb.ts';
import { commitAll, group, write } from '../contracts/store-groups.ts';

let directory: string;
let store: Store;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'escapement-limits-'));
});
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

async function open(options: LmdbStoreOptions = {}): Promise<void> {
  store = lmdbStore(directory, options);
  await store.open();
}

test('a data file of its full size refuses groups, loses nothing, and takes them with more room', async () => {
  await open({ sizeBytesMax: 1024 ** 2 });
  const record = randomBytes(37_500).toString('base64');
  let kept = 0;
  let outcome: string | undefined;
  for (let index = 0; index < 100 && outcome === undefined; index += 1) {
    [outcome] = await commitAll(store, group([write(`order/${index}@A`, record)]));
    if (outcome === undefined) kept += 1;
  }
  expect(outcome).toBe('COMMIT_REFUSED');
  expect(kept).toBeGreaterThan(5);
  expect([...store.entries()]).toHaveLength(kept);
  expect(store.load(`order/${kept - 1}@A`)).toBe(record);
  expect(store.load(`order/${kept}@A`)).toBeUndefined();
  await store.close();
  await open();
  expect([...store.entries()]).toHaveLength(kept);
  expect(await commitAll(store, group([write(`order/${kept}@A`, record)]))).toEqual([undefined]);
});

test('a group that would overwrite a damaged record is refused, and the next one is not', async () => {
  await open();
  await commitAll(store, group([write('order/1@A', 'one'), write('order/2@A', 'two')]));
  await store.close();
  const environment = await Environment.open(directory, { isReadOnly: false });
  const row = Buffer.from(environment.records.get('order/1@A') as Buffer);
  row[row.length - 5] = (row[row.length - 5] as number) ^ 1;
  await environment.records.put('order/1@A', row);
  await environment.close();

  await open();
  expect([...store.damaged()]).toEqual([['order/1@A', 'its checksum is wrong']]);
  expect([...store.entries()].map(([address]) => address)).toEqual(['order/2@A']);
  const outcomes = await commitAll(
    store,
    group([write('order/2@A', 'never'), write('order/1@A', 'never')]),
    group([write('order/2@A', 'three')]),
  );
  expect(outcomes).toEqual(['RECORD_DAMAGED', undefined]);
  expect(store.load('order/2@A')).toBe('three');
  expect(() => store.load('order/1@A')).toThrow(
    expect.objectContaining({ code: 'RECORD_DAMAGED' }),
  );
});
