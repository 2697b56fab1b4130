/** Promises and callbacks over the death of a node on LMDB: what was under way begins again, and nothing else. */

import { expect, test } from 'vitest';
import { startWorkshop } from './recovery-workshop.ts';

test('a promise that had not finished runs again with the same input, and its result counts', async () => {
  const { shop, nodes, node, send, snapshot } = await startWorkshop();
  await send({ type: 'job.begin', job: 'clock' });
  await node.restart();
  await node.restart();
  expect(shop.runs.map(({ input }) => input)).toEqual(Array(3).fill({ job: 'clock' }));
  shop.runs[2]?.finish('a clock');
  await nodes.settle();
  expect(snapshot()).toMatchObject({ value: 'made', context: { made: ['a clock'] } });
  await node.restart();
  expect(shop.runs).toHaveLength(3);
  expect(snapshot().context.made).toEqual(['a clock']);
});

test('a promise that fails after the restart fails its actor as it would have before', async () => {
  const { shop, nodes, node, send, snapshot } = await startWorkshop();
  await send({ type: 'job.begin', job: 'clock' });
  await node.restart();
  shop.runs[1]?.fail(new Error('no brass'));
  await nodes.settle();
  expect(snapshot()).toMatchObject({ value: 'idle', context: { made: [] } });
});

test('a promise of a state that was left before the death does not run again', async () => {
  const { shop, nodes, node, send, snapshot } = await startWorkshop();
  await send({ type: 'job.begin', job: 'clock' });
  await send({ type: 'job.abandon' });
  await node.restart();
  await nodes.settle();
  expect(shop.runs).toHaveLength(1);
  expect(node.runtime.counts()).toMatchObject({ live: 0 });
  expect(snapshot().value).toBe('idle');
});

test('of two promises of one state, one after the other, only that which was left open runs again', async () => {
  const { shop, nodes, node, send, snapshot } = await startWorkshop();
  await send({ type: 'job.begin', job: 'first' });
  await send({ type: 'job.abandon' });
  await send({ type: 'job.begin', job: 'second' });
  await node.restart();
  expect(shop.runs.map(({ input }) => input.job)).toEqual(['first', 'second', 'second']);
  // The promise of the life before has no process any more: whatever it gives reaches nobody.
  shop.runs[0]?.finish('too late');
  shop.runs[1]?.finish('from the life before');
  await nodes.settle();
  expect(snapshot().value).toBe('making');
  shop.runs[2]?.finish('a clock');
  await nodes.settle();
  expect(snapshot().context.made).toEqual(['a clock']);
});

test('a promise whose result was not durable yet runs again; one whose result is on disk does not', async () => {
  const { shop, nodes, node, send, snapshot } = await startWorkshop();
  await send({ type: 'job.begin', job: 'clock' });
  node.dieLater({ heardMax: 0, lastWords: 'lost' });
  shop.runs[0]?.finish('lost');
  await nodes.settle();
  expect(node.store.isSilent).toBe(true);
  await node.restart();
  expect(snapshot().value).toBe('making');
  node.dieLater({ heardMax: 0, lastWords: 'written' });
  shop.runs[1]?.finish('written');
  await nodes.settle();
  expect(node.store.isSilent).toBe(true);
  await node.restart();
  expect(shop.runs).toHaveLength(2);
  expect(snapshot()).toMatchObject({ value: 'made', context: { made: ['written'] } });
});

test('a child whose start was not durable does not run at all', async () => {
  const { shop, nodes, node, snapshot } = await startWorkshop();
  node.dieLater({ heardMax: 0, lastWords: 'lost' });
  const begun = node.rt.actor('workshop/1').send({ type: 'job.begin', job: 'clock' });
  const refused = expect(begun).rejects.toMatchObject({ code: 'NOT_HOSTED', retryable: true });
  await nodes.settle();
  await node.restart();
  await refused;
  expect(shop.runs).toEqual([]);
  expect(snapshot().value).toBe('idle');
});

test('a child whose start is on disk runs, although its process died before it could start it', async () => {
  const { shop, nodes, node, snapshot } = await startWorkshop();
  node.dieLater({ heardMax: 0, lastWords: 'written' });
  const begun = node.rt.actor('workshop/1').send({ type: 'job.begin', job: 'clock' });
  const refused = expect(begun).rejects.toMatchObject({ code: 'NOT_HOSTED' });
  await nodes.settle();
  expect(shop.runs).toEqual([]);
  await node.restart();
  await refused;
  expect(shop.runs.map(({ input }) => input)).toEqual([{ job: 'clock' }]);
  expect(snapshot().value).toBe('making');
});

test('a callback is started again and reaches its actor, the one of the life before does not', async () => {
  const { shop, nodes, node, send, snapshot } = await startWorkshop();
  await send({ type: 'job.begin', job: 'clock' });
  shop.bells[0]?.ring(1);
  await nodes.settle();
  await node.restart();
  expect(shop.bells.map(({ isTaken }) => isTaken)).toEqual([true, false]);
  shop.bells[0]?.ring(2);
  shop.bells[1]?.ring(3);
  await nodes.settle();
  expect(snapshot().context.heard).toEqual([1, 3]);
  await send({ type: 'job.abandon' });
  expect(shop.bells.map(({ isTaken }) => isTaken)).toEqual([true, true]);
  await node.restart();
  expect(shop.bells).toHaveLength(2);
});
