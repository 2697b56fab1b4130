/** Two nodes of one name: the earlier of them hears of it, unless that may pass. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { TcpProxy } from '../../demo/tcp-proxy.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import { claimHeaders, HEADERS } from '../../transports/websocket/claim.ts';
import { newNonce } from './raw-caller.ts';
import { becomes, nodes, type StartedNode } from './told.ts';

const { start, stopAll } = nodes();
const proxies: TcpProxy[] = [];
afterEach(async () => {
  await stopAll();
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});

async function proxyOf(target: () => number): Promise<TcpProxy & { url: string }> {
  const proxy = await TcpProxy.open({ target });
  proxies.push(proxy);
  return Object.assign(proxy, { url: `ws://127.0.0.1:${proxy.port}/peers` });
}

const portOf = (node: StartedNode) => Number(new URL(node.url).port);
const isUp = (node: StartedNode, peer: string) => () => node.transport.peers().includes(peer);

describe('H10 a node whose name a later start has taken', () => {
  const told = () => {
    const by: string[] = [];
    return { by, onSuperseded: (peer: string): void => void by.push(peer) };
  };

  test('hears of it once from a peer that it dials', async () => {
    const b = await start('b');
    const [early, late] = [told(), told()];
    const a = await start('a', { bootEpoch: 1, peers: [b.url], onSuperseded: early.onSuperseded });
    await a.until(isUp(a, 'b'));
    const next = await start('a', {
      bootEpoch: 2,
      peers: [b.url],
      onSuperseded: late.onSuperseded,
    });
    await next.until(isUp(next, 'b'));
    await becomes(() => failedDials(a) >= 3);
    expect([early.by, late.by]).toEqual([['b'], []]);
  });

  test('hears of it from a peer that dials it', async () => {
    const [early, late] = [told(), told()];
    const a = await start('a', { bootEpoch: 1, onSuperseded: early.onSuperseded });
    const b = await start('b', { peers: [a.url] });
    await b.until(isUp(b, 'a'));
    const next = await start('a', {
      bootEpoch: 2,
      peers: [b.url],
      onSuperseded: late.onSuperseded,
    });
    await next.until(isUp(next, 'b'));
    await becomes(() => early.by.length > 0);
    expect([early.by, late.by]).toEqual([['b'], []]);
  });

  test('hears of it when it was cut off meanwhile', async () => {
    const b = await start('b');
    const proxy = await proxyOf(() => portOf(b));
    const early = told();
    const a = await start('a', {
      bootEpoch: 1,
      peers: [proxy.url],
      onSuperseded: early.onSuperseded,
    });
    await Promise.all([a.until(isUp(a, 'b')), b.until(isUp(b, 'a'))]);
    proxy.cut('reset');
    await b.until(() => b.count('down a') === 1);
    await start('a', { bootEpoch: 2, peers: [b.url] });
    await b.until(() => b.count('up a') === 2);
    expect(early.by).toEqual([]);
    proxy.heal();
    await becomes(() => early.by.length > 0);
    expect(early.by).toEqual(['b']);
    expect(a.transport.peers()).toEqual([]);
  });

  test('goes on dialling when it was never let in: a clock may have been set back', async () => {
    const b = await start('b');
    const before = await start('a', { bootEpoch: 2, peers: [b.url] });
    await b.until(isUp(b, 'a'));
    await before.transport.stop();
    const lines: string[] = [];
    const quiet = (): void => {};
    const error = (_fields: object, message: string): void => void lines.push(message);
    const logger: Logger = { debug: quiet, info: quiet, warn: quiet, error };
    const early = told();
    const a = await start('a', {
      bootEpoch: 1,
      peers: [b.url],
      logger,
      onSuperseded: early.onSuperseded,
    });
    await becomes(() => failedDials(a) >= 5);
    expect(early.by).toEqual([]);
    expect(lines).toEqual([
      'a peer knows a later start of this node, and does not let this one in',
    ]);
  });

  test('does not believe it of somebody who does not know the secret', async () => {
    const b = await start('b', { bootEpoch: 9 });
    let way = portOf(b);
    const proxy = await proxyOf(() => way);
    const early = told();
    const a = await start('a', {
      bootEpoch: 1,
      peers: [proxy.url],
      onSuperseded: early.onSuperseded,
    });
    await a.until(isUp(a, 'b'));
    let refused = 0;
    const forger = createServer();
    forger.on('upgrade', ({ headers }, socket) => {
      socket.on('error', () => socket.destroy());
      const claim = claimHeaders({ node: 'b', role: 'node', place: 'b', bootEpoch: 9 });
      const proof = headers[HEADERS.proof];
      if (proof !== undefined) refused += 1;
      const said = {
        ...claim,
        [HEADERS.version]: '1',
        [HEADERS.reason]: 'a later start of that node is known (2)',
        ...(proof === undefined ? { [HEADERS.nonce]: newNonce() } : { [HEADERS.proof]: proof }),
      };
      const lines = Object.entries(said).map(([name, value]) => `${name}: ${value}\r\n`);
      const status = proof === undefined ? '401 Unauthorized' : '409 Conflict';
      socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n${lines.join('')}\r\n`);
    });
    await new Promise<void>((resolve) => forger.listen(0, '127.0.0.1', resolve));
    proxy.cut('reset');
    way = (forger.address() as AddressInfo).port;
    proxy.heal();
    await becomes(() => refused >= 3);
    expect(early.by).toEqual([]);
    forger.close();
  });
});

describe('H10 two nodes of one name that are peers of each other', () => {
  const heard = () => {
    const calls: string[] = [];
    return { calls, onNamesake: (): void => void calls.push('namesake') };
  };

  test.each([
    ['the second dials the first', true],
    ['the first dials the second', false],
  ])('only the second to start hears of it: %s', async (_, isSecondDialling) => {
    const [early, late] = [heard(), heard()];
    const starts = [
      { bootEpoch: 1, onNamesake: early.onNamesake },
      { bootEpoch: 2, onNamesake: late.onNamesake },
    ] as const;
    const [caller, listener] = isSecondDialling ? [starts[1], starts[0]] : starts;
    const met = await start('a', listener);
    await start('a', { ...caller, peers: [met.url] });
    await becomes(() => late.calls.length > 0);
    expect([early.calls, late.calls]).toEqual([[], ['namesake']]);
    expect(met.transport.peers()).toEqual([]);
  });

  test('nobody hears of it from somebody who does not know the secret', async () => {
    const early = heard();
    const late = heard();
    const other = 'another secret, as long as one has to be for a cluster';
    const met = await start('a', { bootEpoch: 1, secret: other, onNamesake: early.onNamesake });
    const a = await start('a', { bootEpoch: 2, peers: [met.url], onNamesake: late.onNamesake });
    await becomes(() => failedDials(a) >= 3);
    expect([early.calls, late.calls]).toEqual([[], []]);
  });
});

function failedDials({ transport }: StartedNode): number {
  return transport.counters()['dialsFailed'] ?? 0;
}
