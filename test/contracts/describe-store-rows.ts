/**
 * Contract of every Store for the rows of an actor's tables: they are part of what was written, and go with
 * it.
 */

import { expect, test } from 'vitest';
import type { RowChanges } from '../../runtime/ports/store.ts';
import type { StoreDriver } from './describe-store.ts';
import { commitAll, group, removal, rowsOf, write } from './store-groups.ts';

const changes = (
  of: Readonly<Record<string, Readonly<Record<string, string | null>>>>,
): RowChanges =>
  new Map(Object.entries(of).map(([table, rows]) => [table, new Map(Object.entries(rows))]));

export function testRows(driver: () => StoreDriver): void {
  test('knows none of an address that was never written, or that has none', async () => {
    const { store } = driver();
    await commitAll(store, group([write('order/1@A', 'x')]));
    expect([...store.rows('order/1@A')]).toEqual([]);
    expect([...store.rows('order/2@A')]).toEqual([]);
  });

  test('keeps what is not named, replaces and removes what is', async () => {
    const { store, reopen } = driver();
    const first = changes({ items: { a: '1', b: '2', c: '3' }, other: { a: '4' } });
    await commitAll(store, group([write('order/1@A', 'one', { rows: first })]));
    const second = changes({ items: { a: '5', b: null, gone: null, d: '6' } });
    await commitAll(
      store,
      group([write('order/1@A', 'two', { rows: second })]),
      group([write('order/1@A', 'three')]),
    );
    const expected = new Map([
      ['["items","a"]', '5'],
      ['["items","c"]', '3'],
      ['["items","d"]', '6'],
      ['["other","a"]', '4'],
    ]);
    expect(rowsOf(store, 'order/1@A')).toEqual(expected);
    if (reopen !== undefined) expect(rowsOf(await reopen(), 'order/1@A')).toEqual(expected);
  });

  test('gives back names and texts as they were, whatever is in them', async () => {
    const { store } = driver();
    const names = [
      '',
      '#',
      '\u0000',
      '\u0001',
      'ünï😀',
      '__proto__',
      'a\u0000b',
      'x'.repeat(2_000),
    ];
    const rows = new Map(
      names.map((table) => [table, new Map(names.map((key) => [key, `"${key}\u2028😀"`]))]),
    );
    await commitAll(store, group([write('order/1@A', 'x', { rows })]));
    const found = new Map(
      names.flatMap((table) =>
        names.map((key) => [JSON.stringify([table, key]), `"${key}\u2028😀"`] as const),
      ),
    );
    expect(rowsOf(store, 'order/1@A')).toEqual(found);
  });

  test('takes no rows of one actor for those of another', async () => {
    const { store } = driver();
    const rows = (text: string) => changes({ items: { a: text } });
    const addresses = ['order/1@A', 'order/1@AB', 'order/10@A', 'order/1/1@A', 'order/1@A.'];
    const writes = addresses.map((address) => write(address, 'x', { rows: rows(address) }));
    await commitAll(store, group(writes));
    await commitAll(store, group([removal('order/1@A')]));
    for (const address of addresses)
      expect([...store.rows(address)]).toEqual(
        address === 'order/1@A' ? [] : [['items', 'a', address]],
      );
  });

  test('removing an actor takes its rows, for a later life too', async () => {
    const { store, reopen } = driver();
    const rows = changes({ items: { a: '1', b: '2' } });
    await commitAll(store, group([write('order/1@A', 'x', { rows })]));
    await commitAll(store, group([removal('order/1@A')]));
    expect([...store.rows('order/1@A')]).toEqual([]);
    await commitAll(store, group([write('order/1@A', 'again')]));
    expect([...store.rows('order/1@A')]).toEqual([]);
    if (reopen !== undefined) expect([...(await reopen()).rows('order/1@A')]).toEqual([]);
  });

  test('an actor that is born again in the group that removes it keeps none of its rows', async () => {
    const { store } = driver();
    const before = changes({ items: { a: '1', b: '2' }, other: { a: '3' } });
    await commitAll(store, group([write('order/1@A', 'x', { rows: before })]));
    const rows = changes({ items: { b: '4' } });
    await commitAll(store, group([write('order/1@A', 'again', { rows, isAnew: true })]));
    expect([...store.rows('order/1@A')]).toEqual([['items', 'b', '4']]);
  });

  test('a refused group leaves no row behind, and takes none away', async () => {
    const { store } = driver();
    const kept = changes({ items: { a: '1' } });
    await commitAll(store, group([write('order/1@A', 'x', { rows: kept })], { fence: 2 }));
    const stale = changes({ items: { a: null, b: '2' } });
    const outcomes = await commitAll(
      store,
      group([write('order/1@A', 'y', { rows: stale })], { fence: 1 }),
      group([removal('order/1@A')], { fence: 1 }),
    );
    expect(outcomes).toEqual(['FENCE_STALE', 'FENCE_STALE']);
    expect([...store.rows('order/1@A')]).toEqual([['items', 'a', '1']]);
  });
}
