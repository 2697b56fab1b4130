/** Bodies that are wrong, too large or too slow: each is refused by its code, and costs little. */

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createHttpServer, serverCounts } from '../../http/index.ts';
import { exchange, RawConnection } from './raw-connection.ts';
import { close, listen, until } from './served.ts';
import { codeIn, head, unheard } from './unheard.ts';

const here = unheard();
const JOB = { timeoutMs: 60_000, workflows: [{ id: 'w1', handler: 'echo' }] };

describe('H25', () => {
  const submission = (...headers: string[]) =>
    head('POST /v1/jobs', 'content-type: application/json', ...headers);

  test('a body that says it is too large is refused before it comes', async () => {
    const {
      status,
      body,
      head: answered,
    } = await exchange(here.at.port, submission(`content-length: ${16 * 1024 * 1024 + 1}`));
    expect(status).toBe(413);
    expect(codeIn(body)).toBe('bodyTooLarge');
    expect(answered).toContain('connection: close');
  });

  test.each([
    ['/v1/jobs/j1/extend', 1_024],
    ['/v1/jobs', 256 * 1_024],
  ])('a body without an end is cut off at its limit: %s', async (path, length) => {
    const connection = await RawConnection.open(here.at.port);
    connection.write(
      head(`POST ${path}`, 'content-type: application/json', 'transfer-encoding: chunked'),
    );
    const blanks = `${length.toString(16)}\r\n${' '.repeat(length)}\r\n`;
    let chunks = 0;
    while (!connection.socket.destroyed && connection.text === '') {
      const isTaken = connection.socket.write(blanks);
      chunks += 1;
      await (isTaken ? new Promise(setImmediate) : connection.drained());
    }
    const { status, body } = await connection.answer();
    expect(status).toBe(413);
    expect(codeIn(body)).toBe('bodyTooLarge');
    expect(chunks).toBeGreaterThan(63);
  });

  test('a body that breaks off, or is none, is refused', async () => {
    const connection = await RawConnection.open(here.at.port);
    connection.write(`${submission('content-length: 100')}{"timeoutMs":`);
    connection.socket.end();
    await connection.closed;
    const text = JSON.stringify(JOB);
    const short = await exchange(
      here.at.port,
      `${submission(`content-length: ${text.length - 1}`, 'connection: close')}${text}`,
    );
    expect(short.status).toBe(400);
    for (const body of [
      '',
      '{',
      '""',
      'null',
      '[]',
      '1',
      '{} {}',
      '{"a":1,}',
      "{'a':1}",
      '\ufeff',
    ]) {
      const headers = { 'content-type': 'application/json' };
      const answer = await here.at.body('/v1/jobs', { method: 'POST', body, headers });
      expect(answer, body).toMatchObject({ status: 400, body: { error: { code: 'invalid' } } });
    }
  });

  test('bytes that are no text are refused', async () => {
    const body = Buffer.concat([
      Buffer.from('{"jobId":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}'),
    ]);
    const headers = { 'content-type': 'application/json' };
    expect(await here.at.body('/v1/jobs', { method: 'POST', body, headers })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid', field: 'body' } },
    });
  });

  test.each(['gzip', 'br', 'deflate', 'gzip, identity'])(
    'a body in the coding %s is not unpacked',
    async (coding) => {
      const headers = { 'content-type': 'application/json', 'content-encoding': coding };
      const body = JSON.stringify(JOB);
      expect(await here.at.body('/v1/jobs', { method: 'POST', body, headers })).toMatchObject({
        status: 415,
        body: { error: { code: 'unsupportedMediaType' } },
      });
    },
  );

  test('a body that is packed, and says that it is not, is no JSON', async () => {
    const body = gzipSync(JSON.stringify({ ...JOB, jobId: ' '.repeat(2 ** 20) }));
    const headers = { 'content-type': 'application/json' };
    expect(await here.at.body('/v1/jobs', { method: 'POST', body, headers })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid' } },
    });
  });

  test.each([
    ['depth', `{"a":${'['.repeat(100_000)}`],
    ['keys', `{"a":{${Array.from({ length: 1_001 }, (_, n) => `"k${n}":1`).join(',')}}}`],
    [
      'keys in all',
      `{"a":[${Array.from({ length: 100 }, () => '{"b":1,"c":2,"d":[{"e":3,"f":4,"g":5,"h":6,"i":7,"j":8}]}').join(',')},{"k":1}]}`,
    ],
    ['text', `{"a":"${'x'.repeat(8_193)}"}`],
    ['digits', `{"timeoutMs":${'9'.repeat(10_000)}}`],
    ['prototype', '{"workflows":[{"__proto__":{"x":1}}]}'],
    ['hidden prototype', '{"workflows":[{"__pro\\u0074o__":{"x":1}}]}'],
    ['constructor', '{"constructor":1}'],
    ['control character', '{"jobId":"a\u0001"}'],
    ['same member twice', '{"timeoutMs":1,"timeoutMs":2}'],
    ['number that is none', '{"timeoutMs":1e999,"workflows":[]}'],
  ])('a body with too much of something is refused: %s', async (_what, body) => {
    const headers = { 'content-type': 'application/json' };
    expect(await here.at.body('/v1/jobs', { method: 'POST', body, headers })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid' } },
    });
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test('a body where there is none is refused', async () => {
    const { status, body } = await exchange(
      here.at.port,
      `${head('GET /v1/jobs', 'content-length: 2', 'connection: close')}{}`,
    );
    expect(status).toBe(400);
    expect(codeIn(body)).toBe('invalid');
  });
});

