/**
 * Contract of every Store. An adapter passes `open` and, when it survives its process, `reopen`; then what
 * was settled must be there afterwards.
 */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FENCE_MAX } from '../../runtime/base/fence.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { testQueries } from './describe-store-queries.ts';
import { testRows } from './describe-store-rows.ts';
import { commitAll, entry, group, removal, write } from './store-groups.ts';
import { testStoreAgainstModel } from './store-model.ts';

/** A store as this suite opens it. */
export interface StoreDriver {
  /** Limits the adapter was opened with. */
  readonly historyMax: number;
  readonly undeliveredMax: number;
  readonly store: Store;
  /** Closes the store and opens it again over what it kept; absent when it keeps nothing. */
  readonly reopen?: () => Promise<Store>;
  close(): Promise<void>;
}

export interface StoreLimits {
  readonly historyMax: number;
  readonly undeliveredMax: number;
}

export function describeStore(
  name: string,
  open: (limits: StoreLimits) => Promise<StoreDriver>,
): void {
  describe(`${name} keeps the store contract`, () => {
    let driver: StoreDriver;
    beforeEach(async () => {
      driver = await open({ historyMax: 5, undeliveredMax: 4 });
    });
    afterEach(() => driver.close());

    describe('settling', () => testSettling(() => driver));
    describe('fences', () => testFences(() => driver));
    describe('records', () => testRecords(() => driver));
    describe('rows', () => testRows(() => driver));
    describe('history', () => testHistory(() => driver));
    describe('undelivered messages', () => testUndelivered(() => driver));
    describe('queries', () => testQueries(() => driver));
    testStoreAgainstModel(() => open({ historyMax: 3, undeliveredMax: 4 }));
  });
}

function testSettling(driver: () => StoreDriver): void {
  test('settles every group once, in order, never inside commit', async () => {
    const { store } = driver();
    const groups = Array.from({ length: 20 }, (_, index) =>
      group([write('order/1@A', `${index}`)]),
    );
    expect(await commitAll(store, ...groups)).toEqual(groups.map(() => undefined));
    expect(store.load('order/1@A')).toBe('19');
  });

  test('keeps that order when some of the groups are refused', async () => {
    const { store } = driver();
    await commitAll(store, group([], { fence: 5 }));
    const outcomes = await commitAll(
      store,
      group([write('order/1@A', 'new')], { fence: 5 }),
      group([write('order/1@A', 'stale')], { fence: 4 }),
      group([write('order/2@A', 'new')], { fence: 5 }),
    );
    expect(outcomes).toEqual([undefined, 'FENCE_STALE', undefined]);
  });

  test('shows everything of a group once it is settled', async () => {
    const { store } = driver();
    const writes = Array.from({ length: 200 }, (_, index) =>
      write(`order/${index}@A`, `record ${index}`, { history: [`row ${index}`] }),
    );
    await commitAll(store, group(writes));
    for (const { address, record, history } of writes) {
      expect(store.load(address)).toBe(record);
      expect(store.history(address, 10)).toEqual(history);
    }
    expect([...store.entries()]).toHaveLength(200);
  });

  test('closes only after everything handed over is settled', async () => {
    const { store } = driver();
    let settled = 0;
    for (let index = 0; index < 3; index += 1)
      store.commit(group([write('order/1@A', `${index}`)]), () => {
        settled += 1;
      });
    await store.close();
    expect(settled).toBe(3);
  });

  test('shows after a reopening everything that was settled', async () => {
    const { store, reopen } = driver();
    if (reopen === undefined) return;
    await commitAll(
      store,
      group(
        [
          write('order/1@A', 'one', { history: ['a', 'b'], undelivered: [['u1', 'lost']] }),
          write('order/2@A', 'two'),
        ],
        { fence: 7 },
      ),
      group([removal('order/2@A')], { fence: 7 }),
    );
    const again = await reopen();
    expect(again.load('order/1@A')).toBe('one');
    expect(again.load('order/2@A')).toBeUndefined();
    expect(again.history('order/1@A', 9)).toEqual(['a', 'b']);
    expect([...again.undelivered()]).toEqual([['u1', 'lost']]);
    expect([...again.entries()]).toEqual([['order/1@A', entry()]]);
    expect(again.fence('A')).toBe(7);
    expect(await commitAll(again, group([], { fence: 6 }))).toEqual(['FENCE_STALE']);
  });
}

