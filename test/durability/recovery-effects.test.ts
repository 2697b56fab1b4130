/** Durable and plain actions over the death of a node on LMDB: which run again, and under which id. */

import { expect, test } from 'vitest';
import { startWorkshop } from './recovery-workshop.ts';

test('a durable effect runs again under the same id until it is done, and then never', async () => {
  const { shop, nodes, node, send, record } = await startWorkshop();
  await send({ type: 'job.charge', amount: 5 });
  await node.restart();
  await node.restart();
  expect(shop.charged.map(({ params }) => params)).toEqual(Array(3).fill({ amount: 5 }));
  const [id, ...others] = new Set(shop.charged.map(({ effectId }) => effectId));
  expect([id, others]).toEqual([expect.stringMatching(/^workshop\/1@node#2\.0\.\d+$/), []]);
  expect(shop.charged.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  shop.charged[2]?.finish();
  await nodes.settle();
  expect(record()).not.toHaveProperty('effects');
  await node.restart();
  await nodes.advance('1h');
  expect(shop.charged).toHaveLength(3);
  expect(node.runtime.counts()).toMatchObject({ live: 0, performers: 0 });
});

test('of several effects those run again that were not done and recorded', async () => {
  const { shop, nodes, node, send } = await startWorkshop();
  for (const amount of [1, 2, 3]) await send({ type: 'job.charge', amount });
  const [first, second, third] = shop.charged.map(({ effectId }) => effectId);
  expect(new Set([first, second, third]).size).toBe(3);
  shop.charged[1]?.finish();
  await nodes.settle();
  await node.restart();
  expect(shop.charged.slice(3).map(({ effectId }) => effectId)).toEqual([first, third]);
});

test('an effect that was done, and whose end is not on disk, runs again under its id', async () => {
  const { shop, nodes, node, send } = await startWorkshop();
  await send({ type: 'job.charge', amount: 5 });
  node.dieLater({ heardMax: 0, lastWords: 'lost' });
  shop.charged[0]?.finish();
  await nodes.settle();
  expect(node.store.isSilent).toBe(true);
  await node.restart();
  expect(shop.charged.map(({ effectId }) => effectId)).toEqual(
    Array(2).fill(shop.charged[0]?.effectId),
  );
  node.dieLater({ heardMax: 0, lastWords: 'written' });
  shop.charged[1]?.finish();
  await nodes.settle();
  expect(node.store.isSilent).toBe(true);
  await node.restart();
  expect(shop.charged).toHaveLength(2);
});

test('an effect whose turn nobody heard of runs if the turn is on disk, and only then', async () => {
  const { shop, nodes, node } = await startWorkshop();
  for (const lastWords of ['lost', 'written'] as const) {
    node.dieLater({ heardMax: 0, lastWords });
    const sent = node.rt.actor('workshop/1').send({ type: 'job.charge', amount: 5 });
    const refused = expect(sent).rejects.toMatchObject({ code: 'NOT_HOSTED' });
    await nodes.settle();
    await node.restart();
    await refused;
    expect(shop.charged).toHaveLength(lastWords === 'written' ? 1 : 0);
  }
});

test('an action that is not durable runs once, or not at all when its node dies before', async () => {
  const { shop, nodes, node, send } = await startWorkshop();
  await send({ type: 'job.print' });
  await node.restart();
  await nodes.advance('1h');
  expect(shop.printed).toHaveLength(1);
  node.dieLater({ heardMax: 0, lastWords: 'written' });
  const sent = node.rt.actor('workshop/1').send({ type: 'job.print' });
  const refused = expect(sent).rejects.toMatchObject({ code: 'NOT_HOSTED' });
  await nodes.settle();
  await node.restart();
  await refused;
  await nodes.advance('1h');
  expect(shop.printed).toHaveLength(1);
  expect(node.runtime.history('workshop/1').map(({ event }) => event)).toEqual([
    'escapement.spawn',
    'job.print',
    'job.print',
  ]);
});
