/** One place, two nodes, one store: the second goes on where the first stopped. */

import { expect, test } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import type { PerformerCall } from '../../runtime/actor/kind.ts';
import { localLease } from '../../runtime/system/local-lease.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';
import { during } from '../engine/outcomes.ts';
import { LossyNetwork } from './lossy-network.ts';
import { listener, speaker, upTo } from './talkers.ts';

const charged: Array<{ node: string; effectId: string }> = [];

const shop = setup({
  types: { context: {} as { result: string | null; expiredAt: number | null; terms: number[] } },
  actors: { pack: fromPromise(() => new Promise<string>(() => {})) },
  actions: { charge: () => {} },
  delays: { limit: 600_000 },
}).createMachine({
  id: 'shop',
  context: { result: null, expiredAt: null, terms: [] },
  invoke: { src: 'pack', input: { box: 7 }, onDone: { actions: assign({ result: 'packed' }) } },
  initial: 'open',
  on: {
    'order.charge': { actions: 'charge' },
    'leadership.acquired': {
      actions: assign({
        terms: ({ context, event }) => [...context.terms, (event as { fence?: number }).fence ?? 0],
      }),
    },
  },
  states: {
    open: {
      after: {
        limit: {
          target: 'expired',
          actions: assign({ expiredAt: ({ event }) => (event as { at?: number }).at ?? 0 }),
        },
      },
    },
    expired: {},
  },
});

const KINDS = { speaker, listener, shop };

async function standby() {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const store = memoryStore();
  const lease = localLease();
  const at = (node: string) =>
    testRuntime({
      kinds: KINDS,
      options: {
        shop: {
          perform: {
            charge: {
              durable: true,
              attemptsMax: 100,
              run: ({ effectId, signal }: PerformerCall) => {
                charged.push({ node, effectId });
                if (node === 'first')
                  return new Promise((_, reject) =>
                    signal.addEventListener('abort', () => reject(signal.reason)),
                  );
                return undefined;
              },
            },
          },
        },
      },
      node,
      place: 'p',
      clock,
      store,
      lease,
      transport: () => network.join(node),
    });
  charged.length = 0;
  const first = await at('first');
  const second = await at('second');
  const other = await testRuntime({
    kinds: KINDS,
    node: 'other',
    clock,
    transport: () => network.join('other'),
  });
  expect([first.runtime.isHosting, second.runtime.isHosting]).toEqual([true, false]);
  return { first, second, other, network, lease, clock, store };
}

test('the second holder continues outboxes under the same identities', async () => {
  const { first, second, other, network, lease } = await standby();
  await other.spawn('listener/l');
  await first.spawn('speaker/s', { input: { self: 's' } });
  network.filter = (from) => from !== 'other';
  await first.actor('speaker/s').send({ type: 'speak', to: ['listener/l@other'], count: 5 });
  await first.settle();
  expect(other.actor('listener/l').getSnapshot().context.heard).toEqual({ s: upTo(5) });
  lease.expire('p');
  network.filter = () => true;
  await first.advance('1m');
  expect([first.runtime.isHosting, second.runtime.isHosting]).toEqual([false, true]);
  await second.actor('speaker/s').send({ type: 'speak', to: ['listener/l@other'], count: 1 });
  await first.advance('1m');
  expect(other.actor('listener/l').getSnapshot().context.heard).toEqual({ s: upTo(6) });
  for (const rt of [first, second, other])
    expect(rt.runtime.counts()).toMatchObject({ underWay: 0 });
});

test('who no longer hosts a place sends nothing for its actors', async () => {
  const { first, second, other, network, lease } = await standby();
  await other.spawn('listener/l');
  await first.spawn('speaker/s', { input: { self: 's' } });
  let frames = 0;
  network.filter = (from, _, frame) => {
    if (from === 'first' && frame.includes('envelopes')) frames += 1;
    return from !== 'first';
  };
  await first.actor('speaker/s').send({ type: 'speak', to: ['listener/l@other'], count: 5 });
  await first.settle();
  expect(first.runtime.counts().underWay).toBe(5);
  lease.expire('p');
  frames = 0;
  await first.advance('1m');
  expect(first.runtime.counts().underWay).toBe(0);
  expect(frames).toBe(0);
  expect(second.runtime.isHosting).toBe(true);
  expect(other.actor('listener/l').getSnapshot().context.heard).toEqual({ s: upTo(5) });
});

test('messages of other nodes go to the new holder, also those sent to the old one', async () => {
  const { first, second, other, network, lease } = await standby();
  await first.spawn('listener/l');
  await other.spawn('speaker/s', { input: { self: 's' } });
  const speak = () =>
    other.actor('speaker/s').send({ type: 'speak', to: ['listener/l@p'], count: 3 });
  await speak();
  network.cut('first', 'other');
  await speak();
  lease.expire('p');
  await speak();
  await other.advance('1m');
  expect(second.actor('listener/l').getSnapshot().context.heard).toEqual({ s: upTo(9) });
  // The old holder comes back into sight and is not believed, whatever it says last.
  network.heal('first', 'other');
  await speak();
  await other.settle();
  expect(second.actor('listener/l').getSnapshot().context.heard).toEqual({ s: upTo(12) });
  expect(other.runtime.undelivered()).toEqual([]);
});

