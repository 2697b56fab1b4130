/** H61: callers without number. Those who are inside notice nothing, and the door opens again afterwards. */

import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { Claim } from '../../transports/websocket/claim.ts';
import { ask, callIn, MALLORY, newNonce, openRaw, openRawClient, question } from './raw-caller.ts';
import { becomes, nodes } from './told.ts';

const { start, stopAll } = nodes();
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await stopAll();
});

function storm(url: string, count: number, addresses = 1): () => number {
  const { port } = new URL(url);
  let closed = 0;
  for (let index = 0; index < count; index++) {
    const localAddress = `127.0.0.${1 + (index % addresses)}`;
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress });
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    socket.resume().on('close', () => {
      closed += 1;
    });
  }
  return () => closed;
}

test('H61 callers that say nothing are cut off beyond a number, and the rest after a time', async () => {
  const b = await start('b', { limits: { handshakesPerAddressMax: 20, firstHeadMs: 500 } });
  const a = await start('a', { peers: [b.url] });
  await a.until(() => a.log.includes('up b'));
  const closed = storm(b.url, 1_000);
  for (let count = 0; count < 50; count++) {
    a.transport.send('b', `${count}`);
    await b.until(() => b.log.includes(`frame a ${count}`));
  }
  // Those within the number are let wait, but not for ever.
  await becomes(() => closed() === 1_000);
  expect(b.transport.counters()['callersCutOff']).toBeGreaterThan(500);
  expect(a.log).toEqual(['up b']);
  expect((await callIn(b.url)).answer.status).toBe(101);
});

test.skipIf(process.platform !== 'linux')(
  'H61 callers of many addresses are cut off beyond a number in all',
  async () => {
    const limits = { handshakesPerAddressMax: 20, handshakesMax: 50, firstHeadMs: 500 };
    const b = await start('b', { limits });
    const a = await start('a', { peers: [b.url] });
    await a.until(() => a.log.includes('up b'));
    const closed = storm(b.url, 400, 100);
    await becomes(() => closed() >= 350);
    a.transport.send('b', 'still here');
    await b.until(() => b.log.includes('frame a still here'));
    await becomes(() => closed() === 400);
    expect(b.transport.counters()['callersCutOff']).toBeGreaterThan(100);
    expect(a.log).toEqual(['up b']);
    expect((await callIn(b.url)).answer.status).toBe(101);
  },
);

test('H61 callers that ask without end are answered with 429', async () => {
  const b = await start('b', { limits: { handshakesPerSecond: 10 } });
  const a = await start('a', { peers: [b.url] });
  await a.until(() => a.log.includes('up b'));
  const statuses: number[] = [];
  for (let count = 0; count < 30; count++) {
    const { status, socket } = await ask(b.url, question(MALLORY, newNonce()));
    socket.destroy();
    statuses.push(status);
  }
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  a.transport.send('b', 'still here');
  await b.until(() => b.log.includes('frame a still here'));
});

test('H61 beyond the connections there may be, a caller that has proved itself is answered with 503', async () => {
  const b = await start('b', { limits: { connectionsMax: 2 } });
  for (const node of ['m', 'n'])
    sockets.push((await openRaw(b.url, { ...MALLORY, node, place: node })).socket);
  const { answer } = await callIn(b.url, { ...MALLORY, node: 'o', place: 'o' });
  expect(answer.status).toBe(503);
  expect(b.transport.peers()).toEqual(['m', 'n']);
});

test('H26 a caller whose headers come too slowly is cut off', async () => {
  const b = await start('b', { limits: { handshakeMs: 200 } });
  const { port } = new URL(b.url);
  const socket = connect(Number(port), '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => socket.destroy());
  socket.write('GET /peers HTTP/1.1\r\n');
  await new Promise((resolve) => socket.on('close', resolve).resume());
  expect(b.log).toEqual([]);
});

test('one client has some of the connections, all clients most of them, and peers find a place', async () => {
  const limits = { connectionsMax: 8, connectionsPerClientMax: 4 };
  const b = await start('b', {
    limits,
    clientOf: (token) => (token === undefined ? undefined : { name: token }),
  });
  const claimOf = (node: string): Claim => ({ node, role: 'client', place: node, bootEpoch: 1 });
  const enter = async (client: string, count: number): Promise<void> => {
    const { socket } = await openRawClient(b.url, claimOf(`${client}~${count}`), client);
    sockets.push(socket);
  };
  const refused = async (client: string): Promise<number> => {
    const headers = question(claimOf(`${client}~more`), newNonce());
    const { status, socket } = await ask(b.url, { ...headers, authorization: `Bearer ${client}` });
    socket.destroy();
    return status;
  };
  for (let count = 0; count < 4; count += 1) await enter('ann', count);
  expect(await refused('ann')).toBe(429);
  for (let count = 0; count < 2; count += 1) await enter('bob', count);
  expect(await refused('bob')).toBe(503);
  for (const node of ['m', 'n'])
    sockets.push((await openRaw(b.url, { ...MALLORY, node, place: node })).socket);
  expect(b.transport.peers()).toHaveLength(8);
});
