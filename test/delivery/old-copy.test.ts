/** A node that comes back with an old copy of its store: peers refuse it until it has a greater fence. */

import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createRuntime, inProcessNetwork, lmdbStore } from '../../index.ts';
import { listener, speaker } from './talkers.ts';

const KINDS = { speaker, listener };

async function world() {
  const root = await mkdtemp(join(tmpdir(), 'escapement-old-copy-'));
  const network = inProcessNetwork();
  const hub = await createRuntime({ node: 'hub', transport: network.join('hub'), kinds: KINDS });
  const shop = async (directory: 'data' | 'copy', node = 'shop') => {
    const runtime = await createRuntime({
      node,
      place: 'shop',
      transport: network.join(node),
      store: lmdbStore(join(root, directory)),
      kinds: KINDS,
      limits: { retryMinMs: 20, retryMaxMs: 50 },
    });
    const log: string[] = [];
    runtime.inspect((record) => {
      if (record.type === 'lease') log.push(`${record.change} ${record.fence}`);
    });
    return { runtime, log };
  };
  return {
    hub,
    shop,
    keep: () => cp(join(root, 'data'), join(root, 'copy'), { recursive: true }),
    close: async () => {
      await hub.stop();
      await rm(root, { recursive: true });
    },
  };
}

const heardOf = (hub: Awaited<ReturnType<typeof world>>['hub']) =>
  (hub.actor('listener/1').getSnapshot() as { context: { heard: Record<string, number[]> } })
    .context.heard;

test('an old copy acts again only under a greater fence, stored first', async () => {
  const { hub, shop, keep, close } = await world();
  await hub.spawn('listener/1');
  await (await shop('data')).runtime.stop();
  await keep();
  for (let round = 0; round < 3; round += 1) await (await shop('data')).runtime.stop();

  const { runtime, log } = await shop('copy');
  await vi.waitUntil(() => log.includes('acquired 5'));
  const teller = await runtime.spawn('speaker/new', { input: { self: 'speaker/new@shop' } });
  await teller.send({ type: 'speak', to: ['listener/1@hub'], count: 2 });
  await vi.waitUntil(() => Object.keys(heardOf(hub)).length > 0);
  expect(heardOf(hub)).toEqual({ 'speaker/new@shop': [1, 2] });
  // Fences 1 to 4 were used before; the copy knew 1 and took 2 at first.
  expect(log.filter((line) => line.startsWith('acquired'))).toEqual(['acquired 5']);
  await runtime.stop();
  await close();
});

test('an old copy of a place that somebody else hosts stays down until that one is gone', async () => {
  const { shop, keep, close } = await world();
  await (await shop('data')).runtime.stop();
  await keep();
  for (let round = 0; round < 3; round += 1) await (await shop('data')).runtime.stop();
  const rightful = await shop('data');

  const old = await shop('copy', 'shop-old');
  // Long enough to be asked many times.
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect([old.runtime.isHosting, old.log.length <= 1]).toEqual([false, true]);
  expect(rightful.runtime.isHosting).toBe(true);
  expect(rightful.log).toEqual([]);
  await rightful.runtime.stop();
  await vi.waitUntil(() => old.log.includes('acquired 6'));
  await old.runtime.stop();
  await close();
});
