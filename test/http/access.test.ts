/** Access to the API: who is let in, and to what: tokens and roles. */

import { describe, expect, test } from 'vitest';
import { bearer, close, type Endpoint, listen, TOKENS } from './served.ts';
import { unheard } from './unheard.ts';

const here = unheard();
const JOB = { timeoutMs: 60_000, workflows: [{ id: 'w1', handler: 'echo' }] };

describe('H27', () => {
  test('a token that is missing, wrong, ended or in the query gets one and the same answer', async () => {
    const guarded = await listen(here.manager, { tokens: TOKENS });
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
    const guarded = await listen(here.manager, { tokens: () => tokens });
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
        listen(here.manager, { tokens: wrong as (typeof TOKENS)[0][] }),
      ).rejects.toMatchObject({
        code: 'OPTION_INVALID',
      });
  });
});

test('a list of tokens that becomes bad, or cannot be had, keeps the last good one', async () => {
  const refused: unknown[] = [];
  const error = (fields: object) => void refused.push((fields as { event?: unknown }).event);
  const logger = { debug() {}, info() {}, warn() {}, error };
  let list = (): unknown => [TOKENS[0]];
  const guarded = await listen(here.manager, { tokens: () => list() as never, logger });
  const status = async (name: string) =>
    (await guarded.call('/metrics', { headers: bearer(name) })).status;
  const another = { ...TOKENS[0], token: 'rita-has-another-token' };
  const BAD: ReadonlyArray<() => unknown> = [
    () => null,
    () => [TOKENS[2], TOKENS[2]],
    () => [TOKENS[0], { ...another, role: 'operator' }],
    () => [{ ...TOKENS[2], token: 'with,a-comma-in-its-midst' }],
    () => 'none',
    () => {
      throw new Error('the file is gone');
    },
  ];
  for (const [index, bad] of BAD.entries()) {
    const given = index < BAD.length - 1 ? bad() : undefined;
    list = given === undefined ? bad : () => given;
    expect([await status('rita'), await status('olga')], String(index)).toEqual([200, 401]);
    // Once for each mistake, not for each request.
    expect(refused, String(index)).toEqual(Array(index + 1).fill('tokens.refused'));
  }
  const two = [TOKENS[0], another, TOKENS[2]];
  list = () => two;
  expect([await status('rita'), await status('olga')]).toEqual([200, 200]);
  await close(guarded.server, guarded.handler);
});

test('a page of another port is one of another site, unless it is named', async () => {
  const own = `localhost:${here.at.port}`;
  const from = async (at: Endpoint, origin: string) =>
    (await at.call('/metrics', { headers: { origin } })).status;
  const foreign = ['http://localhost:3000', `http://${own}`, `https://127.0.0.1:${here.at.port}`];
  for (const origin of foreign)
    expect([origin, await from(here.at, origin)]).toEqual([origin, 403]);
  expect(await from(here.at, here.at.url)).toBe(200);
  const named = await listen(here.manager, { hosts: ['localhost:3000'], ownHosts: true });
  expect(await from(named, 'http://localhost:3000')).toBe(200);
  expect(await from(named, 'http://localhost:3001')).toBe(403);
  await close(named.server, named.handler);
});

test('H28 a role or a token for other jobs is answered 403, whether the job is there or not', async () => {
  const guarded = await listen(here.manager, { tokens: TOKENS });
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
