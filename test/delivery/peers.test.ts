/** Frames to other nodes, and which node is believed to host a place. */

import { describe, expect, test } from 'vitest';
import { SILENT_LOGGER } from '../../runtime/base/limits.ts';
import { isFragment } from '../../runtime/delivery/fragments.ts';
import { type FenceMemory, Peers } from '../../runtime/delivery/peers.ts';
import type { Transport } from '../../runtime/ports/transport.ts';
import { SimulatedClock } from '../../simulator/testing.ts';

function start(
  send: (node: string, frame: string) => boolean = () => true,
  more: Partial<Transport> = {},
  memory?: FenceMemory,
) {
  const frames: Array<{ readonly node: string; readonly frame: string }> = [];
  const connected = new Set<string>();
  const transport: Transport = {
    async start() {},
    send(node, frame) {
      frames.push({ node, frame });
      return send(node, frame);
    },
    peers: () => [...connected],
    async stop() {},
    ...more,
  };
  const errors: object[] = [];
  const logger = { ...SILENT_LOGGER, error: (fields: object) => void errors.push(fields) };
  const peers = new Peers('me', transport, logger, memory);
  const connect = (node: string) => {
    connected.add(node);
    peers.connected(node, memory !== undefined);
  };
  return { peers, frames, errors, connect };
}

test('of two nodes that claim a place the one with the higher fence is believed, no matter who spoke last', () => {
  const { peers, connect } = start();
  connect('old');
  connect('new');
  expect(peers.heard('old', [['p', 1]])).toBe(true);
  expect(peers.nodeOf('p')).toBe('old');
  expect(peers.heard('new', [['p', 2]])).toBe(true);
  expect(peers.nodeOf('p')).toBe('new');
  expect(peers.heard('old', [['p', 1]])).toBe(false);
  expect(peers.nodeOf('p')).toBe('new');
  peers.heard('old', []);
  expect(peers.nodeOf('p')).toBe('new');
  peers.disconnected('new');
  expect(peers.nodeOf('p')).toBeUndefined();
});

test('H53: of two nodes that claim a place under one fence the first is believed, and it is told', () => {
  const { peers, errors, connect } = start();
  // The order of connecting has nothing to do with it.
  connect('second');
  connect('first');
  peers.heard('first', [['p', 5]]);
  peers.heard('second', [['p', 5]]);
  expect(peers.nodeOf('p')).toBe('first');
  expect(errors).toEqual([{ place: 'p', fence: 5, node: 'first', peer: 'second' }]);
  peers.heard('first', [['p', 5]]);
  expect(peers.nodeOf('p')).toBe('first');
  expect(errors).toHaveLength(1);
  peers.disconnected('first');
  expect(peers.nodeOf('p')).toBe('second');
});

describe('a node that does not host the place', () => {
  const clock = new SimulatedClock();
  const memory = { place: 'me', clock, limits: { fenceMemoryMs: 60_000 } };

  test('tells nobody of a greater fence, and holds it against others until its holder is gone for long', () => {
    const { peers, frames, connect } = start(() => true, {}, memory);
    connect('one');
    peers.heard('one', [['p', 9]]);
    connect('other');
    peers.heard('other', [['p', 8]]);
    expect(peers.isOutranked('other', 'p')).toBe(true);
    expect(frames.filter(({ frame }) => frame.includes('outranked'))).toEqual([]);
    peers.disconnected('one');
    clock.advanceBy(59_999);
    expect([peers.isOutranked('other', 'p'), peers.nodeOf('p')]).toEqual([true, undefined]);
    frames.length = 0;
    clock.advanceBy(1);
    expect(peers.isOutranked('other', 'p')).toBe(false);
    expect(frames).toMatchObject([{ node: 'one' }, { node: 'other' }]);
    peers.heard('other', [['p', 8]]);
    expect(peers.nodeOf('p')).toBe('other');
  });

  test('takes the word of the same node for less when it has come back, and not before', () => {
    const { peers, connect } = start(() => true, {}, memory);
    connect('one');
    peers.heard('one', [['p', 9]]);
    peers.heard('one', [['p', 3]]);
    expect(peers.isOutranked('one', 'p')).toBe(true);
    peers.disconnected('one');
    connect('one');
    peers.heard('one', [['p', 3]]);
    expect([peers.isOutranked('one', 'p'), peers.nodeOf('p')]).toEqual([false, 'one']);
  });

  test('still holds it when its holder has come back with it', () => {
    const { peers, connect } = start(() => true, {}, memory);
    connect('one');
    peers.heard('one', [['p', 9]]);
    peers.disconnected('one');
    connect('one');
    peers.heard('one', [['p', 9]]);
    clock.advanceBy(120_000);
    connect('other');
    peers.heard('other', [['p', 8]]);
    expect([peers.isOutranked('other', 'p'), peers.nodeOf('p')]).toEqual([true, 'one']);
  });
});

