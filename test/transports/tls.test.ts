/** TLS and mutual TLS between nodes, and the refusal to go without them off loopback. */

import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type WebSocketOptions, websocketTransport } from '../../transports/websocket.ts';
import { type CertificateAuthority, certificateAuthority, hasOpenssl } from './certificates.ts';
import { SECRET } from './socket-network.ts';
import { becomes, nodes } from './told.ts';

const { start, stopAll } = nodes();
afterEach(stopAll);

describe('H8 a listener that other machines can reach', () => {
  const tls = { cert: 'c', key: 'k' };
  const refused: ReadonlyArray<readonly [string, Partial<WebSocketOptions>]> = [
    ['nothing', {}],
    ['a secret alone', { secret: SECRET }],
    ['TLS alone', { tls }],
  ];
  for (const host of ['0.0.0.0', '::', '[::]', '10.1.2.3', 'node-1.example'])
    test.each(refused)(`${host} is refused with %s`, (_what, options) => {
      expect(() =>
        websocketTransport({ node: 'b', listen: { host, port: 0 }, ...options }),
      ).toThrow(
        expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(host) }),
      );
    });
});

describe('options that cannot be', () => {
  test.each<[string, Partial<WebSocketOptions>]>([
    ['a short secret', { secret: 'short' }],
    ['an unknown limit', { limits: { frames: 1 } as never }],
    ['a limit of nothing', { limits: { pingMs: 0 } }],
    ['pauses the wrong way round', { limits: { redialMinMs: 10, redialMaxMs: 1 } }],
    ['a peer in the clear elsewhere', { peers: ['ws://10.0.0.1:7400'] }],
    ['a peer that is no socket', { peers: ['http://127.0.0.1:7400'] }],
    ['a peer that is no URL', { peers: ['127.0.0.1:7400'] }],
    ['a password in a URL', { peers: ['wss://a:b@node-1:7400'] }],
    ['a key without a certificate', { tls: { key: 'k' } }],
    ['PEM that is none', { tls: { ca: 'nonsense', cert: 'c', key: 'k' } }],
    ['listening with half of TLS', { listen: { port: 0 }, tls: { ca: 'a' } }],
    [
      'certificates without an authority',
      { tls: { cert: 'c', key: 'k', requireClientCertificate: true } },
    ],
    ['a name that is none', { node: 'a b' }],
    ['an epoch that is none', { bootEpoch: -1 }],
    ['a role that is none', { role: 'king' as never }],
    ['a client without anybody to call', { role: 'client' }],
    ['a token with a line break', { token: 'a\r\nb' }],
    ['a path that is none', { path: 'peers' }],
  ])('%s', (_what, options) => {
    expect(() => websocketTransport({ node: 'b', ...options })).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    );
  });
});

