/** Requests whose first lines are wrong or meant to harm: each is refused by its code. */

import { describe, expect, test } from 'vitest';
import { exchange } from './raw-connection.ts';
import { close, listen, TOKENS } from './served.ts';
import { codeIn, head, unheard } from './unheard.ts';

const here = unheard();

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
      const answer = await here.at.call(path, { method });
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
      expect(await here.at.body(path)).toMatchObject({
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
    const { status, body } = await exchange(here.at.port, head(`GET ${path}`, 'connection: close'));
    expect(status).toBe(400);
    expect(codeIn(body)).toBe('invalid');
  });

  test.each([8_192, 65_536])('a target of %i bytes is answered 414', async (length) => {
    const target = `GET /v1/jobs?cursor=${'x'.repeat(length)}`;
    const { status, body } = await exchange(here.at.port, head(target, 'connection: close'));
    expect(status).toBe(414);
    expect(codeIn(body)).toBe('urlTooLong');
  });
});

describe('H29', () => {
  test.each(['evil.com', 'localhost.evil.com', 'localhost@evil.com', '127.0.0.1.evil.com:80', ''])(
    'a server that is called %s is not ours',
    async (host) => {
      const { status, body } = await exchange(
        here.at.port,
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
        const answer = await here.at.call('/v1/jobs', { method, headers });
        expect(answer.status, `${method} ${origin}`).toBe(403);
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
        expect(await answer.json()).toMatchObject({ error: { code: 'forbidden' } });
      }
  });

  test('names that were configured are the only ones', async () => {
    const named = await listen(here.manager, { hosts: ['jobs.example'], tokens: TOKENS });
    const ask = (host: string) =>
      exchange(
        named.port,
        `GET /v1/workers HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
      );
    expect((await ask('jobs.example:8443')).status).toBe(401);
    expect((await ask('localhost')).status).toBe(421);
    await close(named.server, named.handler);
  });

  test('names that were configured and its own, where both are wanted', async () => {
    const options = { hosts: ['Jobs.example', 'api.example:8443'], ownHosts: true, tokens: TOKENS };
    const named = await listen(here.manager, options);
    const statusAt = async (host: string) => {
      const request = `GET /v1/workers HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
      return (await exchange(named.port, request)).status;
    };
    for (const host of [
      'jobs.example:1',
      'JOBS.EXAMPLE',
      'api.example:8443',
      'localhost',
      '127.0.0.1',
    ])
      expect([host, await statusAt(host)]).toEqual([host, 401]);
    for (const host of ['api.example', 'api.example:80', 'evil.jobs.example'])
      expect([host, await statusAt(host)]).toEqual([host, 421]);
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
      here.at.port,
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
    ['two hosts', head('GET /v1/jobs', 'host: evil.com')],
    ['two hosts, to a probe', head('GET /livez', 'Host: localhost')],
    ['a coding besides chunks', head('POST /v1/jobs', 'transfer-encoding: gzip, chunked')],
    ['a coding that is none', head('POST /v1/jobs', 'transfer-encoding: identity, chunked')],
    ['an unknown coding', head('POST /v1/jobs', 'transfer-encoding: xchunked')],
    ['chunks twice', head('POST /v1/jobs', ...Array(2).fill('transfer-encoding: chunked'))],
    ['a folded line', head('GET /livez', 'x-a: b', ' c: d')],
    ['bare line feeds', 'GET /livez HTTP/1.1\nhost: localhost\n\n'],
    ['a NUL byte', head('GET /livez', 'x-a: b\u0000c')],
    ['a length below zero', head('POST /v1/jobs', 'content-length: -2')],
    ['a length beyond all numbers', head('POST /v1/jobs', `content-length: ${'9'.repeat(20)}`)],
    [
      'a chunk beyond all numbers',
      `${head('POST /v1/jobs', 'content-type: application/json', 'transfer-encoding: chunked')}fffffffffffffffff\r\n{`,
    ],
    ['length and chunks', head('POST /v1/jobs', 'content-length: 4', 'transfer-encoding: chunked')],
    ['two lengths', head('POST /v1/jobs', 'content-length: 4', 'content-length: 5')],
    ['a length that is none', head('POST /v1/jobs', 'content-length: 4x')],
    ['a bare CR', 'GET /livez HTTP/1.1\r\nhost: localhost\rx-a: b\r\n\r\n'],
    ['a blank before a colon', head('GET /livez', 'x-a : b')],
    ['no host', 'GET /livez HTTP/1.1\r\n\r\n'],
    ['a version that is none', 'GET /livez HTTP/9.9\r\nhost: localhost\r\n\r\n'],
    ['no HTTP', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n'],
  ])('%s is answered 400, and the connection ends', async (_what, bytes) => {
    const { status, body } = await exchange(here.at.port, bytes);
    expect(status).toBe(400);
    expect(body).not.toMatch(/\bat .*:\d+:\d+/);
  });

  test('a head of too many lines or of too many bytes is answered 431', async () => {
    const lines = Array.from({ length: 2_001 }, (_, n) => `${n.toString(36)}:`);
    const many = await exchange(here.at.port, head('GET /livez', ...lines));
    expect(many.status).toBe(431);
    expect(codeIn(many.body)).toBe('headTooLarge');
    const large = await exchange(
      here.at.port,
      head('GET /livez', `x-a: ${'x'.repeat(17 * 1_024)}`),
    );
    expect(large.status).toBe(431);
    expect(codeIn(large.body)).toBe('headTooLarge');
  });
});

test('H33 ids never become labels, whatever clients ask for', async () => {
  for (let n = 0; n < 50; n += 1) {
    await here.at.call(`/v1/nothing-${n}`);
    await here.at.call(`/v1/jobs/no%20id-${n}`);
  }
  const text = await (await here.at.call('/metrics')).text();
  expect(text).not.toMatch(/nothing-\d|id-\d/);
  expect(
    text.split('\n').filter((line) => line.startsWith('escapement_http_requests')).length,
  ).toBeLessThan(40);
});
