/** One message at a time: what is lost, refused, held up or repeated, and what comes of it. */

import { expect, test } from 'vitest';
import type { RuntimeLimits } from '../../runtime/base/limits.ts';
import { decodeFrame } from '../../runtime/delivery/frame.ts';
import { SimulatedClock, type TestRuntime, testRuntime } from '../../simulator/testing.ts';
import { LossyNetwork } from './lossy-network.ts';
import { listener, speaker, upTo } from './talkers.ts';

const KINDS = { speaker, listener };
type Node = TestRuntime<typeof KINDS>;

async function twoNodes(limits: Partial<RuntimeLimits> = {}) {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const open = (node: string): Promise<Node> =>
    testRuntime({ kinds: KINDS, node, clock, limits, transport: () => network.join(node) });
  const [a, b] = [await open('a'), await open('b')];
  await a.spawn('speaker/s', { input: { self: 's' } });
  await b.spawn('listener/l');
  return { a, b, network };
}

function tell(node: Node, saying: object, to = 'listener/l@b'): Promise<void> {
  return node.actor('speaker/s').send({ type: 'speakOf', to, saying } as never);
}

function heardBy(node: Node, address: `listener/${string}` = 'listener/l'): unknown {
  return node.actor(address).getSnapshot().context.heard;
}

test('acknowledgement lost, sender killed, its successor sends again: one effect', async () => {
  const { a, b, network } = await twoNodes();
  network.filter = (from) => from !== 'b';
  await tell(a, { type: 'heard', from: 's', number: 1 });
  await a.settle();
  expect(heardBy(b)).toEqual({ s: [1] });
  expect(a.store.load('speaker/s@a')).toContain('"outbox"');
  await a.crash();
  network.filter = () => true;
  await a.advance('1m');
  await b.crash();
  expect(heardBy(b)).toEqual({ s: [1] });
  expect(a.store.load('speaker/s@a')).not.toContain('"outbox"');
  expect(b.runtime.history('listener/l').map(({ event }) => event)).toEqual([
    'escapement.spawn',
    'heard',
  ]);
});

test('the receiver dies before its commit: the message is taken after its return', async () => {
  const { a, b } = await twoNodes();
  await tell(a, { type: 'heard', from: 's', number: 1 });
  b.runtime.crash();
  await a.settle();
  await b.crash();
  await a.advance('10s');
  expect(heardBy(b)).toEqual({ s: [1] });
});

test('a receiver that is down holds up nobody else', async () => {
  const { a, b, network } = await twoNodes();
  await a.spawn('listener/near');
  network.cut('a', 'b');
  const far = upTo(100).map((number) => ({ type: 'heard', from: 's', number }));
  for (const saying of far) void tell(a, saying);
  for (const saying of far) void tell(a, saying, 'listener/near');
  await a.settle();
  expect(heardBy(a, 'listener/near')).toEqual({ s: upTo(100) });
  await a.advance('10m');
  network.heal('a', 'b');
  await a.settle();
  // Nobody waits for the end of a pause when the peer comes up.
  expect(heardBy(b)).toEqual({ s: upTo(100) });
});

test('at most 64 messages of a pair are under way', async () => {
  const { a, network } = await twoNodes();
  let envelopes = 0;
  network.filter = (from, _, frame) => {
    if (from === 'a') envelopes += decodeFrame(frame).envelopes.length;
    return false;
  };
  for (const number of upTo(200)) void tell(a, { type: 'heard', from: 's', number });
  await a.settle();
  expect(envelopes).toBe(64);
  expect(a.runtime.counts().underWay).toBe(64);
});

test('a full outbox fails the turn that would send more, and changes nothing else', async () => {
  const { a, b, network } = await twoNodes({ outboxMax: 10 });
  network.cut('a', 'b');
  const speaking = a.actor('speaker/s');
  await speaking.send({ type: 'speak', to: ['listener/l@b'], count: 10 });
  const refused = speaking.send({ type: 'speak', to: ['listener/l@b'], count: 1 });
  await expect(refused).rejects.toMatchObject({ code: 'OUTBOX_FULL', retryable: true });
  expect(speaking.getSnapshot().context.said).toEqual({ 'listener/l@b': 10 });
  network.heal('a', 'b');
  await a.advance('1m');
  await speaking.send({ type: 'speak', to: ['listener/l@b'], count: 1 });
  await a.advance('1m');
  expect(heardBy(b)).toEqual({ s: upTo(11) });
});