test('a node is reached under its own name before it has said what it hosts', () => {
  const { peers, connect } = start();
  expect(peers.nodeOf('b')).toBeUndefined();
  connect('b');
  expect(peers.nodeOf('b')).toBe('b');
  peers.heard('c', [['b', 1]]);
  expect(peers.nodeOf('b')).toBe('c');
});

test('what is due to a node in one tick goes into one frame', async () => {
  const { peers, frames, connect } = start();
  connect('a');
  connect('b');
  frames.length = 0;
  for (const number of [1, 2, 3]) peers.sendEnvelope('a', `{"n":${number}}`);
  peers.sendReceipt('b', { from: 'x/1@b', to: 'y/1@me', counter: 1 });
  peers.sendEnvelope('nobody', '{}');
  expect(frames).toEqual([]);
  await Promise.resolve();
  expect(frames.map(({ node, frame }) => [node, JSON.parse(frame)])).toEqual([
    ['a', { v: 1, envelopes: [{ n: 1 }, { n: 2 }, { n: 3 }], receipts: [] }],
    ['b', { v: 1, envelopes: [], receipts: [{ from: 'x/1@b', to: 'y/1@me', counter: 1 }] }],
  ]);
});

test('frames stay near 32 KiB, and a large envelope is a frame of its own', async () => {
  const { peers, frames, connect } = start();
  connect('a');
  const large = JSON.stringify('\u20ac'.repeat(300_000));
  const texts = [...Array<string>(500).fill(JSON.stringify('x'.repeat(1_000))), large, large, '1'];
  frames.length = 0;
  for (const text of texts) peers.sendEnvelope('a', text);
  await Promise.resolve();
  const sent = frames.flatMap(({ frame }) => JSON.parse(frame).envelopes);
  expect(sent).toEqual(texts.map((text) => JSON.parse(text)));
  for (const { frame } of frames) expect(Buffer.byteLength(frame)).toBeLessThan(2 ** 20);
  expect(frames.length).toBeLessThan(22);
});

test('a transport that throws costs a frame and nothing else', async () => {
  const { peers, errors, connect } = start((node) => {
    if (node === 'bad') throw new RangeError('too large');
    return true;
  });
  connect('bad');
  connect('good');
  peers.sendEnvelope('bad', '1');
  peers.sendEnvelope('good', '1');
  await Promise.resolve();
  expect(errors).toHaveLength(2);
});

test('a frame that is larger than the peer takes goes in fragments, between what came before and after', async () => {
  const { peers, frames, connect } = start(() => true, { frameBytesMax: () => 64 * 1024 });
  connect('a');
  frames.length = 0;
  const large = JSON.stringify('€'.repeat(100_000));
  for (const text of ['1', large, '2']) peers.sendEnvelope('a', text);
  await Promise.resolve();
  const [before, ...rest] = frames.map(({ frame }) => frame);
  const after = rest.pop();
  expect(before).toContain('[1]');
  expect(after).toContain('[2]');
  expect(rest).toHaveLength(5);
  for (const fragment of rest) {
    expect(isFragment(fragment)).toBe(true);
    expect(Buffer.byteLength(fragment)).toBeLessThanOrEqual(64 * 1024);
  }
});

test('fragments stop with the first one that is not taken', async () => {
  let left = 2;
  const { peers, frames, connect } = start(() => left-- > 0, { frameBytesMax: () => 1_000 });
  connect('a');
  frames.length = 0;
  left = 2;
  peers.sendEnvelope('a', JSON.stringify('x'.repeat(10_000)));
  await Promise.resolve();
  expect(frames).toHaveLength(3);
});
