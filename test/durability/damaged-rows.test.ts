/** Rows of tables that are missing, old, elsewhere or not what was written: seen when the store is opened. */

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openLmdbData } from '../../cli/loaders/lmdb-data.ts';
import { HEAD_KEY } from '../../stores/lmdb/check.ts';
import { Environment } from '../../stores/lmdb/environment.ts';
import { decodeHead, encodeHead, type Head } from '../../stores/lmdb/head.ts';
import { encodeRow, rowKey } from '../../stores/lmdb/rows.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { commitAll, group, write } from '../contracts/store-groups.ts';
import { newFolder } from './folders.ts';

const ONE = 'order/1@A';
const TWO = 'order/2@A';
const KEY = rowKey(ONE, 'items', 'a');
let data: string;

const rows = (text: string) =>
  new Map([
    [
      'items',
      new Map([
        ['a', text],
        ['b', text],
      ]),
    ],
  ]);

beforeAll(async () => {
  data = join(newFolder('rows'), 'data');
  const store = lmdbStore(data);
  await store.open();
  await commitAll(
    store,
    group([write(ONE, 'x', { rows: rows('1') }), write(TWO, 'y', { rows: rows('2') })]),
  );
  await store.close();
});

/** A copy of the directory after something was done to its rows. */
async function changed(change: (now: Environment) => unknown): Promise<string> {
  const directory = join(newFolder('changed'), 'data');
  cpSync(data, directory, { recursive: true });
  const environment = await Environment.open(directory, { isReadOnly: false });
  await change(environment);
  await environment.close();
  return directory;
}

const at = (environment: Environment, key: string) =>
  Buffer.from(environment.rows.get(key) as Buffer);

async function problemsOf(directory: string): Promise<readonly unknown[]> {
  const opened = await openLmdbData(directory, 'verify');
  const { problems } = opened.verify(() => {});
  await opened.close();
  return problems;
}

describe('a store', () => {
  test('has no problem when nothing was done to its rows', async () => {
    const directory = await changed(() => {});
    expect(await problemsOf(directory)).toEqual([]);
    const store = lmdbStore(directory, { isStrict: true });
    await store.open();
    expect([...store.damaged()]).toEqual([]);
    await store.close();
  });

  test.each<[string, (now: Environment) => unknown, RegExp]>([
    ['is missing', (now) => now.rows.remove(KEY), /4 rows of tables, and now there are 3/],
    ['came beside it', (now) => now.rows.put(`${KEY}2`, at(now, KEY)), /now there are 5/],
    [
      'is another sound one of its own',
      async (now) => {
        await now.rows.put(KEY, encodeRow(KEY, ['items', 'a', '"old"']));
      },
      /at least one of 4 rows of tables is not the one last written/,
    ],
    [
      'belongs to nobody',
      async (now) => {
        await now.rows.put(rowKey('order/9@A', 'items', 'a'), at(now, KEY));
        await now.rows.remove(KEY);
      },
      /1 of 4 rows of tables have no record/,
    ],
  ])('is refused whole when a row %s', async (_, change, says) => {
    const directory = await changed(change);
    const store = lmdbStore(directory);
    await expect(store.open()).rejects.toMatchObject({
      code: 'STORE_DAMAGED',
      message: expect.stringMatching(says),
    });
    expect(JSON.stringify(await problemsOf(directory))).toMatch(says);
  });

  test('leaves the actor alone of which a row is damaged, and serves the others', async () => {
    const directory = await changed(async (now) => {
      const row = at(now, KEY);
      row[row.length - 1] = (row.at(-1) as number) ^ 1;
      await now.rows.put(KEY, row);
    });
    const store = lmdbStore(directory);
    await store.open();
    expect([...store.damaged()]).toEqual([[ONE, 'the checksum of one of its rows is wrong']]);
    expect([...store.entries()].map(([address]) => address)).toEqual([TWO]);
    expect(() => store.load(ONE)).toThrow(/order\/1@A is damaged/);
    expect(() => [...store.rows(ONE)]).toThrow(/order\/1@A is damaged/);
    expect([...store.rows(TWO)]).toEqual([
      ['items', 'a', '2'],
      ['items', 'b', '2'],
    ]);
    await store.close();
    expect(await problemsOf(directory)).toEqual([
      { address: ONE, problem: 'the checksum of one of its rows is wrong' },
    ]);
  });

  test('of a release that knew no rows can be looked at, and taken over', async () => {
    const directory = await changed(async (now) => {
      const {
        rows: _,
        rowsSum: __,
        ...head
      } = decodeHead(now.head.get(HEAD_KEY) as Buffer) as Head;
      await now.head.put(HEAD_KEY, encodeHead(head as never), head.commits);
      now.rows.dropSync();
    });
    expect(await problemsOf(directory)).toEqual([]);
    const store = lmdbStore(directory);
    await store.open();
    await commitAll(store, group([write(ONE, 'z', { rows: rows('3') })]));
    await store.close();
    expect(await problemsOf(directory)).toEqual([]);
  });
});
