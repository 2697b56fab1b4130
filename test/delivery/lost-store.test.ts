/** An actor that is spawned again where nothing is known of its earlier life: what it says is heard by those who remember that. */

import { expect, test } from 'vitest';
import type { RuntimeLimits } from '../../runtime/base/limits.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { listener, speaker } from './talkers.ts';

/** The shop forgets soon; the hub remembers whom it has heard for days. */
const LIMITS = { shop: { endedRetentionMs: 1_000, dedupRetentionMs: 1_000 }, hub: {} };

type Place = Awaited<ReturnType<typeof world>>['hub'];

async function world() {
  const clock = new SimulatedClock();
  const network = inProcessNetwork();
  const open = (node: string, place: string, limits: Partial<RuntimeLimits>) =>
    testRuntime({
      kinds: { listener, speaker },
      node,
      place,
      limits,
      clock,
      transport: () => network.join(node),
    });
  const hub = await open('hub', 'hub', LIMITS.hub);
  await hub.spawn('listener/1');
  await hub.spawn('speaker/parent', { input: { self: 'parent' } });
  return { hub, shop: (node: string) => open(node, 'shop', LIMITS.shop) };
}

/** How it is spawned. */
const SPAWNS = {
  'by code': async (shop: Place, _: Place, self: string) => {
    await shop.spawn('speaker/1', { input: { self } });
  },
  'by an actor of its place': async (shop: Place, _: Place, self: string) => {
    await shop.spawn('speaker/parent', { input: { self: 'parent' }, ifAbsent: true });
    await shop
      .actor('speaker/parent')
      .send({ type: 'bear', address: 'speaker/1', input: { self } });
  },
  'by an actor of another place': async (_: Place, hub: Place, self: string) => {
    const bear = { type: 'bear', address: 'speaker/1@shop', input: { self } } as const;
    await hub.actor('speaker/parent').send(bear);
  },
};

type World = Awaited<ReturnType<typeof world>>;

/** How its earlier life is lost: the place after that. */
const LOSSES = {
  'it ended and was forgotten': async (shop: Place) => {
    await shop.runtime.end('speaker/1');
    await shop.advance('1m');
    expect(shop.store.load('speaker/1@shop')).toBeUndefined();
    return shop;
  },
  'its node began again with an empty store': async (shop: Place, { shop: open }: World) => {
    await shop.stop();
    return open('shop');
  },
  'another node of its place began with an empty store': async (
    shop: Place,
    { shop: open }: World,
  ) => {
    await shop.stop();
    return open('shop-2');
  },
};

for (const [how, bear] of Object.entries(SPAWNS))
  for (const [why, lose] of Object.entries(LOSSES))
    test(`an actor born again ${how} after ${why} is not taken for its earlier life`, async () => {
      const there = await world();
      const { hub } = there;
      const live = async (shop: Place, self: string) => {
        await bear(shop, hub, self);
        await shop.advance('1s');
        await shop.spawn('listener/1', { ifAbsent: true });
        const to = ['listener/1@hub', 'listener/1@shop'];
        await shop.actor('speaker/1').send({ type: 'speak', to, count: 2 });
        await shop.advance('1s');
      };
      const first = await there.shop('shop');
      await live(first, 'first life');
      const second = await lose(first, there);
      await live(second, 'second life');
      const heard = (rt: Place) => rt.actor('listener/1').getSnapshot().context.heard;
      expect(heard(hub)).toEqual({ 'first life': [1, 2], 'second life': [1, 2] });
      expect(heard(second)).toMatchObject({ 'second life': [1, 2] });
    });