test('a lost word about the new holder is asked for', async () => {
  const { second, other, network, lease } = await standby();
  await other.spawn('speaker/s', { input: { self: 's' } });
  network.filter = (_, __, frame) => !frame.includes('"hello"');
  lease.expire('p');
  await other.settle();
  await second.spawn('listener/l');
  await other.actor('speaker/s').send({ type: 'speak', to: ['listener/l@p'], count: 2 });
  await other.advance('2s');
  network.filter = () => true;
  await other.advance('30s');
  expect(second.actor('listener/l').getSnapshot().context.heard).toEqual({ s: [1, 2] });
});

test('durable effects, promise children and deadlines go on where they were', async () => {
  const { first, second, lease } = await standby();
  const started = first.now();
  await first.spawn('shop/1');
  await first.actor('shop/1').send({ type: 'order.charge' });
  await first.advance('4m');
  lease.expire('p');
  await first.advance('1m');
  expect(charged.map(({ node }) => node)).toEqual(['first', 'second']);
  expect(new Set(charged.map(({ effectId }) => effectId)).size).toBe(1);
  expect(second.store.load('shop/1@p')).not.toContain('"effects"');
  expect(second.actor('shop/1').getSnapshot().context.terms).toHaveLength(1);
  await first.advance('10m');
  expect(second.actor('shop/1').getSnapshot().context.expiredAt).toBe(started + 600_000);
});

test('a late commit of the first holder is refused and has no effect', async () => {
  const { first, second, other, store, lease } = await standby();
  await first.spawn('listener/l');
  await first.spawn('speaker/s', { input: { self: 's' } });
  await other.spawn('listener/far');
  // The turn is taken, its group is with the store, and then the place moves.
  const late = first
    .actor('speaker/s')
    .send({ type: 'speak', to: ['listener/far@other'], count: 1 });
  const commit = store.commit.bind(store);
  const held: Array<() => void> = [];
  store.commit = (group, settle) => {
    if (group.fence === 1) held.push(() => commit(group, settle));
    else commit(group, settle);
  };
  void late.catch(() => {});
  await Promise.resolve();
  lease.expire('p');
  await first.settle();
  expect(held).toHaveLength(1);
  for (const release of held) release();
  await expect(late).rejects.toMatchObject({ code: 'NOT_HOSTED', retryable: true });
  await first.advance('1m');
  expect(other.actor('listener/far').getSnapshot().context.heard).toEqual({});
  expect(second.actor('speaker/s').getSnapshot().context.said).toEqual({});
});

test('a holder that does not know it is deposed is refused by the store, and nothing it did is seen', async () => {
  const { first, second, other, store, clock, network } = await standby();
  await first.spawn('listener/l');
  await other.spawn('speaker/s', { input: { self: 's' } });
  // Somebody else raises the fence at the store; the lease says nothing of it.
  store.commit({ shard: 'p', fence: 2, writes: [] }, () => {});
  await other.actor('speaker/s').send({ type: 'speak', to: ['listener/l@p'], count: 2 });
  await other.settle();
  expect(first.runtime.isHosting).toBe(false);
  await other.advance('1m');
  expect(second.runtime.isHosting || first.runtime.isHosting).toBe(true);
  const holder = second.runtime.isHosting ? second : first;
  expect(holder.actor('listener/l').getSnapshot().context.heard).toEqual({ s: [1, 2] });
  expect(other.runtime.undelivered()).toEqual([]);
  expect(clock.now()).toBeGreaterThan(0);
  expect(network.frames).toBeGreaterThan(0);
});

test('a standby may look at an actor and keeps nothing of it', async () => {
  const { first, second, lease } = await standby();
  await first.spawn('listener/l');
  expect(await second.explain('listener/l')).toContain('listener/l@p is "listening"');
  expect(second.runtime.counts()).toMatchObject({ live: 0, deadlines: 0 });
  await first.actor('listener/l').send({ type: 'heard', from: 'x', number: 1 });
  lease.expire('p');
  await first.settle();
  expect(second.actor('listener/l').getSnapshot().context.heard).toEqual({ x: [1] });
  // What it is sent from now on goes to the holder.
  await during(first, first.runtime.actor('listener/l').send({ type: 'end' }));
  expect(second.actor('listener/l').getSnapshot().status).toBe('done');
});

test('the place comes back to its first holder with everything that happened elsewhere', async () => {
  const { first, second, lease } = await standby();
  await first.spawn('listener/l');
  const say = (rt: typeof first, number: number) =>
    rt.actor('listener/l').send({ type: 'heard', from: 'x', number });
  await say(first, 1);
  lease.expire('p');
  await first.settle();
  await say(second, 2);
  lease.expire('p');
  await first.settle();
  await say(first, 3);
  expect(first.actor('listener/l').getSnapshot().context.heard).toEqual({ x: [1, 2, 3] });
});