function testFences(driver: () => StoreDriver): void {
  test('starts at fence 0 and knows the highest one of each shard', async () => {
    const { store } = driver();
    expect(store.fence('A')).toBe(0);
    await commitAll(store, group([], { fence: 3 }), group([], { shard: 'B', fence: 9 }));
    expect([store.fence('A'), store.fence('B'), store.fence('C')]).toEqual([3, 9, 0]);
  });

  test('writes no fence that could not be read back', async () => {
    const { store, reopen } = driver();
    await commitAll(store, group([write('order/1@A', 'first')], { fence: FENCE_MAX }));
    for (const fence of [FENCE_MAX + 1, 2 ** 53 - 1, Number.NaN])
      expect(await commitAll(store, group([write('order/1@A', 'late')], { fence }))).toEqual([
        'FENCE_EXHAUSTED',
      ]);
    const again = (await reopen?.()) ?? store;
    expect([again.fence('A'), again.load('order/1@A')]).toEqual([FENCE_MAX, 'first']);
  });

  test('an empty group raises the fence', async () => {
    const { store } = driver();
    await commitAll(store, group([], { fence: 2 }));
    expect(await commitAll(store, group([write('order/1@A', 'x')], { fence: 1 }))).toEqual([
      'FENCE_STALE',
    ]);
    expect(store.load('order/1@A')).toBeUndefined();
  });

  test('refuses a stale holder also for records the newer one never touched', async () => {
    const { store } = driver();
    await commitAll(store, group([write('order/1@A', 'first')], { fence: 1 }));
    await commitAll(store, group([write('order/2@A', 'other')], { fence: 2 }));
    const stale = group(
      [
        write('order/1@A', 'stale', { history: ['stale'], undelivered: [['u1', 'stale']] }),
        removal('order/2@A'),
        write('order/3@A', 'stale'),
      ],
      { fence: 1 },
    );
    expect(await commitAll(store, stale)).toEqual(['FENCE_STALE']);
    expect(store.load('order/1@A')).toBe('first');
    expect(store.load('order/2@A')).toBe('other');
    expect(store.load('order/3@A')).toBeUndefined();
    expect(store.history('order/1@A', 10)).toEqual([]);
    expect([...store.undelivered()]).toEqual([]);
    expect([...store.entries()].map(([address]) => address)).toEqual(['order/1@A', 'order/2@A']);
    expect(store.fence('A')).toBe(2);
  });

  test('one shard says nothing about the fence of another', async () => {
    const { store } = driver();
    await commitAll(store, group([], { shard: 'A', fence: 9 }));
    const other = group([write('order/1@B', 'x')], { shard: 'B', fence: 1 });
    expect(await commitAll(store, other)).toEqual([undefined]);
  });
}

