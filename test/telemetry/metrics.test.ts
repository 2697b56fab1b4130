/** Counts of a node, against what happened to it. */

import { expect, test } from 'vitest';
import { setup } from 'xstate';
import type { HistogramSnapshot } from '../../runtime/base/histogram.ts';
import { encodeHello } from '../../runtime/delivery/frame.ts';
import { Runtime } from '../../runtime/runtime.ts';
import { localLease } from '../../runtime/system/local-lease.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';
import { LossyNetwork } from '../delivery/lossy-network.ts';
import { durable, start } from '../delivery/shop.ts';
import { listener, speaker } from '../delivery/talkers.ts';
import { diskFull, faultyStore } from '../engine/faulty-store.ts';

const orderMachine = setup({
  types: { events: {} as { type: 'order.paid' } | { type: 'order.broken' } },
  guards: {
    broken: () => {
      throw new Error('cannot decide');
    },
  },
  delays: { limit: 60_000 },
}).createMachine({
  initial: 'open',
  on: { 'order.broken': { guard: 'broken', target: '.expired' } },
  states: {
    open: { on: { 'order.paid': 'paid' }, after: { limit: 'expired' } },
    paid: { type: 'final' },
    expired: {},
  },
});

const TALKERS = { speaker, listener };

async function pair(seed = 1) {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, seed);
  const node = (name: string) =>
    testRuntime({ kinds: TALKERS, node: name, clock, transport: () => network.join(name) });
  const [a, b] = [await node('a'), await node('b')];
  await b.spawn('listener/1');
  return { network, a, b, speaking: await a.spawn('speaker/1', { input: { self: 's' } }) };
}

function countBelow({ bounds, counts }: HistogramSnapshot, bound: number): number {
  return counts.slice(0, bounds.indexOf(bound) + 1).reduce((sum, count) => sum + count, 0);
}

test('turns, births, ends and failures are counted once they are durable', async () => {
  const rt = await testRuntime({ kinds: { order: orderMachine } });
  const [first, second] = [await rt.spawn('order/1'), await rt.spawn('order/2')];
  await first.send({ type: 'order.paid' });
  await expect(second.send({ type: 'order.broken' })).rejects.toMatchObject({
    code: 'TURN_FAILED',
  });
  const metrics = rt.runtime.metrics();
  expect(metrics).toMatchObject({
    node: 'test',
    place: 'test',
    turns: 4,
    turnsFailed: 1,
    births: 2,
    ends: 1,
    undelivered: 1,
    liveActors: 2,
    // The open order expires, the paid one is forgotten one day.
    deadlines: 2,
    readyActors: 0,
    isHosting: true,
    fence: 1,
    leasesAcquired: 1,
    leasesLost: 0,
  });
  const { groupTurns, groupRecords, commits, commitDurationMs } = metrics;
  expect(groupTurns).toMatchObject({ sum: 4, count: commits });
  expect(groupRecords).toMatchObject({ sum: 4, count: commits });
  expect(commitDurationMs.count).toBe(commits);
  expect(JSON.parse(JSON.stringify(metrics))).toEqual(metrics);
  await rt.stop();
});

test('a timer is counted with how late it was taken', async () => {
  const clock = new SimulatedClock();
  const store = memoryStore();
  const options = { kinds: { order: orderMachine }, clock, store };
  const before = await testRuntime(options);
  await before.spawn('order/1');
  await before.advance('10s');
  await before.spawn('order/2');
  before.runtime.crash();
  // Nobody hosts the place while the first deadline comes.
  clock.advanceTo(clock.now() + 50_040);
  const after = await testRuntime(options);
  await after.advance('10s');
  const { timersFired, timerLatenessMs } = after.runtime.metrics();
  expect(timersFired).toBe(2);
  expect(timerLatenessMs.sum).toBe(40);
  expect(countBelow(timerLatenessMs, 1)).toBe(1);
  expect(countBelow(timerLatenessMs, 20)).toBe(1);
  expect(countBelow(timerLatenessMs, 50)).toBe(2);
  await after.stop();
});

