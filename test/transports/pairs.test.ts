/** One connection for each pair of nodes, whichever side dials, how often, and whatever was there before. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { TcpProxy } from '../../demo/tcp-proxy.ts';
import { isProof } from '../../transports/websocket/proof.ts';
import { callIn, MALLORY, openRaw } from './raw-caller.ts';
import { SECRET } from './socket-network.ts';
import { becomes, nodes, type StartedNode } from './told.ts';

const { start, stopAll } = nodes();
const proxies: TcpProxy[] = [];
afterEach(async () => {
  await stopAll();
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});

async function proxyOf(target: () => number | undefined): Promise<TcpProxy & { url: string }> {
  const proxy = await TcpProxy.open({ target });
  proxies.push(proxy);
  return Object.assign(proxy, { url: `ws://127.0.0.1:${proxy.port}/peers` });
}

const portOf = (node: StartedNode) => Number(new URL(node.url).port);
const isUp = (node: StartedNode, peer: string) => () => node.transport.peers().includes(peer);

describe('two nodes that dial each other', () => {
  test('have one connection, and hear of it once', async () => {
    for (let round = 0; round < 10; round++) {
      let portOfB: number | undefined;
      const proxy = await proxyOf(() => portOfB);
      const a = await start('a', { peers: [proxy.url] });
      const b = await start('b', { peers: [a.url] });
      portOfB = portOf(b);
      await Promise.all([a.until(isUp(a, 'b')), b.until(isUp(b, 'a'))]);
      a.transport.send('b', 'one');
      b.transport.send('a', 'two');
      await Promise.all([
        a.until(() => a.log.includes('frame b two')),
        b.until(() => b.log.includes('frame a one')),
      ]);
      expect([a.log, b.log]).toEqual([
        ['up b', 'frame b two'],
        ['up a', 'frame a one'],
      ]);
      await stopAll();
    }
  });

  test('also when both do at the same moment', async () => {
    for (let round = 0; round < 10; round++) {
      const ports: Record<string, number> = {};
      const [toA, toB] = [await proxyOf(() => ports['a']), await proxyOf(() => ports['b'])];
      // Both listen before either is let through.
      const limits = { redialMinMs: 1, redialMaxMs: 2 };
      const a = await start('a', { peers: [toB.url], limits });
      const b = await start('b', { peers: [toA.url], limits });
      ports['a'] = portOf(a);
      ports['b'] = portOf(b);
      await Promise.all([a.until(isUp(a, 'b')), b.until(isUp(b, 'a'))]);
      a.transport.send('b', 'one');
      await b.until(() => b.log.includes('frame a one'));
      expect([a.log, b.log]).toEqual([['up b'], ['up a', 'frame a one']]);
      await stopAll();
    }
  });
});

describe('a list of peers', () => {
  test('H11 may have oneself, one peer twice, and names that lead nowhere', async () => {
    const b = await start('b');
    const [again, mirror] = [await proxyOf(() => portOf(b)), await proxyOf(() => portOfA)];
    let portOfA: number | undefined;
    const nowhere = 'wss://no-such-host.invalid:7400/peers';
    const a = await start('a', { peers: [b.url, b.url, again.url, mirror.url, nowhere] });
    portOfA = portOf(a);
    await a.until(isUp(a, 'b'));
    await becomes(() => (a.transport.counters()['dialsFailed'] ?? 0) >= 3);
    a.transport.send('b', 'still here');
    await b.until(() => b.log.includes('frame a still here'));
    expect([a.log, b.log]).toEqual([['up b'], ['up a', 'frame a still here']]);
  });

  test('H11 may be very long', async () => {
    const b = await start('b');
    const dead = Array.from({ length: 20_000 }, (_, index) => `ws://127.0.0.1:1/${index}`);
    const a = await start('a', { peers: [b.url, ...dead], limits: { dialsMax: 2 } });
    await a.until(isUp(a, 'b'));
  });
});

describe('a peer that is lost', () => {
  test('is dialled again when it comes back, also elsewhere behind the same address', async () => {
    let port: number | undefined;
    const proxy = await proxyOf(() => port);
    const a = await start('a', { peers: [proxy.url] });
    for (const [times, bootEpoch] of [
      [1, 10],
      [2, 20],
    ] as const) {
      const b = await start('b', { bootEpoch });
      port = portOf(b);
      await a.until(() => a.count('up b') === times);
      await b.transport.stop();
      await a.until(() => a.count('down b') === times);
    }
  });

  test('H42 is given up when it gives no sign of life, and only then', async () => {
    const limits = { pingMs: 20, controlFramesPerSecond: 1_000 };
    const b = await start('b', { limits });
    const proxy = await proxyOf(() => portOf(b));
    const a = await start('a', { peers: [proxy.url], limits });
    const c = await start('c', { peers: [b.url], limits });
    await b.until(() => b.transport.peers().length === 2);
    await Promise.all([a.until(isUp(a, 'b')), c.until(isUp(c, 'b'))]);
    proxy.cut('silence');
    await Promise.all([
      a.until(() => a.log.includes('down b')),
      b.until(() => b.log.includes('down a')),
    ]);
    expect(c.log).toEqual(['up b']);
    proxy.heal();
    await a.until(() => a.count('up b') === 2);
  });

  test('is dialled at once when it had dialled itself', async () => {
    let portOfB: number | undefined;
    const proxy = await proxyOf(() => portOfB);
    const limits = { redialMinMs: 5, redialMaxMs: 600_000 };
    const a = await start('a', { peers: [proxy.url], limits });
    await becomes(() => (a.transport.counters()['dialsFailed'] ?? 0) >= 6);
    const b = await start('b', { peers: [a.url] });
    portOfB = portOf(b);
    await a.until(isUp(a, 'b'));
    await becomes(() => proxy.connections === 0);
    await b.transport.stop();
    const next = await start('b');
    portOfB = portOf(next);
    await a.until(() => a.count('up b') === 2);
  });
});

describe('H10 of two nodes with one name', () => {
  test('the later start takes the place of the earlier one, which stays out', async () => {
    const b = await start('b');
    const early = await openRaw(b.url, { ...MALLORY, bootEpoch: 5 });
    const late = await openRaw(b.url, { ...MALLORY, bootEpoch: 6 });
    expect(await early.closed).toBe(4002);
    const { answer, transcript } = await callIn(b.url, { ...MALLORY, bootEpoch: 5 });
    expect(answer.status).toBe(409);
    expect(answer.headers['escapement-reason']).toContain('(6)');
    expect(isProof(answer.headers['escapement-proof'], 'later', SECRET, transcript)).toBe(true);
    late.socket.destroy();
    await b.until(() => b.count('down m') === 2);
    // Also when nobody of that name is there.
    expect((await callIn(b.url, { ...MALLORY, bootEpoch: 5 })).answer.status).toBe(409);
    expect(b.log).toEqual(['up m', 'down m', 'up m', 'down m']);
  });

  test('a start that dials again takes the place of its own connection', async () => {
    const b = await start('b');
    const first = await openRaw(b.url);
    const second = await openRaw(b.url);
    expect(await first.closed).toBe(4001);
    b.transport.send('m', 'to the second');
    await becomes(() => second.socket.bytesRead > 0);
    expect(b.log).toEqual(['up m', 'down m', 'up m']);
    second.socket.destroy();
  });

  test('neither takes the other for itself', async () => {
    const first = await start('a', { bootEpoch: 1 });
    const second = await start('a', { bootEpoch: 2, peers: [first.url] });
    const b = await start('b', { peers: [first.url] });
    await b.until(isUp(b, 'a'));
    expect(second.log).toEqual([]);
    expect(first.log).toEqual(['up b']);
  });
});

describe('a server of somebody else', () => {
  test('is shared with other paths, and outlives the transport', async () => {
    const server = createServer((_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const b = await start('b', { server, path: '/cluster' });
    expect(b.url).toBe(`ws://127.0.0.1:${port}/cluster`);
    const a = await start('a', { peers: [b.url] });
    await b.until(isUp(b, 'a'));
    await b.transport.stop();
    await a.until(() => a.log.includes('down b'));
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('hello');
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  });
});

describe('a transport that stops', () => {
  test('leaves no socket and no timer behind', async () => {
    const before = new Set(process.getActiveResourcesInfo());
    const b = await start('b');
    const a = await start('a', { peers: [b.url, 'ws://127.0.0.1:1/peers'] });
    await a.until(isUp(a, 'b'));
    await stopAll();
    await becomes(() => {
      const left = process.getActiveResourcesInfo().filter((name) => !before.has(name));
      return left.every((name) => !/TCP|Timeout|TLS/.test(name));
    });
  });

  test('says so to its peers, and does not wait for one that does not answer', async () => {
    const b = await start('b', { limits: { closeMs: 20 } });
    const raw = await openRaw(b.url);
    await b.transport.stop();
    expect(await raw.closed).toBe(1001);
  });
});
