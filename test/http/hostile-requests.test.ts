/**
 * Requests that are wrong, huge or meant to harm: each is refused by its code, no desk hears of it,
 * and the server still works.
 */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Manager, startManager } from '../../programs/jobs/index.ts';
import { exchange, RawConnection } from './raw-connection.ts';
import { bearer, close, type Endpoint, listen, TOKENS } from './served.ts';

let manager: Manager;
let at: Endpoint;
let questions = 0;
beforeAll(async () => {
  manager = await startManager({ datacenter: 'A' });
  at = await listen(manager);
  manager.runtime.inspect((record) => {
    if ('address' in record && String(record.address).startsWith('desk/')) questions += 1;
  });
});
afterAll(async () => {
  await close(at.server, at.handler);
  await manager.stop();
});
afterEach(async () => {
  expect(questions, 'no desk has heard of it').toBe(0);
  expect(await at.body('/livez')).toMatchObject({ status: 200 });
});

const JOB = { timeoutMs: 60_000, workflows: [{ id: 'w1', handler: 'echo' }] };
const head = (line: string, ...more: string[]) =>
  `${[`${line} HTTP/1.1`, 'host: localhost', ...more].join('\r\n')}\r\n\r\n`;
const codeIn = (body: string) => JSON.parse(body).error.code;

describe('H24', () => {
  test('a method that is not there is answered 405, with those that are', async () => {
    const cases = [
      ['PUT', '/v1/jobs', 'GET, POST, HEAD'],
      ['POST', '/livez', 'GET, HEAD'],
      ['DELETE', '/v1/jobs/j1/cancel', 'POST'],
      ['POST', '/v1/undelivered/u1', 'GET, DELETE, HEAD'],
      ['OPTIONS', '/v1/jobs', 'GET, POST, HEAD'],
    ] as const;
    for (const [method, path, allow] of cases) {
      const answer = await at.call(path, { method });
      expect(answer.status).toBe(405);
      expect([...(answer.headers.get('allow') ?? '').split(', ')].sort()).toEqual(
        allow.split(', ').sort(),
      );
      expect(await answer.json()).toMatchObject({ error: { code: 'methodNotAllowed' } });
    }
  });

  test.each(['/', '/v1', '/v1/', '/v1/jobs/', '/v1/jobs/j1/', '/etc/passwd', '/v2/jobs'])(
    'the unknown path %s is answered 404',
    async (path) => {
      expect(await at.body(path)).toMatchObject({
        status: 404,
        body: { error: { code: 'notFound' } },
      });
    },
  );

  test.each([
    '//v1/jobs',
    '/v1//jobs',
    '/v1/jobs/%2e%2e',
    '/v1/jobs/%2E%2e/x',
    '/v1/jobs/..',
    '/v1/jobs/./j1',
    '/v1/jobs/%00',
    '/v1/jobs/a%2fb',
    '/v1/jobs/a%5cb',
    '/v1/jobs/a\\b',
    '/v1/jobs/%zz',
    '/v1/jobs/%ff',
    '/v1/jobs#x',
    'http://localhost/v1/jobs',
    'v1/jobs',
    '*',
  ])('the path %s has two readings and is answered 400', async (path) => {
    const { status, body } = await exchange(at.port, head(`GET ${path}`, 'connection: close'));
    expect(status).toBe(400);
    expect(codeIn(body)).toBe('invalid');
  });

  test('a target over its limit is answered 414, one over the limit of a head 431', async () => {
    const long = await exchange(
      at.port,
      head(`GET /v1/jobs?cursor=${'x'.repeat(8_192)}`, 'connection: close'),
    );
    expect(long.status).toBe(414);
    expect(codeIn(long.body)).toBe('urlTooLong');
    const longer = await exchange(at.port, head(`GET /${'x'.repeat(65_536)}`));
    expect(longer.status).toBe(431);
  });
});

