/**
 * Recovery of contents: what can be read of a place before the death of its node on LMDB can be read after
 * it, all of it and the same.
 */

import { expect, test } from 'vitest';
import { noRows, rowsOf } from './recovery-contents.ts';
import { order } from './recovery-machines.ts';
import { RecoveryNodes } from './recovery-nodes.ts';

const KEYS = Array.from({ length: 25 }, (_, index) => `${index}`);
const ADDRESSES = KEYS.map((key) => `order/${key}` as const);

/** Orders in every state: waiting, extended, failed at, expired and paid. */
async function startOrders() {
  const nodes = new RecoveryNodes();
  const node = await nodes.start({ kinds: { order } });
  const { rt } = node;
  for (const key of KEYS)
    await nodes.during(rt.spawn(`order/${key}`, { input: { total: Number(key) } }));
  await nodes.advance('9m');
  for (const key of KEYS.slice(0, 10))
    await nodes.during(rt.actor(`order/${key}`).send({ type: 'order.extend' }));
  for (const key of KEYS.slice(5, 8))
    await expect(
      nodes.during(rt.actor(`order/${key}`).send({ type: 'order.fail' })),
    ).rejects.toMatchObject({ code: 'TURN_FAILED' });
  for (const key of KEYS.slice(20))
    await nodes.during(rt.actor(`order/${key}`).send({ type: 'order.pay' }));
  await nodes.advance('2m');
  return { nodes, node };
}

test('queries, history, explanations and undelivered messages are the same before and after', async () => {
  const { node } = await startOrders();
  const before = await rowsOf(node.rt, ADDRESSES);
  // So that nothing equals nothing.
  expect(Object.entries(before.queries).filter(([, rows]) => rows.length === 0)).toEqual([]);
  expect(before.undelivered).toHaveLength(3);
  expect(before.histories.map((rows) => rows.length).sort()).toContain(3);
  await node.restart();
  const after = await rowsOf(node.rt, ADDRESSES);
  expect(after).toEqual(before);
});

test('what was undelivered before can be delivered or dropped after, and is gone from then on', async () => {
  const { nodes, node } = await startOrders();
  await node.restart();
  const [first, second, third] = node.runtime.undelivered();
  expect([first, second, third].map((row) => row?.error.code)).toEqual(
    Array(3).fill('TURN_FAILED'),
  );
  await nodes.during(node.runtime.dropUndelivered(first?.id ?? ''));
  await expect(nodes.during(node.runtime.retryUndelivered(second?.id ?? ''))).rejects.toMatchObject(
    { code: 'TURN_FAILED' },
  );
  // What fails again stands there again, behind the others.
  const left = node.runtime.undelivered();
  expect(left.map(({ to }) => to)).toEqual([third?.to, second?.to]);
  await node.restart();
  expect(node.runtime.undelivered()).toEqual(left);
});

test('pages of a query go on after the death where they were', async () => {
  const { node } = await startOrders();
  const all = node.runtime.query({ kind: 'order', limit: 1_000 }).actors;
  const found = [];
  let cursor: string | undefined;
  do {
    const page = node.runtime.query({ kind: 'order', limit: 4, ...(cursor && { cursor }) });
    found.push(...page.actors);
    cursor = page.cursor;
    await node.restart();
  } while (cursor !== undefined);
  expect(found).toEqual(all);
});

test('a node that has nothing to read has nothing after its death', async () => {
  const nodes = new RecoveryNodes();
  const node = await nodes.start({ kinds: { order } });
  await node.restart();
  expect(await rowsOf(node.rt, [])).toEqual(noRows());
});
