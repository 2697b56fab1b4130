/** What every Store must answer to queries: each filter alone and together, a page at a time. */

import { expect, test } from 'vitest';
import type { IndexEntry, StoreQuery } from '../../runtime/store.ts';
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
    for (const [address, found] of rows) expect(found).toEqual(entry(parts.get(address) ?? {}));
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
}
