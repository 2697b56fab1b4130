/**
 * Admission to a WebSocket: who is let in, and what the others are told, before any connection is one.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { jobsPeer } from '../../programs/jobs/peer-roles.ts';
import type { Claim } from '../../transports/websocket/claim.ts';
import { isProof } from '../../transports/websocket/proof.ts';
import { websocketTransport } from '../../transports/websocket.ts';
import {
  type Answer,
  ask,
  callIn,
  type Headers,
  MALLORY,
  newNonce,
  proofHeaders,
  question,
  transcriptOf,
} from './raw-caller.ts';
import { SECRET } from './socket-network.ts';
import { becomes, nodes } from './told.ts';

const { start, stopAll } = nodes();
const sockets: Answer[] = [];
afterEach(async () => {
  for (const { socket } of sockets.splice(0)) socket.destroy();
  await stopAll();
});

async function statusOf(url: string, changes: Headers, path?: string): Promise<Answer> {
  const answer = await ask(url, question(MALLORY, newNonce(), changes), path);
  sockets.push(answer);
  return answer;
}

async function call(...parts: Parameters<typeof callIn>): ReturnType<typeof callIn> {
  const called = await callIn(...parts);
  sockets.push(called.answer);
  return called;
}

describe('a caller that knows the secret', () => {
  test('is let in, and is shown that the listener knows it, too', async () => {
    const b = await start('b', { role: 'manager', place: 'B' });
    const claim: Claim = { node: 'm', role: 'gate', place: 'gate', bootEpoch: 12 };
    const { answer, transcript } = await call(b.url, claim);
    expect(answer.status).toBe(101);
    expect(answer.headers['sec-websocket-protocol']).toBe('escapement.1');
    expect(isProof(answer.headers['escapement-proof'], 'listener', SECRET, transcript)).toBe(true);
    expect(transcript.listener).toMatchObject({ node: 'b', role: 'manager', place: 'B' });
    expect(b.log).toEqual(['up m']);
    expect(b.identities.get('m')).toEqual(jobsPeer('gate', 'gate'));
  });

  test('H39 is not given compression', async () => {
    const b = await start('b');
    const { answer } = await call(b.url, MALLORY, {
      'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits',
    });
    expect(answer.status).toBe(101);
    expect(answer.headers).not.toHaveProperty('sec-websocket-extensions');
  });

  test('may offer versions that are not spoken here besides one that is', async () => {
    const b = await start('b');
    const { answer } = await call(b.url, MALLORY, {
      'sec-websocket-protocol': 'escapement.2, escapement.1',
    });
    expect(answer.headers['sec-websocket-protocol']).toBe('escapement.1');
  });
});

describe('H35 a caller is refused before it is a WebSocket', () => {
  test('without a proof, with a nonce to sign', async () => {
    const b = await start('b');
    const answer = await statusOf(b.url, {});
    expect(answer.status).toBe(401);
    expect(answer.headers['escapement-nonce']).toMatch(/^[\w-]{40,}$/);
    expect(b.log).toEqual([]);
  });

  test('with the proof of another secret, in the same words', async () => {
    const b = await start('b');
    const none = await statusOf(b.url, {});
    const { answer } = await call(b.url, MALLORY, {}, 'another secret of thirty-two bytes or so');
    expect(answer.status).toBe(401);
    expect(answer.headers['escapement-reason']).toBe(none.headers['escapement-reason']);
    // To be asked is how every handshake begins; to answer wrongly is not.
    expect(b.transport.counters()).toMatchObject({ handshakesRefused: 1 });
    expect(b.log).toEqual([]);
  });

  test('with a nonce that was used', async () => {
    const b = await start('b');
    const nonce = newNonce();
    const asked = await ask(b.url, question(MALLORY, nonce));
    sockets.push(asked);
    const proof = proofHeaders(transcriptOf(asked, MALLORY, nonce));
    const [first, second] = [
      await ask(b.url, question(MALLORY, nonce, proof)),
      await ask(b.url, question(MALLORY, nonce, proof)),
    ];
    sockets.push(first, second);
    expect([first.status, second.status]).toEqual([101, 401]);
  });

  test('with a nonce that is too old, or of another listener', async () => {
    const b = await start('b', { limits: { handshakeMs: 1 } });
    const c = await start('c');
    const nonce = newNonce();
    const asked = await ask(b.url, question(MALLORY, nonce));
    sockets.push(asked);
    const transcript = transcriptOf(asked, MALLORY, nonce);
    const headers = question(MALLORY, nonce, proofHeaders(transcript));
    const began = Date.now();
    await becomes(() => Date.now() - began > 5);
    for (const url of [b.url, c.url]) {
      const answer = await ask(url, headers);
      sockets.push(answer);
      expect(answer.status).toBe(401);
    }
  });

  test('with the proof of somebody else', async () => {
    const b = await start('b');
    for (const change of [
      { 'escapement-node': 'n' },
      { 'escapement-role': 'gate' },
      { 'escapement-place': 'B' },
      { 'escapement-boot-epoch': '8' },
    ]) {
      const { answer } = await call(b.url, MALLORY, change as Headers);
      expect([change, answer.status]).toEqual([change, 401]);
    }
  });

  test('from a page in a browser', async () => {
    const b = await start('b');
    for (const origin of ['https://evil.example', new URL(b.url).origin.replace('ws', 'http')])
      expect((await statusOf(b.url, { origin })).status).toBe(403);
  });

  test('with another subprotocol, or none', async () => {
    const b = await start('b');
    for (const protocol of ['mqtt', 'escapement.x', 'escapement', ''])
      expect((await statusOf(b.url, { 'sec-websocket-protocol': protocol })).status).toBe(400);
  });

  test('H60 with versions that are not spoken here, and hears which are', async () => {
    const b = await start('b');
    for (const protocol of ['escapement.2', 'escapement.3, escapement.2']) {
      const answer = await statusOf(b.url, { 'sec-websocket-protocol': protocol });
      expect(answer.status).toBe(426);
      expect(answer.headers['escapement-versions']).toBe('1-1');
    }
    const old = await statusOf(b.url, { 'sec-websocket-version': '8' });
    expect([old.status, old.headers['sec-websocket-version']]).toEqual([426, '13']);
  });

  test('with more than 4 KiB of headers, or more than 16', async () => {
    const b = await start('b');
    expect((await statusOf(b.url, { padding: 'x'.repeat(4_096) })).status).toBe(413);
    expect((await statusOf(b.url, { padding: 'x'.repeat(17_000) })).status).toBe(431);
  });

  test('on another path, or without an upgrade', async () => {
    const b = await start('b');
    expect((await statusOf(b.url, {}, '/elsewhere')).status).toBe(404);
    expect((await statusOf(b.url, { upgrade: '', connection: 'close' })).status).toBe(426);
  });

  test('H57 with a name that is none', async () => {
    const b = await start('b');
    for (const name of ['../../x', 'x'.repeat(129), 'a b', '%00', '"'])
      expect((await statusOf(b.url, { 'escapement-node': name })).status).toBe(400);
    for (const epoch of ['-1', '1.5', '1e3', '9'.repeat(17), 'x'])
      expect((await statusOf(b.url, { 'escapement-boot-epoch': epoch })).status).toBe(400);
    expect((await statusOf(b.url, { 'escapement-role': 'king' })).status).toBe(400);
    expect((await statusOf(b.url, { 'escapement-nonce': 'short' })).status).toBe(400);
  });

  test('with a key that is none, after a good proof', async () => {
    const b = await start('b');
    const { answer } = await call(b.url, MALLORY, { 'sec-websocket-key': 'nonsense' });
    expect(answer.status).toBe(400);
    expect(b.log).toEqual([]);
  });

  test('when it is not wanted', async () => {
    const b = await start('b', {
      admit: ({ role, place }) => (role === 'gate' ? undefined : `no ${role} of ${place} here`),
    });
    const { answer } = await call(b.url);
    expect(answer.status).toBe(403);
    expect(answer.headers['escapement-reason']).toBe('no node of m here');
    expect((await call(b.url, { ...MALLORY, role: 'gate' })).answer.status).toBe(101);
  });

  test('when it has the name of the node itself', async () => {
    const b = await start('b');
    const { answer } = await call(b.url, { ...MALLORY, node: 'b', place: 'b' });
    expect(answer.status).toBe(409);
  });
});

describe('a client', () => {
  const clientOf = (token: string | undefined) =>
    token === 'open sesame'.replace(' ', '-') ? { name: 'alice' } : undefined;
  const alice: Claim = { node: 'alice~1', role: 'client', place: 'alice~1', bootEpoch: 1 };
  const asks = async (url: string, claim: Claim, changes: Headers) => {
    const answer = await ask(url, question(claim, newNonce(), changes));
    sockets.push(answer);
    return answer.status;
  };

  test('shows its token and nothing else', async () => {
    const b = await start('b', { clientOf });
    const client = await start('alice~1', {
      role: 'client',
      token: 'open-sesame',
      peers: [b.url],
      secret: 'not the secret of the cluster, not at all',
    });
    await client.until(() => client.log.includes('up b'));
    expect(b.identities.get('alice~1')).toEqual(jobsPeer('client', 'alice~1'));
    client.transport.send('b', 'hello');
    await b.until(() => b.log.includes('frame alice~1 hello'));
    b.transport.send('alice~1', 'good day');
    await client.until(() => client.log.includes('frame b good day'));
    expect(client.transport.frameBytesMax?.('b')).toBeLessThan(64 * 1024);
  });

  test('is refused with a wrong token, none, or where there are no clients', async () => {
    const b = await start('b', { clientOf });
    const authorization = 'Bearer open-sesame';
    expect(await asks(b.url, alice, { authorization: 'Bearer wrong' })).toBe(401);
    expect(await asks(b.url, alice, {})).toBe(401);
    expect(await asks(b.url, alice, { authorization: 'Basic open-sesame' })).toBe(401);
    const c = await start('c');
    expect(await asks(c.url, alice, { authorization })).toBe(401);
  });

  test('is refused under the name of another, or of a place', async () => {
    const b = await start('b', { clientOf });
    const authorization = 'Bearer open-sesame';
    for (const claim of [
      { ...alice, node: 'bob~1', place: 'bob~1' },
      { ...alice, node: 'alicent', place: 'alicent' },
      { ...alice, place: 'B' },
    ])
      expect(await asks(b.url, claim, { authorization })).toBe(403);
    expect(b.log).toEqual([]);
  });
});

describe('a caller hangs up', () => {
  test('on a listener that does not prove the secret', async () => {
    const server = createServer();
    let asked = 0;
    server.on('upgrade', (_request, socket) => {
      socket.on('error', () => socket.destroy());
      asked += 1;
      const claim =
        'escapement-node: x\r\nescapement-role: node\r\nescapement-place: x\r\nescapement-boot-epoch: 1';
      socket.end(
        `HTTP/1.1 401 No\r\nescapement-version: 1\r\nescapement-nonce: ${newNonce()}\r\n${claim}\r\n\r\n`,
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const a = await start('a', { peers: [`ws://127.0.0.1:${port}/peers`] });
    await becomes(() => asked >= 4 && (a.transport.counters()['dialsFailed'] ?? 0) >= 2);
    expect(a.log).toEqual([]);
    await new Promise((resolve) => server.close(resolve));
  });

  test('when the two have different secrets, or only one has any', async () => {
    const b = await start('b');
    const other = await start('a', { peers: [b.url], secret: 'x'.repeat(32) });
    const none = websocketTransport({ node: 'c', peers: [b.url], limits: { redialMinMs: 5 } });
    await none.start(other.listener);
    for (const caller of [other.transport, none])
      await becomes(() => (caller.counters()['dialsFailed'] ?? 0) >= 2);
    await none.stop();
    expect([other.log, b.log]).toEqual([[], []]);
  });
});
