/** A node that comes back with an old copy of its store: peers refuse it until it has a greater fence. */

import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRuntime, inProcessNetwork, lmdbStore, type Transport } from '../../index.ts';
import { ClusterViews } from '../../inspector/live/cluster.ts';
import { LiveContext } from '../../inspector/live/live-context.ts';
import { NodeViews } from '../../inspector/live/node-views.ts';
import type { MessagesAnswer } from '../../inspector/protocol.ts';
import { Recorded } from '../../inspector/recording/recorded.ts';
import { recordedView } from '../../inspector/recording/recorded-views.ts';
import { Recorder } from '../../inspector/recording/recorder.ts';
import { listener, speaker } from '../delivery/talkers.ts';
import { until } from '../kit/eventually.ts';

const KINDS = { speaker, listener };

async function world() {
  const root = await mkdtemp(join(tmpdir(), 'escapement-old-copy-'));
  const network = inProcessNetwork();
  const said = new SaidBy(network.join('hub'));
  const hub = await createRuntime({ node: 'hub', transport: said, kinds: KINDS });
  await hub.spawn('listener/1');
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
  /** What the listener at the hub has heard, by speaker. */
  const heard = () => {
    const { context } = hub.actor('listener/1').getSnapshot();
    return context.heard;
  };
  return {
    hub,
    said,
    shop,
    heard,
    keep: () => cp(join(root, 'data'), join(root, 'copy'), { recursive: true }),
    close: async () => {
      await hub.stop();
      await rm(root, { recursive: true });
    },
  };
}

/** The hub's link: counts what it tells others of their places, and can keep that back. */
class SaidBy implements Transport {
  isSilent = false;
  /** Frames that say that a place is outranked, and receipts that say that nobody hosts one. */
  outranked = 0;
  refused = 0;
  readonly #link: Transport;

  constructor(link: Transport) {
    this.#link = link;
  }

  send(node: string, frame: string): boolean {
    if (frame.includes('Another node has hosted')) this.refused += 1;
    if (!frame.includes('"outranked"')) return this.#link.send(node, frame);
    this.outranked += 1;
    return this.isSilent || this.#link.send(node, frame);
  }

  start(...parts: Parameters<Transport['start']>): Promise<void> {
    return this.#link.start(...parts);
  }

  peers(): readonly string[] {
    return this.#link.peers();
  }

  stop(): Promise<void> {
    return this.#link.stop();
  }
}

test('an old copy acts again only under a greater fence, stored first', async () => {
  const { shop, heard, keep, close } = await world();
  await (await shop('data')).runtime.stop();
  await keep();
  for (let round = 0; round < 3; round += 1) await (await shop('data')).runtime.stop();

  // Fences 1 to 4 were used before; the copy knows 1 and takes 2 at first.
  const { runtime, log } = await shop('copy');
  await until(() => log.includes('acquired 5'));
  const teller = await runtime.spawn('speaker/new', { input: { self: 'speaker/new@shop' } });
  await teller.send({ type: 'speak', to: ['listener/1@hub'], count: 2 });
  await until(() => Object.keys(heard()).length > 0);
  expect(heard()).toEqual({ 'speaker/new@shop': [1, 2] });
  expect(log.filter((line) => line.startsWith('acquired'))).toEqual(['acquired 5']);
  await runtime.stop();
  await close();
});

test('what it says under its old fence is refused, and taken once when it has a greater one', async () => {
  const { said, shop, heard, keep, close } = await world();
  const first = (await shop('data')).runtime;
  await first.spawn('speaker/1', { input: { self: 'speaker/1@shop' } });
  await first.stop();
  await keep();
  for (let round = 0; round < 2; round += 1) await (await shop('data')).runtime.stop();

  said.isSilent = true;
  const { runtime, log } = await shop('copy');
  await runtime.actor('speaker/1').send({ type: 'speak', to: ['listener/1@hub'], count: 2 });
  await until(() => said.refused >= 3);
  expect([heard(), runtime.isHosting, log]).toEqual([{}, true, []]);
  said.isSilent = false;
  await until(() => Object.keys(heard()).length > 0);
  expect(heard()).toEqual({ 'speaker/1@shop': [1, 2] });
  expect(log).toEqual(['lost 2', 'acquired 4']);
  await runtime.stop();
  await close();
});

test('the inspector marks what a fence kept out, live and recorded, and what was sent again', async () => {
  const { hub, said, shop, heard, keep, close } = await world();
  const views = new NodeViews(new LiveContext(hub as never, { bytesMax: 10_000 }));
  const recorder = new Recorder(
    {
      now: () => 0,
      definition: () => undefined,
      node: 'hub',
      place: 'hub',
      version: '0',
    },
    { turnsMax: 1_000, bytesMax: 1_000_000 },
  );
  hub.inspect(recorder.read);
  const parameters = { address: 'listener/1@hub' };
  const live = async () =>
    ((await new ClusterViews(views, false).query('messages', parameters)) as MessagesAnswer)
      .messages;
  const recorded = async () => {
    const lines = recorder.lines();
    return ((await recordedView(new Recorded(lines), 'messages', parameters)) as MessagesAnswer)
      .messages;
  };
  expect(await live()).toEqual([]);
  const first = (await shop('data')).runtime;
  await first.spawn('speaker/1', { input: { self: 'speaker/1@shop' } });
  await first.stop();
  await keep();
  for (let round = 0; round < 2; round += 1) await (await shop('data')).runtime.stop();

  said.isSilent = true;
  const { runtime } = await shop('copy');
  await runtime.actor('speaker/1').send({ type: 'speak', to: ['listener/1@hub'], count: 1 });
  await until(() => said.refused >= 2);
  const fenced = { from: 'speaker/1@shop', to: 'listener/1@hub', outcome: 'fenced' };
  expect((await live()).at(-1)).toMatchObject({ ...fenced, why: expect.stringMatching(/fence/) });
  expect((await live()).filter(({ outcome }) => outcome === 'fenced')).toHaveLength(1);
  expect((await recorded()).at(-1)).toMatchObject(fenced);
  said.isSilent = false;
  await until(() => Object.keys(heard()).length > 0);
  const again = { ...fenced, outcome: 'repeated', why: expect.stringMatching(/fence/) };
  expect((await live()).filter(({ counter }) => counter !== undefined)).toMatchObject([again]);
  expect((await recorded()).at(-1)).toMatchObject(again);
  views.stop();
  await runtime.stop();
  await close();
});

test('an old copy of a place that somebody else hosts stays down until that one is gone', async () => {
  const { said, shop, keep, close } = await world();
  await (await shop('data')).runtime.stop();
  await keep();
  for (let round = 0; round < 3; round += 1) await (await shop('data')).runtime.stop();
  const rightful = await shop('data');

  const old = await shop('copy', 'shop-old');
  // Told so again each time it asks.
  await until(() => said.outranked >= 5);
  expect(old.runtime.isHosting).toBe(false);
  expect([rightful.runtime.isHosting, rightful.log]).toEqual([true, []]);
  await rightful.runtime.stop();
  await until(() => old.log.includes('acquired 6'));
  expect(old.log.filter((line) => line.startsWith('acquired'))).toEqual(['acquired 6']);
  await old.runtime.stop();
  await close();
});