test('a receiver refuses senders beyond its limit, and takes them when others are forgotten', async () => {
  const { a, b } = await twoNodes({ sendersMax: 2, dedupRetentionMs: 60_000 });
  for (const name of ['x', 'y', 'z']) {
    await a.spawn(`speaker/${name}`, { input: { self: name } });
    await a.actor(`speaker/${name}`).send({ type: 'speak', to: ['listener/l@b'], count: 1 });
  }
  await a.advance('30s');
  expect(heardBy(b)).toEqual({ x: [1], y: [1] });
  await a.advance('2m');
  expect(heardBy(b)).toEqual({ x: [1], y: [1], z: [1] });
});

test.each([
  ['ACTOR_UNKNOWN', 'listener/nobody@b', { type: 'heard', from: 's', number: 1 }],
  ['ACTOR_ENDED', 'listener/ended@b', { type: 'heard', from: 's', number: 1 }],
  ['EVENT_UNDECLARED', 'listener/l@b', { type: 'shouted' }],
  ['EVENT_RESERVED', 'listener/l@b', { type: 'xstate.stop' }],
  ['ENVELOPE_MALFORMED', 'listener/l@b', { type: 'heard', constructor: 1 }],
  ['EVENT_REFUSED', 'listener/l@b', { type: 'heard', text: 'x'.repeat(400_000) }],
  ['ACTOR_UNKNOWN', 'listener/nobody', { type: 'heard', from: 's', number: 1 }],
  ['EVENT_UNDECLARED', 'listener/near', { type: 'shouted' }],
  ['EVENT_REFUSED', 'listener/near', { type: 'heard', text: 'x'.repeat(400_000) }],
])('what is refused with %s is kept with the undelivered ones of the sender', async (...given) => {
  const [code, to, saying] = given;
  const { a, b } = await twoNodes({ messageBytesMax: 300_000 });
  await a.spawn('listener/near');
  await b.spawn('listener/ended');
  await b.actor('listener/ended').send({ type: 'end' });
  await tell(a, saying, to);
  // What comes after it is not held up.
  await tell(a, { type: 'heard', from: 's', number: 2 });
  await a.advance('1m');
  const whole = to.includes('@') ? to : `${to}@a`;
  expect(a.runtime.undelivered()).toMatchObject([
    { to: whole, from: 'speaker/s@a', event: saying, error: { code } },
  ]);
  expect(heardBy(b)).toEqual({ s: [2] });
  await a.crash();
  await a.advance('1m');
  expect(a.runtime.undelivered()).toHaveLength(1);
  expect(a.runtime.counts().underWay).toBe(0);
});

test('hundreds of messages to an actor that is not there are given up without a round trip each', async () => {
  const { a, network } = await twoNodes();
  await a.actor('speaker/s').send({ type: 'speak', to: ['listener/nobody@b'], count: 256 });
  network.frames = 0;
  await a.settle();
  expect(a.runtime.undelivered()).toHaveLength(256);
  expect(network.frames).toBeLessThan(32);
});

test('a birth that was lost comes before what was told to the newborn', async () => {
  const { a, b, network } = await twoNodes();
  network.filter = (_, __, frame) => !frame.includes('escapement.spawn');
  await a.actor('speaker/s').send({ type: 'bear', address: 'listener/new@b' });
  await a.settle();
  network.filter = () => true;
  await a.actor('speaker/s').send({ type: 'speak', to: ['listener/new@b'], count: 2 });
  await a.advance('1m');
  expect(heardBy(b, 'listener/new')).toEqual({ s: [1, 2] });
  expect(a.runtime.undelivered()).toEqual([]);
});

