/** Packed records of the LMDB store: what they take, what comes back, and what happens where a pattern is missing. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLmdbData } from '../../cli/loaders/lmdb-data.ts';
import { turnKnobs } from '../../runtime/base/knob.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { HEAD_KEY, readHeadRow } from '../../stores/lmdb/check.ts';
import { Environment } from '../../stores/lmdb/environment.ts';
import { encodeHead } from '../../stores/lmdb/head.ts';
import { Pattern } from '../../stores/lmdb/packing.ts';
import { numberKey } from '../../stores/lmdb/undelivered.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { commitAll, group, write } from '../contracts/store-groups.ts';

let directory: string;
let store: Store;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'escapement-packing-'));
});
afterEach(async () => {
  await store?.close();
  await rm(directory, { recursive: true });
});

async function open(): Promise<void> {
  store = lmdbStore(directory);
  await store.open();
}

/** Looks at the files, or changes them, while no store has them open. */
async function inFiles<T>(look: (files: Environment) => T | Promise<T>): Promise<T> {
  const files = await Environment.open(directory, { isReadOnly: false });
  const found = await look(files);
  await files.close();
  return found;
}

const record = (index: number): string =>
  JSON.stringify({
    format: 1,
    kind: 'order',
    version: 1,
    turns: index,
    snapshot: {
      value: { active: { authority: 'local', reporting: 'off' } },
      context: { id: `o${index}`, limitMs: 3_600_000, reason: null, credit: {}, at: 17e11 + index },
    },
  });

const order = (index: number) => write(`order/${index}@A`, record(index));

describe('packing', () => {
  /** Packs into enough room and unpacks again. */
  function there(pattern: Buffer, source: Buffer): Buffer {
    const packing = new Pattern(pattern);
    const packed = Buffer.alloc(2 * source.length + 100);
    const end = packing.pack(source, source.length, packed, 7, packed.length);
    expect(end).toBeGreaterThan(0);
    const target = Buffer.alloc(source.length);
    expect(packing.unpack(packed, 7, end, target, source.length)).toBe(true);
    return target;
  }

  test('gives back any bytes, whatever the pattern', () => {
    const some = fc.uint8Array({ maxLength: 200 });
    const pieces = fc.array(fc.oneof(some, fc.constant('piece')), { maxLength: 9 });
    fc.assert(
      fc.property(some, pieces, (bytes, mixed) => {
        const pattern = Buffer.from(bytes);
        const source = Buffer.concat(
          mixed.map((piece) =>
            piece === 'piece' ? pattern.subarray(pattern.length >> 2) : Buffer.from(piece),
          ),
        );
        expect(there(pattern, source)).toEqual(source);
      }),
    );
  });

  test('tells a record by a few bytes of its own', () => {
    const pattern = new Pattern(Buffer.from(record(1)));
    const source = Buffer.from(record(23));
    const end = pattern.pack(source, source.length, Buffer.alloc(1_000), 0, 1_000);
    expect(end).toBeLessThan(source.length / 5);
  });

  test('refuses bytes that nobody packed, and reads nothing outside', () => {
    const pattern = new Pattern(Buffer.from(record(1)));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(300), (bytes, wanted) => {
        const target = Buffer.alloc(wanted, 'x');
        const isDone = pattern.unpack(Buffer.from(bytes), 0, bytes.length, target, wanted);
        expect(isDone || wanted > 0).toBe(true);
      }),
    );
    const beyond = Buffer.from([0, 200, 9, 0]);
    expect(pattern.unpack(beyond, 0, 4, Buffer.alloc(2_000), 2_000)).toBe(false);
  });

  test('gives up where there is no room', () => {
    const source = Buffer.from(record(1));
    const stranger = new Pattern(Buffer.from('something else'));
    expect(stranger.pack(source, source.length, Buffer.alloc(400), 0, source.length)).toBe(-1);
  });
});