describe('H25', () => {
  const submission = (...headers: string[]) =>
    head('POST /v1/jobs', 'content-type: application/json', ...headers);

  test('a body that says it is too large is refused before it comes', async () => {
    const {
      status,
      body,
      head: answered,
    } = await exchange(at.port, submission(`content-length: ${16 * 1024 * 1024 + 1}`));
    expect(status).toBe(413);
    expect(codeIn(body)).toBe('bodyTooLarge');
    expect(answered).toContain('connection: close');
  });

  test('a body without an end is cut off at its limit', async () => {
    const connection = await RawConnection.open(at.port);
    connection.write(
      head(
        'POST /v1/jobs/j1/extend',
        'content-type: application/json',
        'transfer-encoding: chunked',
      ),
    );
    const blanks = `400\r\n${' '.repeat(1_024)}\r\n`;
    let chunks = 0;
    while (!connection.socket.destroyed && connection.text === '') {
      connection.write(blanks);
      chunks += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { status, body } = await connection.answer();
    expect(status).toBe(413);
    expect(codeIn(body)).toBe('bodyTooLarge');
    expect(chunks).toBeGreaterThan(63);
  });

  test('a body that breaks off, or is none, is refused', async () => {
    const connection = await RawConnection.open(at.port);
    connection.write(`${submission('content-length: 100')}{"timeoutMs":`);
    connection.socket.end();
    await connection.closed;
    const text = JSON.stringify(JOB);
    const short = await exchange(
      at.port,
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
      const answer = await at.body('/v1/jobs', { method: 'POST', body, headers });
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
    expect(await at.body('/v1/jobs', { method: 'POST', body, headers })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid', field: 'body' } },
    });
  });

  test.each(['gzip', 'br', 'deflate', 'gzip, identity'])(
    'a body in the coding %s is not unpacked',
    async (coding) => {
      const headers = { 'content-type': 'application/json', 'content-encoding': coding };
      const body = JSON.stringify(JOB);
      expect(await at.body('/v1/jobs', { method: 'POST', body, headers })).toMatchObject({
        status: 415,
        body: { error: { code: 'unsupportedMediaType' } },
      });
    },
  );

  test.each([
    ['depth', `{"a":${'['.repeat(100_000)}`],
    ['keys', `{"a":{${Array.from({ length: 1_001 }, (_, n) => `"k${n}":1`).join(',')}}}`],
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
    expect(await at.body('/v1/jobs', { method: 'POST', body, headers })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid' } },
    });
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test('a body where there is none is refused', async () => {
    const { status, body } = await exchange(
      at.port,
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
    const slow = await listen(manager, { limits });
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

  test('connections without a request are closed, and so are more than an address may have', async () => {
    const narrow = await listen(manager, {
      limits: { ...limits, keepAliveMs: 60_000, headMs: 60_000, requestMs: 60_000 },
    });
    const idle = await Promise.all(
      Array.from({ length: 5 }, () => RawConnection.open(narrow.port)),
    );
    const sixth = await RawConnection.open(narrow.port);
    await sixth.closed;
    expect(sixth.text).toBe('');
    expect(idle.every(({ socket }) => !socket.destroyed)).toBe(true);
    idle[0]?.socket.destroy();
    await idle[0]?.closed;
    for (let isServed = false; !isServed; ) {
      const next = await RawConnection.open(narrow.port);
      next.write(head('GET /livez', 'connection: close'));
      await next.closed;
      isServed = next.text.startsWith('HTTP/1.1 200');
    }
    await close(narrow.server, narrow.handler);
  });
});

describe('H27', () => {
  test('a token that is missing, wrong, ended or in the query gets one and the same answer', async () => {
    const guarded = await listen(manager, { tokens: TOKENS });
    const { token } = TOKENS[2];
    const cases: ReadonlyArray<readonly [string, Record<string, string>]> = [
      ['/v1/jobs', {}],
      ['/v1/jobs', { authorization: '' }],
      ['/v1/jobs', { authorization: 'Bearer' }],
      ['/v1/jobs', { authorization: `Basic ${token}` }],
      ['/v1/jobs', { authorization: `Bearer ${token}x` }],
      ['/v1/jobs', { authorization: `Bearer ${token.slice(0, -1)}` }],
      ['/v1/jobs', { authorization: `Bearer ${'x'.repeat(5_000)}` }],
      ['/v1/jobs', bearer('late')],
      [`/v1/jobs?token=${token}`, {}],
      [`/v1/jobs?access_token=${token}`, bearer('olga')],
      ['/v1/jobs/nobody', {}],
      ['/v1/workers', {}],
      ['/metrics', {}],
    ];
    const bodies = new Set<string>();
    for (const [path, headers] of cases) {
      const answer = await guarded.call(path, { headers });
      expect(answer.status, path).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      bodies.add(await answer.text());
    }
    expect(bodies.size).toBe(1);
    expect([...bodies][0]).not.toContain(token);
    for (const path of ['/livez', '/readyz'])
      expect(await guarded.body(path)).toMatchObject({ status: 200 });
    await close(guarded.server, guarded.handler);
  });

  test('a list of tokens may change while it runs, and is checked', async () => {
    let tokens: readonly (typeof TOKENS)[number][] = [TOKENS[0]];
    const guarded = await listen(manager, { tokens: () => tokens });
    const metrics = (name: string) => guarded.call('/metrics', { headers: bearer(name) });
    expect((await metrics('rita')).status).toBe(200);
    expect((await metrics('olga')).status).toBe(401);
    tokens = [TOKENS[2]];
    expect((await metrics('rita')).status).toBe(401);
    expect((await metrics('olga')).status).toBe(200);
    await close(guarded.server, guarded.handler);
    for (const wrong of [
      [{ name: 'a b', role: 'reader', token: 'x'.repeat(16) }],
      [{ name: 'a', role: 'king', token: 'x'.repeat(16) }],
      [{ name: 'a', role: 'reader', token: 'short' }],
      [TOKENS[0], TOKENS[0]],
    ])
      await expect(
        listen(manager, { tokens: wrong as (typeof TOKENS)[0][] }),
      ).rejects.toMatchObject({
        code: 'OPTION_INVALID',
      });
  });
});

test('H28 a role or a token for other jobs is answered 403, whether the job is there or not', async () => {
  const guarded = await listen(manager, { tokens: TOKENS });
  const refused = async (who: string, path: string, init: Parameters<Endpoint['call']>[1] = {}) => {
    const headers = { ...init.headers, ...bearer(who) } as Record<string, string>;
    const { status, body } = await guarded.body(path, { ...init, headers });
    expect(status, `${who} ${path}`).toBe(403);
    return JSON.stringify(body);
  };
  const post = { method: 'POST' };
  for (const who of ['rita', 'sam']) {
    const answers = new Set([
      await refused(who, '/v1/jobs/j1/cancel', post),
      await refused(who, '/v1/jobs/nobody/cancel', post),
      await refused(who, '/v1/jobs/nobody/extend', { json: { byMs: 1 } }),
      await refused(who, '/v1/undelivered/u1', { method: 'DELETE' }),
      await refused(who, '/v1/undelivered/u1/retry', post),
    ]);
    expect(answers.size).toBe(1);
  }
  await refused('rita', '/v1/jobs', { json: JOB });
  for (const path of ['/v1/jobs/j1', '/v1/jobs/j1/events', '/v1/jobs/j1/history'])
    await refused('team', path);
  await refused('team', '/v1/jobs', { json: JOB });
  await refused('team', '/v1/jobs', { json: { ...JOB, jobId: 'j1' } });
  for (const path of ['/v1/timers', '/v1/undelivered', '/metrics']) await refused('team', path);
  await close(guarded.server, guarded.handler);
});

describe('H29', () => {
  test.each(['evil.com', 'localhost.evil.com', 'localhost@evil.com', '127.0.0.1.evil.com:80', ''])(
    'a server that is called %s is not ours',
    async (host) => {
      const { status, body } = await exchange(
        at.port,
        `GET /v1/jobs HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
      );
      expect(status).toBe(421);
      expect(codeIn(body)).toBe('wrongHost');
    },
  );

  test('a page of another site has no access, and neither has its preflight', async () => {
    for (const origin of ['https://evil.com', 'null', 'file://', 'https://localhost.evil.com'])
      for (const method of ['GET', 'OPTIONS']) {
        const headers = { origin, 'access-control-request-method': 'POST' };
        const answer = await at.call('/v1/jobs', { method, headers });
        expect(answer.status, `${method} ${origin}`).toBe(403);
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
        expect(await answer.json()).toMatchObject({ error: { code: 'forbidden' } });
      }
  });

  test('names that were configured are the only ones', async () => {
    const named = await listen(manager, { hosts: ['jobs.example'], tokens: TOKENS });
    const ask = (host: string) =>
      exchange(
        named.port,
        `GET /v1/workers HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
      );
    expect((await ask('jobs.example:8443')).status).toBe(401);
    expect((await ask('localhost')).status).toBe(421);
    await close(named.server, named.handler);
  });
});

test.each([
  ['text/plain'],
  ['application/json; charset=latin1'],
  ['application/json; charset=utf-8; boundary=x'],
  ['application/jsonp'],
  ['application/x-www-form-urlencoded'],
  ['multipart/form-data; boundary=x'],
  [undefined],
])('H30 the media type %s is answered 415', async (type) => {
  for (const path of ['/v1/jobs', '/v1/jobs/j1/cancel']) {
    const { status, body } = await exchange(
      at.port,
      `${head(
        `POST ${path}`,
        'connection: close',
        'content-length: 2',
        ...(type === undefined ? [] : [`content-type: ${type}`]),
      )}{}`,
    );
    expect(status).toBe(415);
    expect(codeIn(body)).toBe('unsupportedMediaType');
  }
});

describe('H31', () => {
  test.each([
    ['length and chunks', head('POST /v1/jobs', 'content-length: 4', 'transfer-encoding: chunked')],
    ['two lengths', head('POST /v1/jobs', 'content-length: 4', 'content-length: 5')],
    ['a length that is none', head('POST /v1/jobs', 'content-length: 4x')],
    ['a bare CR', 'GET /livez HTTP/1.1\r\nhost: localhost\rx-a: b\r\n\r\n'],
    ['a blank before a colon', head('GET /livez', 'x-a : b')],
    ['no host', 'GET /livez HTTP/1.1\r\n\r\n'],
    ['a version that is none', 'GET /livez HTTP/9.9\r\nhost: localhost\r\n\r\n'],
    ['no HTTP', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n'],
  ])('%s is answered 400, and the connection ends', async (_what, bytes) => {
    const { status, body } = await exchange(at.port, bytes);
    expect(status).toBe(400);
    expect(body).not.toMatch(/\bat .*:\d+:\d+/);
  });

  test('a head of too many lines or of too many bytes is answered 431', async () => {
    const lines = Array.from({ length: 2_001 }, (_, n) => `${n.toString(36)}:`);
    const many = await exchange(at.port, head('GET /livez', ...lines));
    expect(many.status).toBe(431);
    expect(codeIn(many.body)).toBe('headTooLarge');
    const large = await exchange(at.port, head('GET /livez', `x-a: ${'x'.repeat(17 * 1_024)}`));
    expect(large.status).toBe(431);
  });
});

test('H33 ids never become labels, whatever clients ask for', async () => {
  for (let n = 0; n < 50; n += 1) {
    await at.call(`/v1/nothing-${n}`);
    await at.call(`/v1/jobs/no%20id-${n}`);
  }
  const text = await (await at.call('/metrics')).text();
  expect(text).not.toMatch(/nothing-\d|id-\d/);
  expect(
    text.split('\n').filter((line) => line.startsWith('escapement_http_requests')).length,
  ).toBeLessThan(40);
});
