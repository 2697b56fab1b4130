/** Contract of every Store for queries: each filter alone and together, a page at a time. */

import { describe, expect, test } from 'vitest';
import { cursorBehind, cursorBehindQueue, onlyQueue, rankKey } from '../../runtime/actor/rank.ts';
import type { IndexEntry, Store, StoreQuery } from '../../runtime/ports/store.ts';
import type { StoreDriver } from './describe-store.ts';
import { allPages, commitAll, entry, group, removal, write } from './store-groups.ts';

export function testQueries(driver: () => StoreDriver): void {
  const actors: ReadonlyArray<readonly [string, Partial<IndexEntry>]> = [
    ['job/1@A', { kind: 'job', state: 'running', tags: ['busy', 'hot'], dueAt: 100, turnAt: 5 }],
    ['job/2@A', { kind: 'job', state: 'running', tags: ['busy'], dueAt: 200, turnAt: 50 }],
    ['job/3@A', { kind: 'job', state: 'queued', turnAt: 10 }],
    ['job/4@A', { kind: 'job', state: 'ended', status: 'done', turnAt: 20 }],
    ['order/1@A', { state: 'running', dueAt: 150, turnAt: 30 }],
    ['order/2@A', { state: 'running', status: 'stopped', turnAt: 40 }],
    ['order/3@A', { state: '{"a":"b"}', isPending: true, turnAt: 60 }],
  ];
  const asked: ReadonlyArray<readonly [string, Omit<StoreQuery, 'limit'>, string[]]> = [
    ['nothing', {}, actors.map(([address]) => address)],
    ['a kind', { kind: 'job' }, ['job/1@A', 'job/2@A', 'job/3@A', 'job/4@A']],
    ['a kind nobody has', { kind: 'x' }, []],
    ['a status', { status: 'stopped' }, ['order/2@A']],
    ['a state', { state: 'running' }, ['job/1@A', 'job/2@A', 'order/1@A', 'order/2@A']],
    ['a nested state', { state: '{"a":"b"}' }, ['order/3@A']],
    ['a kind and a state', { kind: 'order', state: 'running' }, ['order/1@A', 'order/2@A']],
    ['a tag', { tag: 'busy' }, ['job/1@A', 'job/2@A']],
    ['a deadline', { dueBefore: 150 }, ['job/1@A']],
    ['the last turn', { turnBefore: 20 }, ['job/1@A', 'job/3@A']],
    ['all at once', { kind: 'job', status: 'active', tag: 'hot', dueBefore: 101 }, ['job/1@A']],
    ['a start', { after: 'job/4@A' }, ['order/1@A', 'order/2@A', 'order/3@A']],
  ];

  test.each(asked)('narrow down by %s', async (_, query, expected) => {
    const { store } = driver();
    const writes = actors.map(([address, parts]) => write(address, 'x', { entry: entry(parts) }));
    await commitAll(store, group(writes));
    const { rows, cursor } = store.query({ ...query, limit: 100 });
    expect(rows.map(([address]) => address)).toEqual(expected);
    expect(cursor).toBeUndefined();
    const parts = new Map(actors);
    for (const [address, found] of rows) {
      expect(found).toEqual(entry(parts.get(address) ?? {}));
      expect(store.entry(address)).toEqual(found);
    }
    expect(store.entry('nobody/1@A')).toBeUndefined();
  });

  test('come in pages without gaps or repeats; the last page says that it is the last', async () => {
    const { store } = driver();
    const addresses = Array.from({ length: 10 }, (_, index) => `order/${index}@A`);
    await commitAll(store, group(addresses.map((address) => write(address, 'x'))));
    for (const limit of [1, 3, 5, 9, 10, 11])
      expect(allPages(store, { limit, kind: 'order' })).toEqual(addresses);
    expect(store.query({ limit: 5 }).cursor).toBe('order/4@A');
    expect(store.query({ limit: 5, after: 'order/4@A' }).cursor).toBeUndefined();
  });

  test('go on behind a cursor whose actor is gone', async () => {
    const { store } = driver();
    const addresses = ['order/1@A', 'order/2@A', 'order/3@A'];
    await commitAll(store, group(addresses.map((address) => write(address, 'x'))));
    const { cursor } = store.query({ limit: 1 });
    await commitAll(store, group([removal('order/1@A')]));
    const rest = store.query({ limit: 5, after: cursor as string });
    expect(rest.rows.map(([address]) => address)).toEqual(['order/2@A', 'order/3@A']);
  });

  describe('a queue', () => {
    const standing: ReadonlyArray<readonly [string, string, string]> = [
      ['job/1@A', 'sleep 2', '5'],
      ['job/2@A', 'sleep 1', '9'],
      ['job/3@A', 'sleep 1', '10'],
      ['job/4@A', 'sleep 1', '10'],
      ['order/9@A', 'sleep', '0'],
      ['job/5@A', 'sleep 1', '0'],
    ];
    const addressesOf = (store: Store, query: Omit<StoreQuery, 'limit'>) =>
      store.query({ ...query, limit: 100 }).rows.map(([address]) => address);
    const stand = async () => {
      const { store } = driver();
      const writes = standing.map(([address, queue, order]) =>
        write(address, 'x', {
          entry: entry({ kind: address.slice(0, address.indexOf('/')), rank: { queue, order } }),
        }),
      );
      await commitAll(store, group([...writes, write('job/0@A', 'x')]));
      return store;
    };

    test('has those that stand in it, in the order of their ranks and then of their addresses', async () => {
      const store = await stand();
      const first = ['job/5@A', 'job/3@A', 'job/4@A', 'job/2@A'];
      expect(addressesOf(store, { queue: onlyQueue('sleep 1') })).toEqual(first);
      expect(addressesOf(store, { queue: onlyQueue('sleep') })).toEqual(['order/9@A']);
      expect(addressesOf(store, { queue: 'sleep' })).toEqual(['order/9@A', ...first, 'job/1@A']);
      expect(addressesOf(store, { queue: 'sleep', kind: 'order' })).toEqual(['order/9@A']);
      expect(addressesOf(store, { queue: 'wake' })).toEqual([]);
      expect(allPages(store, { queue: 'sleep', limit: 1 })).toHaveLength(standing.length);
    });

    test('is gone through from any rank on, and queues from one to the next', async () => {
      const store = await stand();
      const behind = (after: string) => addressesOf(store, { queue: 'sleep', after });
      expect(behind(cursorBehind('sleep 1', '10'))).toEqual(['job/2@A', 'job/1@A']);
      expect(behind(cursorBehind('sleep 1')).slice(0, 1)).toEqual(['job/5@A']);
      expect(behind(cursorBehindQueue('sleep 1'))).toEqual(['job/1@A']);
      expect(behind(rankKey({ queue: 'sleep 1', order: '10' }, 'job/3@A'))[0]).toBe('job/4@A');
    });

    test('loses anybody who leaves it or is removed, and has anybody who moves at its new place', async () => {
      const store = await stand();
      const moved = entry({ kind: 'job', rank: { queue: 'sleep 1', order: '1' } });
      const left = entry({ kind: 'job' });
      await commitAll(
        store,
        group([
          write('job/2@A', 'y', { entry: moved }),
          write('job/3@A', 'y', { entry: left }),
          removal('job/4@A'),
        ]),
      );
      expect(addressesOf(store, { queue: 'sleep 1' })).toEqual(['job/5@A', 'job/2@A']);
    });

    test('is there again when the store is opened again', async () => {
      await stand();
      const again = await driver().reopen?.();
      if (again === undefined) return;
      expect(addressesOf(again, { queue: 'sleep' })).toHaveLength(standing.length);
      await commitAll(again, group([removal('order/9@A')]));
      expect(addressesOf(again, { queue: onlyQueue('sleep') })).toEqual([]);
    });
  });
}
