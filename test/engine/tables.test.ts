/**
 * Tables of an actor: stored row by row beside its record, back after a crash as they were, and at a
 * cost that does not depend on how many rows they have.
 */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { setup } from 'xstate';
import type { KindOptions } from '../../runtime/actor/kind.ts';
import { turnKnobs } from '../../runtime/base/knob.ts';
import { Table } from '../../runtime/machine.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { SimulatedClock, type TestRuntime, testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';
import { LossyNetwork } from '../delivery/lossy-network.ts';
import { codeOf, during } from './outcomes.ts';
import { CountingStore, type Item, items, stockMachine } from './stock.ts';

const ADDRESS = 'stock/1@test';
const kinds = { stock: stockMachine };

const open = (options: { store?: Store; options?: KindOptions } = {}) =>
  testRuntime({
    kinds,
    ...(options.store !== undefined && { store: options.store }),
    ...(options.options !== undefined && { options: { stock: options.options as never } }),
  });
const itemsOf = (rt: TestRuntime<typeof kinds>) =>
  rt.actor('stock/1').getSnapshot().context.items.toJSON();
const storedRows = (store: Store) =>
  [...store.rows(ADDRESS)].map(([table, key]) => `${table}/${key}`);

// Small ones have rows of their own here, too; inline-tables.test.ts has those that stand in the record.
beforeEach(() => void turnKnobs({ tableInlineRowsMax: 0 }));
afterEach(() => void turnKnobs({}));