describe.skipIf(!hasOpenssl())('TLS', () => {
  let authority: CertificateAuthority;
  let stranger: CertificateAuthority;
  beforeAll(() => {
    authority = certificateAuthority();
    stranger = certificateAuthority();
  });
  afterAll(() => {
    authority.close();
    stranger.close();
  });
  const tlsOf = (name: string, by = authority) => ({ ...by.issue(name), ca: authority.ca });
  const mutualOf = (name: string, by = authority) => ({
    ...tlsOf(name, by),
    requireClientCertificate: true,
  });

  test('H8 lets a listener be reached from other machines, with a secret or on both ends', () => {
    const listen = { host: '0.0.0.0', port: 0 };
    websocketTransport({ node: 'b', listen, tls: tlsOf('b'), secret: SECRET });
    websocketTransport({ node: 'b', listen, tls: mutualOf('b') });
  });

  test('with a key of another certificate is refused', () => {
    const { cert } = authority.issue('b');
    const { key } = authority.issue('c');
    expect(() => websocketTransport({ node: 'b', tls: { cert, key } })).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    );
  });

  test('with a secret connects two nodes', async () => {
    const b = await start('b', { tls: tlsOf('b') });
    const a = await start('a', {
      peers: [b.url],
      tls: { ca: authority.ca },
      listen: undefined,
    });
    await a.until(() => a.log.includes('up b'));
    a.transport.send('b', 'sealed');
    await b.until(() => b.log.includes('frame a sealed'));
    expect(b.url).toMatch(/^wss:/);
  });

  test('H34 to a listener whose certificate nobody knows is broken off', async () => {
    const b = await start('b', { tls: tlsOf('b', stranger) });
    const a = await start('a', {
      peers: [b.url],
      tls: { ca: authority.ca },
      listen: undefined,
    });
    await becomes(() => (a.transport.counters()['dialsFailed'] ?? 0) >= 2);
    expect([a.log, b.log]).toEqual([[], []]);
  });

  test('with certificates on both ends connects two nodes without a secret', async () => {
    const b = await start('b', { tls: mutualOf('b'), secret: undefined });
    const a = await start('a', { tls: mutualOf('a'), secret: undefined, peers: [b.url] });
    await a.until(() => a.log.includes('up b'));
    await b.until(() => b.log.includes('up a'));
  });

  test('H34 with a certificate in another name is refused, on either end', async () => {
    const b = await start('b', { tls: mutualOf('b') });
    const liar = await start('a', { tls: mutualOf('c'), peers: [b.url] });
    const wrong = await start('d', { tls: mutualOf('e') });
    const honest = await start('f', { tls: mutualOf('f'), peers: [wrong.url] });
    for (const { transport } of [liar, honest])
      await becomes(() => (transport.counters()['dialsFailed'] ?? 0) >= 2);
    expect([b.log, liar.log, honest.log]).toEqual([[], [], []]);
  });

  test('H34 with a certificate is known by a DNS name in it, and by no part of one', async () => {
    const b = await start('b', { tls: mutualOf('b') });
    const named = (dnsName: string) => ({ ...mutualOf('c'), ...authority.issue('c', dnsName) });
    const alias = await start('a', { tls: named('a'), peers: [b.url] });
    await b.until(() => b.log.includes('up a'));
    const liar = await start('d', { tls: named('x, DNS:d, y'), peers: [b.url] });
    await becomes(() => (liar.transport.counters()['dialsFailed'] ?? 0) >= 2);
    expect([alias.log, liar.log]).toEqual([['up b'], []]);
  });

  test('H34 with a certificate of another authority, or none, is refused', async () => {
    const b = await start('b', { tls: mutualOf('b') });
    const foreign = await start('a', { tls: mutualOf('a', stranger), peers: [b.url] });
    const bare = await start('c', {
      tls: { ca: authority.ca },
      peers: [b.url],
      listen: undefined,
    });
    for (const { transport } of [foreign, bare])
      await becomes(() => (transport.counters()['dialsFailed'] ?? 0) >= 2);
    expect([b.log, foreign.log, bare.log]).toEqual([[], [], []]);
  });

  test('H34 plain HTTP, old TLS and noise on the port are cut off and counted', async () => {
    const b = await start('b', { tls: tlsOf('b') });
    const { port } = new URL(b.url);
    const ended = (socket: Socket) =>
      new Promise((resolve) =>
        socket
          .on('error', () => {})
          .on('close', resolve)
          .resume(),
      );
    const plain = connect(Number(port), '127.0.0.1');
    plain.write('GET /peers HTTP/1.1\r\n\r\n');
    await ended(plain);
    await ended(
      connectTls({
        ...{ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false },
        ...{ minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
      }),
    );
    await becomes(() => (b.transport.counters()['callersGarbled'] ?? 0) >= 2);
    const a = await start('a', {
      peers: [b.url],
      tls: { ca: authority.ca },
      listen: undefined,
    });
    await a.until(() => a.log.includes('up b'));
  });
});