describe('records of one kind', () => {
  const COUNT = 50;
  const texts = () => Array.from({ length: COUNT }, (_, index) => store.load(`order/${index}@A`));
  const expected = Array.from({ length: COUNT }, (_, index) => record(index));

  async function commitOrders(): Promise<void> {
    const orders = Array.from({ length: COUNT }, (_, index) => order(index));
    expect(await commitAll(store, group(orders))).toEqual([undefined]);
  }

  test('take a part of their text, and are the same after they were opened again', async () => {
    await open();
    await commitOrders();
    expect(texts()).toEqual(expected);
    await store.close();
    await open();
    expect(texts()).toEqual(expected);
    await store.close();
    const bytes = await inFiles(({ records }) => {
      const rows = [...records.getRange({ start: '\u0001' })];
      return rows.reduce((sum, { value }) => sum + value.length, 0);
    });
    const characters = expected.reduce((sum, text) => sum + text.length, 0);
    expect(bytes).toBeLessThan(characters / 1.5);
  });

  test('are damaged without their pattern, and no others', async () => {
    await open();
    await commitOrders();
    await commitAll(store, group([write('small/1@A', '{}')]));
    await store.close();
    await inFiles(({ patternRows }) => {
      const row = Buffer.from(patternRows.get(numberKey(1)) as Buffer);
      row[40] = (row[40] as number) ^ 1;
      return patternRows.put(numberKey(1), row);
    });
    await open();
    expect(() => store.load('order/7@A')).toThrow(/the pattern that it was packed by is damaged/);
    expect(store.load('small/1@A')).toBe('{}');
    expect([...store.damaged()].length).toBeGreaterThan(COUNT / 2);
    expect([...store.entries()].map(([address]) => address)).toContain('small/1@A');
    await store.close();
    const data = await openLmdbData(directory, 'verify');
    const { problems } = data.verify(() => {});
    const dumped = [...data.actors()].find(({ address }) => address === 'order/7@A');
    await data.close();
    expect(problems).toContainEqual({
      address: 'order/7@A',
      problem: 'the pattern that it was packed by is damaged',
    });
    expect(dumped?.entry.kind).toBe('order');
  });

  test('leave no pattern behind that was not committed', async () => {
    await open();
    await commitAll(store, group([write('small/1@A', '{}')]));
    await store.close();
    await inFiles(({ records }) => {
      const row = Buffer.from(records.get('small/1@A') as Buffer);
      row[30] = (row[30] as number) ^ 1;
      return records.put('small/1@A', row);
    });
    await open();
    const [refused] = await commitAll(store, group([order(1), order(2), write('small/1@A', '{}')]));
    expect(refused).toBe('RECORD_DAMAGED');
    expect(await commitAll(store, group([write('bill/1@A', record(3))]))).toEqual([undefined]);
    expect(await commitAll(store, group([order(1), order(2)]))).toEqual([undefined]);
    await store.close();
    await open();
    expect([store.load('order/2@A'), store.load('bill/1@A')]).toEqual([record(2), record(3)]);
  });

  test('of a former release are read, and packed when they are written again', async () => {
    const turnBack = turnKnobs({ lmdbPackedBodyBytesMax: 0 });
    await open();
    await commitOrders();
    await store.close();
    await inFiles((files) => {
      const head = readHeadRow(files, directory);
      return files.head.put(HEAD_KEY, encodeHead({ ...head, format: 1 }), head.commits);
    });
    turnBack();
    await open();
    expect(texts()).toEqual(expected);
    expect(await commitAll(store, group([order(1), order(2)]))).toEqual([undefined]);
    expect(texts()).toEqual(expected);
    await store.close();
    await inFiles((files) => {
      const rows = [1, 2, 3].map((index) => files.records.get(`order/${index}@A`)?.[0]);
      expect(rows).toEqual([1, 2, 1]);
      expect(readHeadRow(files, directory).format).toBe(2);
    });
  });

  test('that change their form get another pattern, a few times', async () => {
    const turnBack = turnKnobs({ lmdbPatternRecordsBetween: 1, lmdbPatternsPerKindMax: 3 });
    await open();
    const form = (index: number) =>
      Array.from({ length: 40 }, (_, place) => `${(index + 1) * 7919 ** 2 * (place + 3)}`).join();
    for (let index = 0; index < 6; index += 1)
      await commitAll(store, group([write(`order/${index}@A`, form(index))]));
    const loaded = Array.from({ length: 6 }, (_, index) => store.load(`order/${index}@A`));
    expect(loaded).toEqual(loaded.map((_, index) => form(index)));
    await store.close();
    turnBack();
    expect(await inFiles(({ patternRows }) => patternRows.getCount())).toBe(3);
  });
});
