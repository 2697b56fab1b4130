/**
 * Records that carry a right checksum and are not the ones last written: put into the file by
 * LMDB itself, past the store.
 */

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRuntime } from '../../create-runtime.ts';
import { HEAD_KEY } from '../../stores/lmdb/check.ts';
import { Environment } from '../../stores/lmdb/environment.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { fillDirectory, orderMachine, PLACE } from './filled-directory.ts';
import { newFolder } from './folders.ts';

let data: string;
let older: string;
const [ONE, TWO] = ['order/1@shop', 'order/2@shop'];

beforeAll(async () => {
  const folder = newFolder('replaced');
  data = join(folder, 'data');
  older = join(folder, 'older');
  await fillDirectory(data, 20, () => cpSync(data, older, { recursive: true }));
});

/** A copy of the directory after something was done to its tables. */
async function changed(
  change: (now: Environment, before: Environment) => unknown,
): Promise<string> {
  const directory = join(newFolder('changed'), 'data');
  cpSync(data, directory, { recursive: true });
  const now = await Environment.open(directory, { isReadOnly: false });
  const before = await Environment.open(older, { isReadOnly: true });
  await change(now, before);
  await now.close();
  await before.close();
  return directory;
}

/** The codes with which a store opens: as usual, and strictly. */
async function openingOf(directory: string): Promise<readonly string[]> {
  const codes: string[] = [];
  for (const isStrict of [false, true]) {
    const store = lmdbStore(directory, { isStrict });
    const opened = store.open(PLACE).then(
      () => 'opened',
      ({ code }: { code: string }) => code,
    );
    codes.push(await opened);
    await store.close();
  }
  return codes;
}

const row = (environment: Environment, address: string) =>
  environment.records.get(address) as Buffer;

describe('a store with right checksums is refused', () => {
  test('unless nothing was changed', async () => {
    expect(await openingOf(await changed(() => {}))).toEqual(['opened', 'opened']);
    const same = await changed((now) => now.records.put(ONE, Buffer.from(row(now, ONE))));
    expect(await openingOf(same)).toEqual(['opened', 'opened']);
  });

  test.each<[string, (now: Environment, before: Environment) => unknown]>([
    ['when a record is missing', (now) => now.records.remove(ONE)],
    ['when all records are missing', (now) => now.records.clearSync()],
    [
      'when a record is an older version of itself',
      (now, before) => now.records.put(ONE, Buffer.from(row(before, ONE))),
    ],
    [
      'when one is missing and another one came back',
      async (now, before) => {
        await now.records.remove(ONE);
        await now.records.put('order/99@shop', Buffer.from(row(before, TWO)));
      },
    ],
    [
      'when a record lies under a second address',
      (now) => now.records.put('order/99@shop', Buffer.from(row(now, ONE))),
    ],
    [
      'when a record has moved to another address',
      async (now) => {
        await now.records.put('order/99@shop', Buffer.from(row(now, ONE)));
        await now.records.remove(ONE);
      },
    ],
    [
      'when the head is an older one',
      (now, before) => now.head.put(HEAD_KEY, Buffer.from(before.head.get(HEAD_KEY) as Buffer), 1),
    ],
    ['when the head is missing', (now) => now.head.remove(HEAD_KEY)],
    [
      'when everything is missing, head included',
      async (now) => {
        now.records.clearSync();
        await now.head.remove(HEAD_KEY);
      },
    ],
  ])('%s', async (_, change) => {
    expect(await openingOf(await changed(change))).toEqual(['STORE_DAMAGED', 'STORE_DAMAGED']);
  });
});

test('a record with a wrong checksum leaves its actor alone, and the others work', async () => {
  const directory = await changed((now) => {
    const bytes = Buffer.from(row(now, ONE));
    bytes[70] = (bytes[70] as number) ^ 4;
    return now.records.put(ONE, bytes);
  });
  expect(await openingOf(directory)).toEqual(['opened', 'STORE_DAMAGED']);
  const errors: object[] = [];
  const logger = {
    debug() {},
    info() {},
    warn() {},
    error: (fields: object) => errors.push(fields),
  };
  const kinds = { order: orderMachine };
  const store = lmdbStore(directory);
  const runtime = await createRuntime({ place: PLACE, store, kinds, logger, telemetry: false });
  expect(errors).toEqual([expect.objectContaining({ address: ONE })]);
  expect(runtime.metrics()).toMatchObject({ recordsDamaged: 1 });
  const refused = { code: 'RECORD_DAMAGED', address: ONE };
  await expect(runtime.actor('order/1').send({ type: 'order.pay' })).rejects.toMatchObject(refused);
  await expect(runtime.spawn('order/1', { input: { note: '' } })).rejects.toMatchObject(refused);
  await runtime.actor('order/2').send({ type: 'order.pay' });
  expect(runtime.actor('order/2').getSnapshot().value).toBe('paid');
  await runtime.stop();
  // The damaged row is still what it was: nothing wrote over it.
  expect(await openingOf(directory)).toEqual(['opened', 'STORE_DAMAGED']);
});