test('commits are counted with how long they took, refused ones too', async () => {
  const clock = new SimulatedClock();
  const store = faultyStore(clock);
  const rt = await testRuntime({ kinds: { order: orderMachine }, clock, store });
  const before = rt.runtime.metrics();
  store.refuse = () => diskFull();
  const refused = expect(rt.runtime.spawn('order/1')).rejects.toMatchObject({
    code: 'COMMIT_REFUSED',
  });
  await rt.settle();
  await refused;
  store.refuse = () => undefined;
  store.commit = slowed(store.commit.bind(store), clock, 30);
  void rt.runtime.spawn('order/2');
  await rt.advance(30);
  const { commits, commitsRefused, commitDurationMs, births } = rt.runtime.metrics();
  expect(commits - before.commits).toBe(2);
  expect(commitsRefused).toBe(1);
  expect(commitDurationMs.sum - before.commitDurationMs.sum).toBe(30);
  expect(births).toBe(1);
  await rt.stop();
});

test('messages between nodes are counted on both sides, repetitions apart', async () => {
  const { network, a, b, speaking } = await pair();
  await speaking.send({ type: 'speak', to: ['listener/1@b'], count: 3 });
  await a.settle();
  expect(a.runtime.metrics()).toMatchObject({ messagesSent: 3, messagesResent: 0 });
  expect(b.runtime.metrics()).toMatchObject({ messagesReceived: 3, duplicatesRefused: 0 });
  expect(b.runtime.metrics().messagesSent).toBe(0);

  // The receipts are lost, so everything is said again.
  network.filter = (from) => from !== 'b';
  await speaking.send({ type: 'speak', to: ['listener/1@b'], count: 2 });
  await a.settle();
  expect(a.runtime.metrics()).toMatchObject({ messagesSent: 5, messagesUnderWay: 2 });
  network.filter = () => true;
  await a.advance('1s');
  expect(a.runtime.metrics()).toMatchObject({
    messagesSent: 7,
    messagesResent: 2,
    messagesUnderWay: 0,
  });
  expect(b.runtime.metrics()).toMatchObject({ messagesReceived: 7, duplicatesRefused: 2 });

  await speaking.send({ type: 'hintAt', to: 'listener/1@b', number: 9 });
  await a.settle();
  expect(b.runtime.metrics()).toMatchObject({ messagesReceived: 8 });
  expect(a.runtime.metrics()).toMatchObject({ messagesSent: 7, messagesReceived: 0 });
});

test('a frame makes this node send nothing to itself again', async () => {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  // Whose groups may be split: a message waits for its commit.
  const store = Object.assign(memoryStore(), { isGroupAtomic: false });
  const transport = () => network.join('a');
  const a = await testRuntime({ kinds: TALKERS, node: 'a', clock, store, transport });
  const speaking = await a.spawn('speaker/1', { input: { self: 's' } });
  await a.spawn('listener/1');
  const stranger = network.join('c');
  await stranger.start({ peerUp() {}, peerDown() {}, frameReceived() {} });
  await a.settle();

  // The turn of the speaker is durable, that of the listener waits for the store.
  const commit = store.commit.bind(store);
  let groups = 0;
  const held: Array<() => void> = [];
  store.commit = (group, settle) => {
    groups += 1;
    if (groups === 1) commit(group, settle);
    else held.push(() => commit(group, settle));
  };
  await speaking.send({ type: 'speak', to: ['listener/1'], count: 1 });
  await a.settle();
  expect(held).toHaveLength(1);
  const { offered } = Runtime.watchOf(a.runtime as never).metrics;
  stranger.send('a', encodeHello({ node: 'c', places: [['a', 0]], isAsking: false }));
  await a.settle();
  // What waits here for the store is offered no second time.
  expect(Runtime.watchOf(a.runtime as never).metrics.offered).toBe(offered);
  expect(a.runtime.metrics()).toMatchObject({ messagesReceived: 0, messagesSent: 0 });
  store.commit = commit;
  for (const go of held) go();
  await a.stop();
});

test('what nobody can take is counted where it is kept', async () => {
  const { a, speaking } = await pair();
  await speaking.send({ type: 'speak', to: ['listener/nobody@b'], count: 1 });
  await a.advance('1m');
  expect(a.runtime.undelivered()).toHaveLength(1);
  expect(a.runtime.metrics()).toMatchObject({ undelivered: 1, messagesUnderWay: 0 });
});