describe('a table', () => {
  test('is back after a crash, with what was put in, taken out and replaced', async () => {
    const rt = await open();
    const stock = await rt.spawn('stock/1', { input: { count: 3 } });
    await stock.send({ type: 'put', name: 'item 1', count: 7 });
    await stock.send({ type: 'put', name: 'new', count: 2 });
    await stock.send({ type: 'take', name: 'item 0' });
    await rt.crash();
    expect(itemsOf(rt)).toEqual({
      'item 1': { count: 7 },
      'item 2': { count: 1 },
      new: { count: 2 },
    });
    expect(await stock.ask({ type: 'sum' })).toBe(10);
    expect(storedRows(rt.store)).toEqual([
      'items/item 1',
      'items/item 2',
      'items/new',
      'seen/item 1',
      'seen/new',
    ]);
    expect(rt.store.load(ADDRESS)).not.toContain('item 1');
    await stock.send({ type: 'clear' });
    await rt.crash();
    expect(itemsOf(rt)).toEqual({});
    expect(storedRows(rt.store)).toEqual(['seen/item 1', 'seen/new']);
  });

  test('of which a turn failed is as it was, in memory and on disk', async () => {
    const rt = await open({ options: { supervise: { onFailure: 'skip' } } });
    const stock = await rt.spawn('stock/1', { input: { count: 2 } });
    const failing = stock.send({ type: 'fail', name: 'item 0' });
    expect(await during(rt, codeOf(failing))).toBe('TURN_FAILED');
    expect(itemsOf(rt)).toEqual(items(2));
    await rt.crash();
    expect(itemsOf(rt)).toEqual(items(2));
  });

  test('of an actor that is begun again is the one of its input', async () => {
    const rt = await open({ options: { supervise: { onFailure: 'restart' } } });
    const stock = await rt.spawn('stock/1', { input: { count: 2 } });
    await stock.send({ type: 'put', name: 'new', count: 2 });
    await during(rt, codeOf(stock.send({ type: 'fail', name: 'item 0' })));
    expect(itemsOf(rt)).toEqual(items(2));
    await rt.crash();
    expect(itemsOf(rt)).toEqual(items(2));
    expect(storedRows(rt.store)).toEqual(['items/item 0', 'items/item 1']);
  });

  test('goes with its actor, and is not there in another life', async () => {
    const rt = await open();
    const stock = await rt.spawn('stock/1', { input: { count: 2 } });
    await stock.send({ type: 'end' });
    await during(rt, rt.runtime.forget('stock/1'));
    expect(storedRows(rt.store)).toEqual([]);
    await rt.spawn('stock/1', { input: { count: 1 } });
    await rt.crash();
    expect(itemsOf(rt)).toEqual(items(1));
    expect(storedRows(rt.store)).toEqual(['items/item 0']);
  });

  test('fails the turn that keeps it where it cannot be stored row by row', async () => {
    const rt = await open({ options: { supervise: { onFailure: 'skip' } } });
    const stock = await rt.spawn('stock/1', { input: { count: 2 } });
    for (const where of ['deeper', 'rows'] as const)
      expect(await during(rt, codeOf(stock.send({ type: 'misplace', where })))).toBe(
        'TABLE_MISPLACED',
      );
    expect(itemsOf(rt)).toEqual(items(2));
  });

  test('fails the turn that makes a row too large', async () => {
    const rt = await testRuntime({ kinds, limits: { recordBytesMax: 1_000 } });
    const stock = await rt.spawn('stock/1', { input: { count: 500 } });
    const large = stock.send({ type: 'put', name: 'x', count: 'x'.repeat(1_000) as never });
    expect(await during(rt, codeOf(large))).toBe('ACTOR_TOO_LARGE');
    expect(Object.keys(itemsOf(rt))).toHaveLength(500);
  });

  test('of whose rows one is missing is refused, and nothing of it is served', async () => {
    const rt = await open();
    await rt.spawn('stock/1', { input: { count: 3 } });
    const record = rt.store.load(ADDRESS) as string;
    const entry = rt.store.entry(ADDRESS) ?? null;
    const rows = new Map([['items', new Map([['item 1', null]])]]);
    const writes = [{ address: ADDRESS, record, entry, history: [], rows }];
    rt.store.commit({ shard: 'test', fence: 99, writes }, () => {});
    await rt.crash();
    expect(await codeOf(rt.actor('stock/1').send({ type: 'end' }))).toBe('RECORD_INVALID');
  });

  test('is a table to anybody who watches from another node, and an object as it is persisted', async () => {
    const clock = new SimulatedClock();
    const network = new LossyNetwork(clock, 1);
    const at = (node: string) =>
      testRuntime({ kinds, node, clock, transport: () => network.join(node) });
    const [a, b] = [await at('a'), await at('b')];
    const near = await b.spawn('stock/1', { input: { count: 2 } });
    const far = a.runtime.actor('stock/1@b');
    const seen: unknown[] = [];
    far.subscribe(({ context }) => void seen.push(context.items));
    await a.settle();
    await near.send({ type: 'take', name: 'item 0' });
    await a.settle();
    expect(seen).toEqual([Table.of(items(2)), Table.of({ 'item 1': { count: 1 } })]);
    const persisted = near.getPersistedSnapshot() as unknown as { context: { items: unknown } };
    expect(persisted.context.items).toEqual({ 'item 1': { count: 1 } });
    const fetched = (await during(a, far.fetchSnapshot())) as unknown as typeof persisted;
    expect(fetched.context.items).toEqual({ 'item 1': { count: 1 } });
  });
});

describe('a long input', () => {
  const long = 'long '.repeat(1_000);

  test('is written once, and is there for anybody who begins again', async () => {
    const store = new CountingStore(memoryStore());
    const rt = await open({ store, options: { supervise: { onFailure: 'restart' } } });
    const stock = await rt.spawn('stock/1', { input: { count: 2, text: long } });
    expect(store.characters).toBeGreaterThan(long.length);
    expect(store.load(ADDRESS)).not.toContain(long);
    expect(storedRows(store)).toEqual(['items/item 0', 'items/item 1', 'escapement$$input/']);
    store.characters = 0;
    await stock.send({ type: 'put', name: 'new', count: 2 });
    await rt.crash();
    await during(rt, codeOf(stock.send({ type: 'fail', name: 'item 0' })));
    expect(itemsOf(rt)).toEqual(items(2));
    expect(store.characters).toBeLessThan(long.length);
    await rt.crash();
    expect(itemsOf(rt)).toEqual(items(2));
    await stock.send({ type: 'end' });
    await rt.spawn('stock/1', { input: { count: 1 } });
    expect(storedRows(store)).toEqual(['items/item 0']);
    await rt.crash();
    expect(itemsOf(rt)).toEqual(items(1));
  });
});

