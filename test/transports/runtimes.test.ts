/** Two runtimes over sockets: what they tell each other arrives once and in order, whatever happens to the line. */

import { afterEach, expect, test } from 'vitest';
import { createRuntime } from '../../create-runtime.ts';
import { TcpProxy } from '../../demo/tcp-proxy.ts';
import {
  type WebSocketLimits,
  type WebSocketTransport,
  websocketTransport,
} from '../../transports/websocket.ts';
import { listener, speaker, upTo } from '../delivery/talkers.ts';
import { SECRET } from './socket-network.ts';
import { becomes } from './told.ts';

const KINDS = { speaker, listener };
const ends: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function startRuntime(node: string, transport: WebSocketTransport) {
  // A busy machine may take its time with what is sent: that is not what these tests are about.
  const limits = { retryMinMs: 20, retryMaxMs: 100, drainMs: 100, sendTimeoutMs: 600_000 };
  const runtime = await createRuntime({ node, kinds: KINDS, transport, limits, telemetry: false });
  ends.push(() => runtime.stop());
  return runtime;
}

async function twoRuntimes(limits: Partial<WebSocketLimits> = {}) {
  const sockets = {
    secret: SECRET,
    limits: { redialMinMs: 2, redialMaxMs: 20, closeMs: 100, ...limits },
  };
  const atB = websocketTransport({ node: 'b', listen: { port: 0 }, ...sockets });
  const b = await startRuntime('b', atB);
  const proxy: TcpProxy = await TcpProxy.open({
    target: () => Number(new URL(atB.url as string).port),
  });
  ends.push(() => proxy.close());
  const peers = [`ws://127.0.0.1:${proxy.port}/peers`];
  const a = await startRuntime('a', websocketTransport({ node: 'a', peers, ...sockets }));
  await a.spawn('speaker/s', { input: { self: 's' } });
  await b.spawn('listener/l');
  const heard = () => b.actor('listener/l').getSnapshot().context.heard['s'] ?? [];
  return { a, b, proxy, heard };
}

test('messages between machines arrive once and in order through cuts', async () => {
  const { a, proxy, heard } = await twoRuntimes();
  const speak = { type: 'speak', to: ['listener/l@b'], count: 20 } as const;
  for (let round = 1; round <= 10; round++) {
    await a.actor('speaker/s').send(speak);
    proxy.cut('reset');
    await a.actor('speaker/s').send(speak);
    proxy.heal();
    await becomes(() => heard().length > (round - 1) * 40);
  }
  await becomes(() => heard().length >= 400);
  expect(heard()).toEqual(upTo(400));
});

test('calls from one process to an actor of the other resolve, with their answers', async () => {
  const { a } = await twoRuntimes();
  const far = a.actor('listener/l@b' as 'listener/l');
  await far.send({ type: 'heard', from: 'x', number: 1 });
  expect(await far.ask({ type: 'count' })).toBe(1);
});

test('large messages that are more than the buffer holds arrive, and are no fault of anybody who sent them', async () => {
  const { a, b, heard } = await twoRuntimes({
    peerFrameBytesMax: 16 * 1024,
    peerBufferBytesMax: 2 ** 18,
  });
  const far = a.actor('listener/l@b' as 'listener/l');
  const text = 'x'.repeat(175_000);
  const sent = upTo(20).map((number) =>
    far.send({ type: 'heard', from: 's', number, text } as never),
  );
  await Promise.all(sent);
  expect(heard()).toEqual(upTo(20));
  expect(b.metrics()).toMatchObject({ framesMalformed: 0, peersExpelled: 0 });
});
