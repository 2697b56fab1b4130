/** Hostile visitors of the inspector: H72 to H75. */

import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createRuntime } from '../../../create-runtime.ts';
import type { Frame } from '../../../inspector/protocol.ts';
import { call, type Inspected, inspected, readStream } from './inspected.ts';

let node: Inspected;
afterEach(() => node?.close());

const TOKEN = 'a-token-of-enough-letters';
const send = { type: 'send', address: 'order/1', event: { type: 'order.add' } };

describe('H72: who is let in', () => {
  test('an inspector is off unless it is asked for', async () => {
    const lines: string[] = [];
    const note = (_: unknown, text: string) => void lines.push(text);
    const runtime = await createRuntime({
      logger: { debug: note, info: note, warn: note, error: note } as never,
    });
    await runtime.stop();
    expect(lines.join()).not.toContain('inspector');
  });

  test('it listens off this machine only with TLS and a token', async () => {
    const open = (inspector: object) => createRuntime({ inspector });
    await expect(open({ host: '0.0.0.0', port: 0 })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
    });
    await expect(open({ host: '0.0.0.0', port: 0, token: TOKEN })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
    });
    await expect(open({ port: 0, token: 'short' })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
    });
    await expect(open({ port: 0, nonsense: 1 })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });

  test('pages of other sites and other names are refused, whatever they ask', async () => {
    node = await inspected();
    await node.runtime.spawn('order/1' as never);
    for (const path of ['/', '/api/hello', '/api/stream', '/api/actors']) {
      expect((await call(node.port, path, { headers: { host: 'evil.example' } })).status).toBe(421);
      expect(
        (await call(node.port, path, { headers: { origin: 'http://evil.example' } })).status,
      ).toBe(403);
      expect((await call(node.port, path, { headers: { origin: 'null' } })).status).toBe(403);
    }
    for (const headers of [
      { origin: 'http://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { host: 'evil.example' },
    ])
      expect(
        (await call(node.port, '/api/command', { body: send, headers })).status,
      ).toBeGreaterThanOrEqual(400);
    // What a form of another site could send.
    const form = await call(node.port, '/api/command', {
      text: JSON.stringify(send),
      headers: { 'content-type': 'text/plain' },
    });
    expect(form.status).toBe(415);
    expect(node.runtime.history('order/1')).toHaveLength(1);
    expect(
      (await call(node.port, '/api/hello')).headers['access-control-allow-origin'],
    ).toBeUndefined();
  });

  test('through a proxy, and so from elsewhere, nobody is let in without a token', async () => {
    node = await inspected();
    const far = { 'x-forwarded-for': '203.0.113.9' };
    expect((await call(node.port, '/api/hello', { headers: far })).status).toBe(403);
    await node.close();
    node = await inspected({
      token: [
        { name: 'ops', token: TOKEN },
        { name: 'lead', token: `${TOKEN}-2`, commands: true },
      ],
    });
    expect((await call(node.port, '/api/hello', { headers: far })).status).toBe(401);
    expect((await call(node.port, '/api/hello')).status).toBe(401);
    expect(
      (
        await call(node.port, '/api/hello', {
          headers: { authorization: 'Bearer wrong-token-of-letters' },
        })
      ).status,
    ).toBe(401);
    const shown = (token: string) => ({ ...far, authorization: `Bearer ${token}` });
    const looked = await call(node.port, '/api/hello', { headers: shown(TOKEN) });
    expect(looked.body.capabilities.commands).toMatchObject({
      can: false,
      why: expect.any(String),
    });
    expect(
      (await call(node.port, '/api/command', { body: send, headers: shown(TOKEN) })).body,
    ).toMatchObject({ outcome: 'refused' });
    const led = await call(node.port, '/api/hello', { headers: shown(`${TOKEN}-2`) });
    expect(led.body.capabilities.commands).toEqual({ can: true });
    const first = await call(node.port, `/?token=${TOKEN}&view=actors`);
    expect(first.status).toBe(303);
    expect(first.headers.location).toBe('./?view=actors');
    const [cookie = ''] = first.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
    const [pair = ''] = cookie.split(';');
    expect((await call(node.port, '/api/hello', { headers: { cookie: pair } })).status).toBe(200);
  });

  test('every answer allows the page nothing but itself', async () => {
    node = await inspected();
    for (const path of ['/', '/api/hello', '/api/nothing', '/nothing']) {
      const { headers } = await call(node.port, path);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
  });
});