function testRecords(driver: () => StoreDriver): void {
  test('knows nothing of an address that was never written', () => {
    const { store } = driver();
    expect(store.load('order/1@A')).toBeUndefined();
    expect(store.history('order/1@A', 10)).toEqual([]);
    expect(store.query({ limit: 10 })).toEqual({ rows: [] });
  });

  test('gives back the text as it was, whatever is in it', async () => {
    const { store } = driver();
    const record = '{"context":{"text":"ünï\u0000\\"\n\u2028😀"}}';
    await commitAll(store, group([write('order/1@A', record, { history: [record] })]));
    expect(store.load('order/1@A')).toBe(record);
    expect(store.history('order/1@A', 1)).toEqual([record]);
  });

  test('the later of two writes of one actor counts', async () => {
    const { store } = driver();
    await commitAll(
      store,
      group([write('order/1@A', 'one', { history: ['1'] })]),
      group([write('order/1@A', 'two', { entry: entry({ state: 'paid' }), history: ['2'] })]),
    );
    expect(store.load('order/1@A')).toBe('two');
    expect([...store.entries()]).toEqual([['order/1@A', entry({ state: 'paid' })]]);
    expect(store.history('order/1@A', 9)).toEqual(['1', '2']);
  });

  test('removing an actor takes its record, its history and its entry', async () => {
    const { store } = driver();
    await commitAll(store, group([write('order/1@A', 'x', { history: ['1'] })]));
    await commitAll(store, group([removal('order/1@A'), removal('order/2@A')]));
    expect(store.load('order/1@A')).toBeUndefined();
    expect(store.history('order/1@A', 9)).toEqual([]);
    expect([...store.entries()]).toEqual([]);
    await commitAll(store, group([write('order/1@A', 'again', { history: ['2'] })]));
    expect(store.history('order/1@A', 9)).toEqual(['2']);
  });

  test('lists entries in the order of their addresses', async () => {
    const { store } = driver();
    const addresses = ['b/2@A', 'a/10@A', 'a/2@A', 'B/1@A', 'a/1/x@A', 'a/1@A', 'a/1@B'];
    await commitAll(store, group(addresses.map((address) => write(address, address))));
    expect([...store.entries()].map(([address]) => address)).toEqual([...addresses].sort());
  });
}

function testHistory(driver: () => StoreDriver): void {
  test('keeps the last rows of each actor, oldest first', async () => {
    const { store, historyMax } = driver();
    for (let index = 0; index < 12; index += 1)
      await commitAll(
        store,
        group([
          write('order/1@A', 'x', { history: [`${index}a`, `${index}b`] }),
          write('order/2@A', 'x', { history: index < 2 ? [`${index}`] : [] }),
        ]),
      );
    const rows = ['9b', '10a', '10b', '11a', '11b'];
    expect(store.history('order/1@A', 100)).toEqual(rows.slice(-historyMax));
    expect(store.history('order/1@A', 2)).toEqual(['11a', '11b']);
    expect(store.history('order/1@A', 0)).toEqual([]);
    expect(store.history('order/2@A', 100)).toEqual(['0', '1']);
  });

  test('a group with more rows than are kept leaves the last of them', async () => {
    const { store } = driver();
    const history = Array.from({ length: 13 }, (_, index) => `${index}`);
    await commitAll(store, group([write('order/1@A', 'x', { history })]));
    expect(store.history('order/1@A', 100)).toEqual(history.slice(-5));
  });
}

function testUndelivered(driver: () => StoreDriver): void {
  test('keeps them oldest first until somebody takes them off', async () => {
    const { store } = driver();
    await commitAll(
      store,
      group([
        write('order/1@A', 'x', {
          undelivered: [
            ['1', 'a'],
            ['2', 'b'],
          ],
        }),
      ]),
      group([write('order/2@A', 'x', { undelivered: [['3', 'c']] })]),
    );
    expect([...store.undelivered()]).toEqual([
      ['1', 'a'],
      ['2', 'b'],
      ['3', 'c'],
    ]);
    await commitAll(store, group([], { dropUndelivered: ['2', 'unknown'] }));
    expect([...store.undelivered()]).toEqual([
      ['1', 'a'],
      ['3', 'c'],
    ]);
  });

  test('beyond the bound the oldest are dropped', async () => {
    const { store, undeliveredMax } = driver();
    const rows = Array.from({ length: 9 }, (_, index) => [`${index}`, 'x'] as const);
    for (const row of rows)
      await commitAll(store, group([write('order/1@A', 'x', { undelivered: [row] })]));
    expect([...store.undelivered()]).toEqual(rows.slice(-undeliveredMax));
  });

  test('stay when their actor is removed', async () => {
    const { store } = driver();
    await commitAll(store, group([write('order/1@A', 'x', { undelivered: [['1', 'a']] })]));
    await commitAll(store, group([removal('order/1@A')]));
    expect([...store.undelivered()]).toEqual([['1', 'a']]);
  });
}
