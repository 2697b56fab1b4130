import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { turnKnobs } from '../../runtime/base/knob.ts';
import { type LmdbStoreOptions, lmdbStore } from '../../stores/lmdb.ts';
import { memoryStore } from '../../stores/memory.ts';
import { describeStore, type StoreLimits } from './describe-store.ts';
import { TINY_LMDB } from './tiny-lmdb.ts';

describeStore('the memory store', async (limits) => {
  const store = memoryStore(limits);
  return { ...limits, store, close: () => store.close() };
});

describeStore('the LMDB store', (limits) => lmdbDriver(limits));

// A log of history so small that every commit folds what it can.
describeStore('the LMDB store that folds its history at once', (limits) =>
  lmdbDriver({ ...limits, historyLogBytesMax: 1 }),
);

// Every cache, buffer and page as small as can be.
describe('with tiny knobs', () => {
  let turnBack = (): void => {};
  beforeAll(() => {
    turnBack = turnKnobs(TINY_LMDB);
  });
  afterAll(() => turnBack());
  describeStore('the LMDB store', (limits) => lmdbDriver({ ...limits, historyLogBytesMax: 1 }));
});

async function lmdbDriver(options: LmdbStoreOptions & StoreLimits) {
  const directory = await mkdtemp(join(tmpdir(), 'escapement-store-'));
  let store = lmdbStore(directory, options);
  await store.open();
  return {
    historyMax: options.historyMax,
    undeliveredMax: options.undeliveredMax,
    store,
    reopen: async () => {
      await store.close();
      store = lmdbStore(directory, options);
      await store.open();
      return store;
    },
    close: async () => {
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
}
