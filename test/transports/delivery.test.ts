/** Peers on real sockets: what they may say, and how much at once. */

import { afterEach, describe, expect, test, vi } from 'vitest';
import { createRuntime } from '../../create-runtime.ts';
import { TcpProxy } from '../../demo/tcp-proxy.ts';
import { JOBS_ROLES } from '../../programs/jobs/peer-roles.ts';
import { encodeFrame } from '../../runtime/delivery/frame.ts';
import type { TransportListener } from '../../runtime/ports/transport.ts';
import { type WebSocketOptions, websocketTransport } from '../../transports/websocket.ts';
import { KINDS } from '../delivery/clerk.ts';
import { eventually } from '../kit/eventually.ts';

const SECRET = 'known to both of these two nodes only';
const ends: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function shop() {
  const socket = websocketTransport({
    node: 'shop',
    roles: JOBS_ROLES,
    listen: { port: 0 },
    secret: SECRET,
    limits: { closeMs: 20 },
    clientOf: (token) => (token === 'let-me-in' ? { name: 'ann' } : undefined),
  });
  const runtime = (await createRuntime({ node: 'shop', transport: socket }))
    .register('listener', KINDS.listener)
    .register('clerk', KINDS.clerk, { openToClients: true });
  ends.push(() => runtime.stop());
  await runtime.spawn('listener/l');
  await runtime.spawn('clerk/c');
  return { runtime, url: socket.url as string };
}

/** A peer that has proved what the options say, and then sends what it likes. */
async function peer(url: string, options: Partial<WebSocketOptions>) {
  const socket = websocketTransport({
    node: 'A.worker-1',
    roles: JOBS_ROLES,
    peers: [url],
    secret: SECRET,
    ...options,
  });
  const told: TransportListener = { peerUp: vi.fn(), peerDown: vi.fn(), frameReceived: vi.fn() };
  await socket.start(told);
  ends.push(() => socket.stop());
  await eventually(() => expect(told.peerUp).toHaveBeenCalled());
  const say = (from: string, to: string, event: object) =>
    socket.send(
      'shop',
      encodeFrame([JSON.stringify({ from, to, counter: 0, after: 0, event })], []),
    );
  return { socket, told, say };
}

const untilAway = (told: TransportListener) =>
  eventually(() => expect(told.peerDown).toHaveBeenCalledWith('shop'));

const heard = (number: number) => ({ type: 'heard', from: 'peer', number });