describe('H26', () => {
  const limits = {
    headMs: 100,
    requestMs: 300,
    bodyMs: 150,
    keepAliveMs: 100,
    connectionsPerAddressMax: 5,
    requestsPerMinute: 1_000,
  };

  test('heads and bodies that come too slowly are answered 408', async () => {
    const slow = await listen(here.manager, { limits });
    const halfHead = await exchange(slow.port, 'GET /livez HTTP/1.1\r\nhost: local');
    expect(halfHead.status).toBe(408);
    const halfBody = await exchange(
      slow.port,
      `${head('POST /v1/jobs', 'content-type: application/json', 'content-length: 50')}{"jobId":`,
    );
    expect(halfBody.status).toBe(408);
    expect(codeIn(halfBody.body)).toBe('requestLate');
    await close(slow.server, slow.handler);
  });

  test('where an address has too many connections the longest silent one makes room', async () => {
    const narrow = await listen(here.manager, {
      limits: { ...limits, keepAliveMs: 60_000, firstHeadMs: 60_000 },
    });
    const silent = await RawConnection.openMany(narrow.port, 5);
    const sixth = await RawConnection.open(narrow.port);
    await silent[0]?.closed;
    expect(silent.map(({ socket }) => socket.destroyed)).toEqual([true, ...Array(4).fill(false)]);
    sixth.write(head('GET /livez', 'connection: close'));
    expect((await sixth.answer()).status).toBe(200);
    expect(serverCounts(narrow.server)).toMatchObject({ connectionsSilenced: 1 });
    await close(narrow.server, narrow.handler);
  });

  test('H41 an answer that nobody takes is given up with its connection', async () => {
    const times = { bodyMs: 100, requestMs: 100, headMs: 100, answerMs: 100, heartbeatMs: 100 };
    const answer = Buffer.alloc(64 * 1024 * 1024);
    const server = createHttpServer((_request, response) => response.end(answer), {
      limits: { ...times, keepAliveMs: 60_000 },
    }) as Server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const [idle, reading] = [await RawConnection.open(port), await RawConnection.open(port)];
    idle.socket.pause();
    idle.write(head('GET /livez'));
    reading.write(head('GET /livez', 'connection: close'));
    expect((await reading.answer()).status).toBe(200);
    const open = (): Promise<number> =>
      new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
    await until(async () => ((await open()) === 0 ? true : undefined));
    server.close();
  });

  test('more connections than there may be in all are closed, no matter who makes them', async () => {
    const limits = { firstHeadMs: 60_000, connectionsMax: 4 };
    const narrow = await listen(here.manager, { limits });
    const idle = await RawConnection.openMany(narrow.port, 20);
    const isOpen = ({ socket }: RawConnection) => !socket.destroyed;
    await until(() => (idle.filter(isOpen).length <= 4 ? true : undefined));
    // Nobody would notice from the outside that one of them is not the server's any more.
    for (const connection of idle.filter(isOpen)) {
      connection.write(head('GET /livez', 'connection: close'));
      expect((await connection.answer()).status).toBe(200);
    }
    expect(idle.filter(({ text }) => text !== '')).toHaveLength(4);
    expect(serverCounts(narrow.server)).toMatchObject({ connectionsSilenced: 16 });
    await close(narrow.server, narrow.handler);
  });
});
