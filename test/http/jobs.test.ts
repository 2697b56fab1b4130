/** The routes about jobs, at a gate and at a datacenter, over real sockets. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Endpoint, type Served, serve, until } from './served.ts';

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

const echo = { id: 'w1', handler: 'echo', payload: 'hello' };
const wait = { id: 'w1', handler: 'wait' };

describe.each([
  ['a gate', () => served.atGate],
  ['a datacenter', () => served.atManager],
])('%s', (name, at: () => Endpoint) => {
  const own = (id: string) => `${name.replaceAll(' ', '-')}.${id}`;
  const statusOf = async (jobId: string) => (await at().body(`/v1/jobs/${jobId}`)).body.status;
  const running = async (jobId: string) => {
    await at().body('/v1/jobs', { json: { jobId, timeoutMs: 60_000, workflows: [wait] } });
    await until(async () => ((await statusOf(jobId)) === 'running' ? true : undefined));
  };

  test('takes a job, once, and shows it with its workflows', async () => {
    const job = { jobId: own('j1'), timeoutMs: 60_000, workflows: [echo] };
    const first = await at().call('/v1/jobs', { json: job });
    expect(first.status).toBe(201);
    expect(first.headers.get('location')).toBe(`/v1/jobs/${own('j1')}`);
    expect(await first.json()).toMatchObject({ jobId: own('j1'), accepted: true, created: true });
    const again = await at().body('/v1/jobs', { json: job });
    expect(again).toMatchObject({ status: 200, body: { accepted: true, created: false } });
    const view = await until(async () => {
      const { body } = await at().body(`/v1/jobs/${own('j1')}`);
      return body.status === 'completed' ? body : undefined;
    });
    expect(view.workflows).toMatchObject([
      { workflowId: 'w1', status: 'completed', result: 'hello' },
    ]);
    const other = { ...job, timeoutMs: 70_000 };
    expect(await at().body('/v1/jobs', { json: other })).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict', field: 'jobId' } },
    });
  });

  test('names a job that has no name', async () => {
    const { status, body } = await at().body('/v1/jobs', {
      json: { timeoutMs: 60_000, workflows: [echo] },
    });
    expect(status).toBe(201);
    expect(await statusOf(body.jobId)).toMatch(/submitted|running|completed/);
  });

  test('names the field that is wrong', async () => {
    const job = { timeoutMs: 60_000, workflows: [echo] };
    const wrong: ReadonlyArray<readonly [object, string]> = [
      [{ ...job, timeoutMs: 0 }, 'timeoutMs'],
      [{ ...job, timeoutMs: '60s' }, 'timeoutMs'],
      [{ ...job, timoutMs: 5 }, 'timoutMs'],
      [{ ...job, jobId: 'a b' }, 'jobId'],
      [{ timeoutMs: 60_000 }, 'workflows'],
      [{ ...job, workflows: {} }, 'workflows'],
      [{ ...job, workflows: [] }, 'workflows'],
      [{ ...job, workflows: [echo, { ...echo, id: 'w2', cores: 0 }] }, 'workflows[1].cores'],
      [{ ...job, workflows: [echo, echo] }, 'workflows[1].id'],
      [{ ...job, workflows: [{ ...echo, dependsOn: ['w9'] }] }, 'workflows[0].dependsOn'],
      [{ ...job, workflows: [{ ...echo, payload: 'x'.repeat(65_537) }] }, 'workflows[0].payload'],
      [{ ...job, workflows: [{ ...echo, retries: 1 }] }, 'workflows[0].retries'],
    ];
    for (const [json, field] of wrong)
      expect(await at().body('/v1/jobs', { json }), field).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid', field } },
      });
  });

  test('lists jobs by what is asked, page by page', async () => {
    for (const n of [1, 2, 3]) await running(own(`list${n}`));
    const ids = async (query: string) => {
      const { status, body } = await at().body(`/v1/jobs?${query}`);
      expect(status).toBe(200);
      return body.jobs.map(({ jobId }: { jobId: string }) => jobId);
    };
    expect(await ids('status=running')).toEqual(
      expect.arrayContaining([own('list1'), own('list2'), own('list3')]),
    );
    expect(await ids('status=failed')).toEqual([]);
    expect(await ids('status=running&stuckFor=1h')).toEqual([]);
    expect(await ids('deadlineBefore=1s')).toEqual([]);
    expect(await ids('deadlineBefore=2m')).toContain(own('list1'));
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await at().body(`/v1/jobs?status=running&limit=1${cursor}`);
      seen.push(...body.jobs.map(({ jobId }: { jobId: string }) => jobId));
      if (body.cursor === null) break;
      cursor = `&cursor=${encodeURIComponent(body.cursor)}`;
    }
    expect(seen).toEqual(await ids('status=running'));
    for (const [query, field] of [
      ['status=lost', 'status'],
      ['limit=0', 'limit'],
      ['limit=501', 'limit'],
      ['limit=ten', 'limit'],
      ['stuckFor=soon', 'stuckFor'],
      ['colour=blue', 'colour'],
      ['limit=1&limit=2', 'limit'],
    ])
      expect(await at().body(`/v1/jobs?${query}`), query).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid', field } },
      });
  });

  test('gives a job more time, once for each request', async () => {
    await running(own('extend'));
    const path = `/v1/jobs/${own('extend')}/extend`;
    const json = { byMs: 30_000, requestId: 'r1' };
    for (let times = 0; times < 2; times += 1)
      expect(await at().body(path, { json })).toMatchObject({
        status: 200,
        body: { accepted: true, extensionsMs: 30_000 },
      });
    const headers = { 'idempotency-key': 'k1' };
    for (let times = 0; times < 2; times += 1)
      expect(await at().body(path, { json: { byMs: 5_000 }, headers })).toMatchObject({
        status: 200,
        body: { extensionsMs: 35_000 },
      });
    expect(await at().body(path, { json: { byMs: 6_000 }, headers })).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict', field: 'Idempotency-Key' } },
    });
    for (const byMs of [0, -1, 0.5, '5m', 5_184_000_001, null])
      expect(await at().body(path, { json: { byMs } }), String(byMs)).toMatchObject({
        status: 400,
        body: { error: { field: 'byMs' } },
      });
    const nowhere = await at().body('/v1/jobs/no-such-job/extend', { json });
    expect(nowhere).toMatchObject({ status: 404, body: { error: { code: 'notFound' } } });
  });

  test('cancels a job, and says so again; a job that has ended stays as it is', async () => {
    await running(own('cancel'));
    const cancel = (jobId: string) => at().body(`/v1/jobs/${jobId}/cancel`, { method: 'POST' });
    expect(await cancel(own('cancel'))).toMatchObject({ status: 200, body: { accepted: true } });
    expect(await cancel(own('cancel'))).toMatchObject({
      status: 200,
      body: { accepted: true, reason: 'alreadyCancelled' },
    });
    await until(async () => ((await statusOf(own('cancel'))) === 'cancelled' ? true : undefined));
    await at().body('/v1/jobs', {
      json: { jobId: own('done'), timeoutMs: 60_000, workflows: [echo] },
    });
    await until(async () => ((await statusOf(own('done'))) === 'completed' ? true : undefined));
    expect(await cancel(own('done'))).toMatchObject({
      status: 409,
      body: { error: { code: 'alreadyFinal' } },
    });
    expect(await cancel('no-such-job')).toMatchObject({ status: 404 });
    expect(await statusOf(own('done'))).toBe('completed');
  });

  test('says of a job that nobody knows that there is none, and of no id that it is none', async () => {
    expect(await at().body('/v1/jobs/nobody')).toMatchObject({
      status: 404,
      body: { error: { code: 'notFound' } },
    });
    expect(await at().body('/v1/jobs/no%20id')).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid', field: 'jobId' } },
    });
  });
});
