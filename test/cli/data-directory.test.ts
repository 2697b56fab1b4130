/** The `data` commands as processes, over directories that a real node has written. */

import { cp, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setup } from 'xstate';
import { createRuntime, lmdbStore } from '../../index.ts';
import { Environment } from '../../stores/lmdb/environment.ts';
import { ended, start } from './command-line.ts';

const order = setup({ types: { events: {} as { readonly type: 'order.paid' } } }).createMachine({
  id: 'order',
  initial: 'open',
  states: { open: { on: { 'order.paid': 'paid' }, after: { 900000: 'paid' } }, paid: {} },
});

const ORDERS = 60;
let root: string;
let directory: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'escapement-data-'));
  directory = join(root, 'data');
  const runtime = await node();
  for (let index = 0; index < ORDERS; index += 1) {
    const paid = await runtime.spawn(`order/${index}`);
    if (index % 3 === 0) await paid.send({ type: 'order.paid' });
  }
  await runtime.stop();
});
afterAll(() => rm(root, { recursive: true }));

const node = () => createRuntime({ node: 'shop', store: lmdbStore(directory), kinds: { order } });
const data = (...args: string[]) => ended(start(['data', ...args]));

async function copyOf(name: string): Promise<string> {
  const copy = join(root, name);
  await cp(directory, copy, { recursive: true });
  return copy;
}

test('info tells what is there, also beside a living owner', async () => {
  const runtime = await node();
  const { code, out } = await data('info', directory, '--json');
  await runtime.stop();
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    format: 2,
    records: [{ kind: 'order', status: 'active', count: ORDERS }],
    historyRows: ORDERS + ORDERS / 3,
    undelivered: 0,
    owner: { pid: process.pid },
  });
});

test('dump prints a line for each actor, with its record and its history', async () => {
  const { code, out } = await data('dump', directory, '--history');
  const rows = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([code, rows.length]).toEqual([0, ORDERS]);
  const third = rows.find(({ address }) => address === 'order/3@shop');
  expect(third.entry.state).toBe('paid');
  expect(third.record.snapshot.value).toBe('paid');
  expect(third.history.map(({ event }: { event: string }) => event)).toEqual([
    'escapement.spawn',
    'order.paid',
  ]);
});

test('verify finds nothing wrong with what is right', async () => {
  const { code, out } = await data('verify', directory, '--json');
  expect([code, JSON.parse(out)]).toEqual([0, { records: ORDERS, problems: [] }]);
});

test('verify names a record with a wrong byte, and exits 65', async () => {
  const copy = await copyOf('one-byte');
  const environment = await Environment.open(copy, { isReadOnly: false });
  const row = Buffer.from(environment.records.get('order/7@shop') as Buffer);
  row[row.length - 20] = (row[row.length - 20] as number) ^ 1;
  await environment.records.put('order/7@shop', row);
  await environment.close();
  const { code, out } = await data('verify', copy, '--json');
  expect(code).toBe(65);
  expect(JSON.parse(out).problems).toContainEqual({
    address: 'order/7@shop',
    problem: 'its checksum is wrong',
  });
});

test('verify of a file that cannot be read exits 65, whatever that does to the process that reads it', async () => {
  const copy = await copyOf('garbage');
  const file = await open(join(copy, 'data.mdb'), 'r+');
  const { size } = await file.stat();
  // Behind the two meta pages everything is nonsense.
  await file.write(Buffer.alloc(size - 8_192, 0xa5), 0, size - 8_192, 8_192);
  await file.close();
  const { code, out, err } = await data('verify', copy);
  expect(code).toBe(65);
  expect(out + err).toMatch(/damaged|BAD/);
});

test('compact makes the file smaller, keeps everything, and wants the directory for itself', async () => {
  const runtime = await node();
  const refused = await data('compact', directory);
  await runtime.stop();
  expect([refused.code, refused.err]).toEqual([73, expect.stringContaining('in use')]);
  const before = await data('dump', directory, '--history');
  const { code, out } = await data('compact', directory, '--json');
  const { beforeBytes, afterBytes } = JSON.parse(out);
  expect([code, afterBytes < beforeBytes]).toEqual([0, true]);
  expect((await data('verify', directory)).code).toBe(0);
  expect((await data('dump', directory, '--history')).out).toBe(before.out);
  // And a node goes on from it.
  const again = await node();
  await again.actor('order/1').send({ type: 'order.paid' });
  await again.stop();
  expect((await data('verify', directory)).code).toBe(0);
});

test('a directory without a store is told apart from a bad one', async () => {
  const { code, err } = await data('info', join(root, 'nothing'));
  expect([code, err]).toEqual([65, expect.stringContaining('There is no store in')]);
});
