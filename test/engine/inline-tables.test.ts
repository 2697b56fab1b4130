/** Tables of a few short rows: they stand in the record of their actor, and beside it as soon as they have grown. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KindOptions } from '../../runtime/actor/kind.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { type TestRuntime, testRuntime } from '../../simulator/testing.ts';
import { codeOf, during } from './outcomes.ts';
import { items, stockMachine } from './stock.ts';

const ADDRESS = 'stock/1@test';
const kinds = { stock: stockMachine };

const open = (options: KindOptions = {}) =>
  testRuntime({ kinds, options: { stock: options as never } });
const itemsOf = (rt: TestRuntime<typeof kinds>) =>
  rt.actor('stock/1').getSnapshot().context.items.toJSON();
const storedRows = (store: Store) =>
  [...store.rows(ADDRESS)].map(([table, key]) => `${table}/${key}`);

describe('a table of a few short rows', () => {
  test('stands in the record, and beside it once it has grown', async () => {
    const rt = await open();
    const stock = await rt.spawn('stock/1', { input: { count: 3 } });
    expect(storedRows(rt.store)).toEqual([]);
    expect(rt.store.load(ADDRESS)).toContain('"item 2":{"count":1}');
    await stock.send({ type: 'put', name: 'new', count: 2 });
    expect(storedRows(rt.store)).toEqual([]);
    await stock.send({ type: 'put', name: 'newer', count: 3 });
    expect(storedRows(rt.store)).toHaveLength(5);
    expect(rt.store.load(ADDRESS)).not.toContain('item 2');
    await rt.crash();
    expect(itemsOf(rt)).toEqual({ ...items(3), new: { count: 2 }, newer: { count: 3 } });
    await stock.send({ type: 'take', name: 'item 1' });
    expect(storedRows(rt.store)).toEqual([]);
    await rt.crash();
    expect(Object.keys(itemsOf(rt))).toEqual(['item 0', 'item 2', 'new', 'newer']);
  });

  test('has rows of its own where they are long', async () => {
    const rt = await open();
    const stock = await rt.spawn('stock/1', { input: { count: 1 } });
    await stock.send({ type: 'put', name: 'x'.repeat(600), count: 2 });
    expect(storedRows(rt.store)).toContain('items/item 0');
    await rt.crash();
    expect(Object.keys(itemsOf(rt))).toHaveLength(2);
  });

  test('is what it would be with rows of its own, whatever happens to it', async () => {
    const step = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'),
      type: fc.constantFrom('put', 'put', 'take', 'crash', 'fail'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const rt = await open({ supervise: { onFailure: 'skip' } });
        const stock = await rt.spawn('stock/1', { input: { count: 2 } });
        const expected = new Map(Object.entries(items(2)));
        for (const [count, { name, type }] of steps.entries()) {
          if (type === 'crash') await rt.crash();
          else if (type === 'fail') await during(rt, codeOf(stock.send({ type, name })));
          else if (type === 'put') await stock.send({ type, name, count });
          else await stock.send({ type: 'take', name });
          if (type === 'put') expected.set(name, { count });
          if (type === 'take') expected.delete(name);
          expect(itemsOf(rt)).toEqual(Object.fromEntries(expected));
        }
        await rt.crash();
        expect(itemsOf(rt)).toEqual(Object.fromEntries(expected));
        expect(storedRows(rt.store).filter((row) => row.startsWith('items/'))).toHaveLength(
          expected.size > 4 ? expected.size : 0,
        );
      }),
      { numRuns: 40 },
    );
  });
});