describe('a migration', () => {
  const before = setup({
    types: { context: {} as { items: Record<string, Item> }, events: {} as { type: 'end' } },
  }).createMachine({
    context: { items: items(3) },
    initial: 'open',
    states: { open: { on: { end: 'ended' } }, ended: {} },
  });
  const to = (change: (context: Record<string, unknown>) => object): KindOptions => ({
    version: 2,
    migrate: {
      2: ({ snapshot, timers }) => {
        const { context, ...rest } = snapshot as { context: Record<string, unknown> };
        return { snapshot: { ...rest, context: { ...context, ...change(context) } }, timers };
      },
    },
  });

  test('makes a table of what lay in the record, and an object of a table', async () => {
    const store = memoryStore();
    const first = await testRuntime({ kinds: { stock: before }, store });
    await first.spawn('stock/1');
    first.runtime.crash();
    const options = to(({ items: old }) => ({
      items: Table.of(old as Record<string, Item>),
      seen: Table.of(),
      other: null,
    }));
    const second = await open({ store, options });
    expect(itemsOf(second)).toEqual(items(3));
    await second.actor('stock/1').send({ type: 'take', name: 'item 2' });
    expect(storedRows(store)).toEqual(['items/item 0', 'items/item 1']);
    await second.crash();
    expect(itemsOf(second)).toEqual(items(2));
    second.runtime.crash();
    const back: KindOptions = {
      version: 3,
      migrate: {
        3: to(({ items: old }) => ({ items: (old as Table<Item>).toJSON() })).migrate?.[2] as never,
      },
    };
    const third = await testRuntime({
      kinds: { stock: before },
      options: { stock: back as never },
      store,
    });
    expect(third.actor('stock/1').getSnapshot().context.items).toEqual(items(2));
    await third.actor('stock/1').send({ type: 'end' });
    expect(storedRows(store)).toEqual([]);
  });
});

describe('what a turn writes', () => {
  /** Characters and rows of one turn of each kind, of a stock that has this many items. */
  async function written(count: number) {
    const store = new CountingStore(memoryStore());
    const rt = await open({ store });
    const stock = await rt.spawn('stock/1', { input: { count } });
    const figures: Record<string, readonly [number, number]> = {};
    const changes = [
      ['replaced', { type: 'put', name: 'item 5', count: 2 }],
      ['new', { type: 'put', name: 'another', count: 2 }],
      ['gone', { type: 'take', name: 'item 7' }],
      ['none', { type: 'sum' }],
    ] as const;
    for (const [name, event] of changes) {
      store.characters = 0;
      store.rowsWritten = 0;
      await stock.send(event);
      figures[name] = [store.characters, store.rowsWritten];
    }
    return figures;
  }

  test('does not depend on how many rows there are', async () => {
    const [few, many] = [await written(10), await written(10_000)];
    for (const [name, [characters, rows]] of Object.entries(many)) {
      const [fewCharacters, fewRows] = few[name] as readonly [number, number];
      expect(rows).toBe(fewRows);
      // The number of rows in the mark may have three digits more.
      expect(characters - fewCharacters).toBeLessThanOrEqual(6);
    }
  });

  test('is encoded in texts that do not depend on it either', async () => {
    const [few, many] = [await encoded(10), await encoded(10_000)];
    expect(many - few).toBeLessThanOrEqual(6);
  });

  /** Characters that JSON.stringify gave while a turn was taken. */
  async function encoded(count: number): Promise<number> {
    const rt = await open();
    const stock = await rt.spawn('stock/1', { input: { count } });
    const { stringify } = JSON;
    let characters = 0;
    JSON.stringify = ((...given: Parameters<typeof stringify>) => {
      const text = stringify(...given);
      characters += text?.length ?? 0;
      return text;
    }) as typeof stringify;
    try {
      await stock.send({ type: 'put', name: 'another', count: 2 });
    } finally {
      JSON.stringify = stringify;
    }
    return characters;
  }
});