test('actors that come into memory and leave it are counted', async () => {
  const kinds = { order: orderMachine };
  const rt = await testRuntime({ kinds, limits: { liveActorsMax: 8 } });
  const addresses = Array.from({ length: 50 }, (_, index) => `order/${index}` as const);
  for (const address of addresses) await rt.spawn(address);
  const born = rt.runtime.metrics();
  expect(born).toMatchObject({ births: 50, hydrations: 0, deadlines: 50 });
  expect(born.passivations).toBe(50 - born.liveActors);
  for (const address of addresses) rt.runtime.actor(address).getSnapshot();
  const read = rt.runtime.metrics();
  expect(read.hydrations).toBeGreaterThanOrEqual(42);
  expect(read.passivations).toBe(50 + read.hydrations - read.liveActors);
  expect(read.passivations).toBeGreaterThan(born.passivations);
  await rt.stop();
  // Stopping lets go of everybody, and that is no passivation.
  expect(rt.runtime.metrics()).toMatchObject({ liveActors: 0, passivations: read.passivations });
});

test('a birth that fails leaves nothing behind that is counted', async () => {
  const broken = setup({}).createMachine({
    context: () => {
      throw new Error('no');
    },
  });
  const rt = await testRuntime({ kinds: { broken } });
  await expect(rt.spawn('broken/1')).rejects.toMatchObject({ code: 'BIRTH_FAILED' });
  expect(rt.runtime.metrics()).toMatchObject({ turns: 0, births: 0, liveActors: 0 });
  expect(rt.runtime.metrics().passivations).toBe(0);
  await rt.stop();
});

test('performers are counted while they work and when they are given up', async () => {
  let fail: (error: Error) => void = () => {};
  const running = () =>
    new Promise<void>((_, reject) => {
      fail = reject;
    });
  const { rt, actor } = await start({ charge: durable(running, 1) });
  await actor.send({ type: 'charge', amount: 1 });
  await rt.settle();
  expect(rt.runtime.metrics()).toMatchObject({ performersBusy: 1, effectsGivenUp: 0 });
  fail(new Error('no money'));
  await rt.settle();
  expect(rt.runtime.metrics()).toMatchObject({
    performersBusy: 0,
    effectsGivenUp: 1,
    undelivered: 1,
  });
  await rt.stop();
});

test('tries again are counted', async () => {
  let tries = 0;
  const run = () => (++tries < 3 ? Promise.reject(new Error('not yet')) : undefined);
  const { rt, actor } = await start({ charge: durable(run, 5) });
  await actor.send({ type: 'charge', amount: 1 });
  await rt.advance(60_000);
  expect(rt.runtime.metrics()).toMatchObject({ effectsRetried: 2, effectsGivenUp: 0 });
  await rt.stop();
});

test('leases are counted as they come and go', async () => {
  const clock = new SimulatedClock();
  const store = memoryStore();
  const lease = localLease({ lastFence: (name) => store.fence(name) });
  const node = (name: string) =>
    testRuntime({ kinds: TALKERS, node: name, place: 'p', clock, store, lease });
  const [first, second] = [await node('first'), await node('second')];
  expect(second.runtime.metrics()).toMatchObject({ isHosting: false, leasesAcquired: 0 });
  lease.expire('p');
  await first.settle();
  expect(first.runtime.metrics()).toMatchObject({
    isHosting: false,
    leasesAcquired: 1,
    leasesLost: 1,
  });
  const { isHosting, leasesAcquired, fence } = second.runtime.metrics();
  expect({ isHosting, leasesAcquired }).toEqual({ isHosting: true, leasesAcquired: 1 });
  expect(fence).toBeGreaterThan(first.runtime.metrics().fence);
});

test('however many actors there are, the snapshot grows no larger and names none', async () => {
  const rt = await testRuntime({ kinds: { order: orderMachine } });
  const size = () => Object.keys(rt.runtime.metrics()).length;
  const before = size();
  for (let index = 0; index < 300; index += 1) await rt.spawn(`order/${index}`);
  expect(size()).toBe(before);
  expect(JSON.stringify(rt.runtime.metrics())).not.toContain('order');
  await rt.stop();
});

/** A store that keeps each group for a while before it begins to write it. */
function slowed(
  commit: ReturnType<typeof memoryStore>['commit'],
  clock: SimulatedClock,
  delayMs: number,
): typeof commit {
  return (group, settle) => {
    clock.schedule(clock.now() + delayMs, () => commit(group, settle));
  };
}