test('a birth of what is alive is taken once: repeated after the end, it gives no second life', async () => {
  const { a, b, network } = await twoNodes();
  let birth = '';
  network.filter = (_, __, frame) => {
    if (frame.includes('escapement.spawn')) birth = frame;
    return true;
  };
  await a.actor('speaker/s').send({ type: 'bear', address: 'listener/l@b' });
  await a.settle();
  await b.actor('listener/l').send({ type: 'end' });
  await b.crash();
  const stray = network.join('stray');
  await stray.start({ peerUp() {}, peerDown() {}, frameReceived() {} });
  await a.settle();
  stray.send('b', birth);
  await a.settle();
  expect(b.actor('listener/l').getSnapshot().status).toBe('done');
});

test('what the mailbox had no room for is sent again, in order, after the shortest pause', async () => {
  const { a, b } = await twoNodes({ mailboxMax: 5, retryMinMs: 200 });
  for (const count of [60, 60]) {
    await a.actor('speaker/s').send({ type: 'speak', to: ['listener/l@b'], count });
  }
  // Five each time; with pauses that grow it takes twice as long.
  await a.advance('6s');
  expect(heardBy(b)).toEqual({ s: upTo(120) });
});

test('a turn that fails is the receiver’s affair: the sender goes on', async () => {
  const { a, b } = await twoNodes();
  await tell(a, { type: 'fail' });
  await tell(a, { type: 'heard', from: 's', number: 1 });
  await a.advance('1s');
  expect(a.runtime.undelivered()).toEqual([]);
  expect(b.runtime.undelivered()).toMatchObject([{ error: { code: 'TURN_FAILED' } }]);
  expect(heardBy(b)).toEqual({ s: [1] });
});

test('a node that has come back takes messages for kinds it registers a little later', async () => {
  const { a, b, network } = await twoNodes();
  b.runtime.crash();
  await tell(a, { type: 'heard', from: 's', number: 1 });
  const clock = a.clock;
  const late = await testRuntime({
    kinds: {},
    node: 'b',
    clock,
    store: b.store,
    transport: () => network.join('b'),
  });
  await a.advance('2s');
  expect(late.runtime.counts().live).toBe(0);
  (late.runtime as Node['runtime']).register('listener', listener);
  await a.advance('10s');
  const found = (late.runtime as Node['runtime']).actor('listener/l').getSnapshot();
  expect((found as { context: unknown }).context).toEqual({ heard: { s: [1] } });
  expect(a.runtime.undelivered()).toEqual([]);
});

test('a kind that nobody ever registers is given up after a while', async () => {
  const { a } = await twoNodes();
  await tell(a, { type: 'heard', from: 's', number: 1 }, 'nothing/x@b');
  await a.advance('5s');
  expect(a.runtime.undelivered()).toEqual([]);
  await a.advance('2m');
  expect(a.runtime.undelivered()).toMatchObject([{ error: { code: 'KIND_UNKNOWN' } }]);
});

test('a sender that was let go from memory meanwhile sends nothing twice and nothing less', async () => {
  const { a, b, network } = await twoNodes({ liveActorsMax: 2 });
  network.cut('a', 'b');
  await a.actor('speaker/s').send({ type: 'speak', to: ['listener/l@b'], count: 3 });
  for (const other of upTo(10)) await a.spawn(`listener/other${other}`);
  network.heal('a', 'b');
  await a.settle();
  network.frames = 0;
  await a.advance('5m');
  expect(network.frames).toBe(0);
  expect(heardBy(b)).toEqual({ s: upTo(3) });
  expect(a.store.load('speaker/s@a')).not.toContain('"outbox"');
});

test('the last words of an actor that has ended arrive also after a crash', async () => {
  const { a, b, network } = await twoNodes();
  network.cut('a', 'b');
  await a.spawn('listener/near');
  await tell(a, { type: 'heard', from: 's', number: 1 });
  await a.settle();
  await a.crash();
  network.heal('a', 'b');
  await a.advance('1m');
  expect(heardBy(b)).toEqual({ s: [1] });
});