describe('a peer on a socket', () => {
  test('is heard for itself, and sent away when it speaks for another', async () => {
    const { runtime, url } = await shop();
    const { told, say } = await peer(url, { role: 'worker' });
    say('worker/1@A.worker-1', 'listener/l@shop', heard(1));
    const context = () => runtime.actor('listener/l').getSnapshot().context;
    await eventually(() => expect(context().heard).toEqual({ peer: [1] }));
    say('worker/1@A.worker-2', 'listener/l@shop', heard(2));
    say('worker/1@A.worker-1', 'listener/l@shop', heard(3));
    await untilAway(told);
    expect(context().heard).toEqual({ peer: [1] });
    expect(runtime.metrics()).toMatchObject({ peersOverstepped: 1, peersExpelled: 1 });
    await runtime.actor('listener/l').send(heard(4) as never);
    expect(context().heard).toEqual({ peer: [1, 4] });
  });

  test('that is malformed for the third time is sent away', async () => {
    const { runtime, url } = await shop();
    const { socket, told } = await peer(url, { role: 'gate' });
    for (const text of ['{', 'null', `[${'['.repeat(100_000)}`, '1']) socket.send('shop', text);
    await untilAway(told);
    expect(runtime.metrics()).toMatchObject({ framesMalformed: 3, peersExpelled: 1 });
  });

  test('that is a client reaches what is open to clients', async () => {
    const { runtime, url } = await shop();
    const { told, say } = await peer(url, { node: 'ann~1', role: 'client', token: 'let-me-in' });
    const from = 'session:1@ann~1';
    say(from, 'clerk/c@shop', { type: 'now', replyTo: 'ask/1@ann~1' });
    await eventually(() =>
      expect(told.frameReceived).toHaveBeenCalledWith(
        'shop',
        expect.stringContaining('here you are'),
      ),
    );
    say(from, 'listener/l@shop', heard(1));
    await untilAway(told);
    expect(runtime.actor('listener/l').getSnapshot().context.heard).toEqual({});
  });

  test('that is a runtime of a client asks, also what is larger than its frames', async () => {
    const { url } = await shop();
    const transport = websocketTransport({
      node: 'ann~2',
      role: 'client',
      peers: [url],
      token: 'let-me-in',
    });
    const client = (await createRuntime({ node: 'ann~2', transport })).register(
      'clerk',
      KINDS.clerk,
    );
    ends.push(() => client.stop());
    const clerk = client.actor('clerk/c@shop');
    expect(await clerk.ask({ type: 'now' })).toBe('here you are');
    const payload = 'x'.repeat(60_000);
    const more = { type: 'now', payload, rest: [{ payload }, { payload }] };
    expect(await clerk.ask(more as never)).toBe('here you are');
  });

  test('that is a runtime of the cluster sends messages of megabytes', async () => {
    const { runtime, url } = await shop();
    const transport = websocketTransport({ node: 'mill', peers: [url], secret: SECRET });
    const mill = (await createRuntime({ node: 'mill', transport })).register(
      'listener',
      KINDS.listener,
    );
    ends.push(() => mill.stop());
    const far = mill.actor('listener/l@shop');
    const flour = '€'.repeat(1_000_000);
    for (const number of [1, 2]) await far.send({ ...heard(number), flour } as never);
    expect(runtime.actor('listener/l').getSnapshot().context.heard).toEqual({ peer: [1, 2] });
    expect(runtime.metrics().framesMalformed).toBe(0);
  });
});

describe('actors of another node over sockets', () => {
  test('are watched, explained and told of, and go on being watched after a cut', async () => {
    const { runtime, url } = await shop();
    const wire = await TcpProxy.open({ target: () => Number(new URL(url).port) });
    ends.push(() => wire.close());
    const socket = websocketTransport({
      node: 'office',
      peers: [`ws://127.0.0.1:${wire.port}`],
      secret: SECRET,
    });
    const office = (await createRuntime({ node: 'office', transport: socket })).register(
      'listener',
      KINDS.listener,
    );
    ends.push(() => office.stop());
    const far = office.actor('listener/l@shop');
    const counts: number[] = [];
    far.subscribe(({ context }) => counts.push((context.heard.peer ?? []).length));
    await eventually(() => expect(counts).toEqual([0]));
    expect(await office.explain('listener/l@shop')).toContain('listener/l@shop is "listening"');
    await runtime.actor('listener/l').send(heard(1) as never);
    await eventually(() => expect(counts).toEqual([0, 1]));
    expect(await office.fetchHistory('listener/l@shop')).toHaveLength(2);
    wire.cut('reset');
    await eventually(() => expect(socket.peers()).toEqual([]));
    await runtime.actor('listener/l').send(heard(2) as never);
    wire.heal();
    await eventually(() => expect(counts).toEqual([0, 1, 2]));
  });

  test('are not for a client, which is told so and not sent away', async () => {
    const { runtime, url } = await shop();
    const socket = websocketTransport({
      node: 'ann',
      peers: [url],
      role: 'client',
      token: 'let-me-in',
    });
    const ann = await createRuntime({ node: 'ann', transport: socket });
    ends.push(() => ann.stop());
    await eventually(() => expect(socket.peers()).toEqual(['shop']));
    const clerk = ann.actor('clerk/c@shop' as never);
    const refusals: unknown[] = [];
    (clerk as { subscribe(observer: object): void }).subscribe({
      error: (error: { code: string }) => refusals.push(error.code),
    });
    await expect(ann.explain('clerk/c@shop' as never)).rejects.toMatchObject({
      code: 'NOT_ALLOWED',
    });
    await eventually(() => expect(refusals).toEqual(['NOT_ALLOWED']));
    expect(socket.peers()).toEqual(['shop']);
    expect(runtime.metrics()).toMatchObject({ peersOverstepped: 0, peersExpelled: 0 });
  });
});