describe('H73: commands and the stream are apart', () => {
  test('a client that says anything on its stream loses it', async () => {
    node = await inspected();
    const socket = connect(node.port, '127.0.0.1');
    const heard: string[] = [];
    socket.setEncoding('utf8').on('data', (text: string) => heard.push(text));
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', () => {});
    const host = `Host: 127.0.0.1:${node.port}`;
    socket.write(`GET /api/stream HTTP/1.1\r\n${host}\r\n\r\n`);
    await expect.poll(() => heard.join('')).toContain('opened');
    const body = JSON.stringify(send);
    socket.write(
      `POST /api/command HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await closed;
    expect(heard.join('')).not.toContain('outcome');
  });

  test('a stream that comes with a body is refused', async () => {
    node = await inspected();
    expect(
      (
        await call(node.port, '/api/stream', {
          method: 'GET',
          text: 'x',
          headers: { 'content-length': '1' },
        })
      ).status,
    ).toBe(400);
  });

  test('commands are opt-in, and stand in the history and the log with who asked', async () => {
    const lines: object[] = [];
    const note = (fields: object) => void lines.push(fields);
    const logger = { debug: () => {}, info: note, warn: () => {}, error: () => {} } as never;
    node = await inspected({ commands: false }, { logger });
    await node.runtime.spawn('order/1' as never);
    const off = await call(node.port, '/api/command', { body: send });
    expect(off).toMatchObject({ status: 403, body: { outcome: 'refused' } });
    await node.close();
    node = await inspected({}, { logger });
    await node.runtime.spawn('order/1' as never);
    const carry = async (body: object) => (await call(node.port, '/api/command', { body })).body;
    expect(await carry(send)).toMatchObject({ outcome: 'taken', turn: 2 });
    expect(await carry({ ...send, event: { type: 'order.pay' } })).toMatchObject({
      outcome: 'taken',
      state: 'paid',
    });
    expect(await carry(send)).toMatchObject({ outcome: 'refused', code: 'ACTOR_ENDED' });
    expect(await carry({ ...send, event: { type: 'order.nonsense' } })).toMatchObject({
      outcome: 'refused',
    });
    expect(await carry({ type: 'fireNow', address: 'order/1', deadline: 'limit' })).toMatchObject({
      outcome: 'refused',
      why: expect.stringContaining('deadlines: true'),
    });
    const { body } = await call(node.port, '/api/turns?address=order/1@node-1');
    expect(body.turns[1]).toMatchObject({ event: 'order.add', by: 'loopback' });
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ event: 'inspector.command', who: 'loopback', outcome: 'taken' }),
      ]),
    );
    for (const wrong of [
      {},
      { type: 'drop-table' },
      { type: 'send', address: 1 },
      { type: 'extend', address: 'job/1', byMs: -1, reason: '' },
    ])
      expect((await call(node.port, '/api/command', { body: wrong })).status).toBe(400);
  });

  test('an event that no state takes is told as ignored', async () => {
    node = await inspected();
    await node.runtime.spawn('order/1' as never);
    const { body } = await call(node.port, '/api/command', {
      body: { ...send, event: { type: 'order.pay' } },
    });
    expect(body).toMatchObject({ outcome: 'ignored', state: 'open' });
  });
});

describe('H74: slow pages and huge contexts', () => {
  test('a page that does not read is told what it missed, and holds nobody up', async () => {
    node = await inspected({ streamBytesMax: 20_000 });
    await node.runtime.spawn('order/1' as never, { input: { name: 'x'.repeat(60_000) } } as never);
    const stream = await readStream(node.port);
    const watch = { stream: stream.id, turns: ['order/1@node-1'], actors: ['order/1@node-1'] };
    await call(node.port, '/api/watch', { body: watch });
    await stream.until(({ type }) => type === 'actor');
    stream.pause();
    const order = node.runtime.actor('order/1' as never);
    // More than the sockets of this machine hold, while nobody reads.
    await Promise.all(
      Array.from({ length: 400 }, () => order.send({ type: 'order.add' } as never)),
    );
    expect((await call(node.port, '/api/actor?address=order/1@node-1')).body.actor.turns).toBe(401);
    for (let asked = 0; asked < 4; asked += 1) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await call(node.port, '/api/watch', { body: watch });
    }
    stream.goOn();
    const skipped = await stream.until(({ type }) => type === 'skipped');
    expect((skipped as Extract<Frame, { type: 'skipped' }>).count).toBeGreaterThan(0);
    expect(node.runtime.counts().ready).toBe(0);
    stream.close();
  });

  test('a minute after the last look nothing is collected', async () => {
    node = await inspected({ idleMs: 300 });
    const { inspection } = node.runtime.metrics() as never as { inspection?: unknown };
    expect(inspection).toBeUndefined();
    await call(node.port, '/api/overview');
    const first = await call(node.port, '/api/overview');
    expect(first.body.kinds).toHaveLength(1);
    const stream = await readStream(node.port);
    await call(node.port, '/api/watch', { body: { stream: stream.id, turns: ['order/1@node-1'] } });
    stream.close();
    await stream.ended;
    // Rates of a later look begin again: what was collected is gone.
    await expect
      .poll(async () => {
        await new Promise((resolve) => setTimeout(resolve, 700));
        const { body } = await call(node.port, '/api/overview');
        return body.rates.turns.values.length;
      })
      .toBe(0);
  });

  test('pages beyond the limit are told to come again', async () => {
    node = await inspected({ streamsMax: 1 });
    const stream = await readStream(node.port);
    const refused = await call(node.port, '/api/stream');
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBeDefined();
    stream.close();
  });
});

describe('H75: nothing leaves for third parties', () => {
  test('no view, command or file of the page names another origin', async () => {
    node = await inspected();
    const { text, headers } = await call(node.port, '/');
    expect(headers['content-security-policy']).toContain("connect-src 'self'");
    expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    const answer = await call(node.port, '/api/command', {
      body: { type: 'forward', url: 'https://third.example' },
    });
    expect(answer.status).toBe(400);
  });
});
