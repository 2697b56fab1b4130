/** The routes for operators of the system, at a gate and at a datacenter. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setup } from 'xstate';
import { startGate, startManager } from '../../programs/jobs/index.ts';
import { localLease } from '../../runtime/system/local-lease.ts';
import { memoryStore } from '../../stores/memory.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { close, type Endpoint, listen, type Served, serve, until } from './served.ts';

let served: Served;
beforeAll(async () => {
  served = await serve();
  for (const [at, jobId] of [
    [served.atGate, 'at-gate'],
    [served.atManager, 'at-manager'],
  ] as const)
    await at.body('/v1/jobs', {
      json: { jobId, timeoutMs: 60_000, workflows: [{ id: 'w1', handler: 'wait', cores: 2 }] },
    });
});
afterAll(() => served.stop());

describe.each([
  ['a gate', 'at-gate', () => served.atGate],
  ['a datacenter', 'at-manager', () => served.atManager],
])('%s', (_name, jobId, at: () => Endpoint) => {
  test('lists the workers with their cores', async () => {
    const worker = await until(async () => {
      const { status, body } = await at().body('/v1/workers');
      expect(status).toBe(200);
      expect(body.unanswered).toEqual([]);
      return body.workers.find(({ attempts }: { attempts: number }) => attempts === 2);
    });
    expect(worker).toEqual({
      workerId: 'A.worker-1',
      datacenter: 'A',
      state: 'healthy',
      heard: true,
      cores: 64,
      freeCores: 60,
      attempts: 2,
      // Its own `sleep` beside ours.
      handlers: 3,
      deadlineInMs: expect.any(Number),
    });
    expect(worker.deadlineInMs).toBeGreaterThan(0);
  });

  test('tells what happened to a job', async () => {
    const { status, body } = await at().body(`/v1/jobs/${jobId}/history`);
    expect(status).toBe(200);
    expect(body.history[0]).toMatchObject({ turn: 1, event: 'escapement.spawn' });
    expect(body.history.length).toBeGreaterThan(1);
    const short = await at().body(`/v1/jobs/${jobId}/history?limit=1`);
    expect(short.body.history).toHaveLength(1);
    expect(await at().body('/v1/jobs/nobody/history')).toMatchObject({ status: 404 });
    expect(await at().body(`/v1/jobs/${jobId}/history?limit=0`)).toMatchObject({ status: 400 });
  });

  test('lists who waits for a moment', async () => {
    const { status, body } = await at().body('/v1/timers?before=2m');
    expect(status).toBe(200);
    const kind = jobId === 'at-gate' ? 'gate-job' : 'job';
    const due = body.timers.find((timer: { address: string }) =>
      timer.address.startsWith(`${kind}/${jobId}@`),
    );
    expect(due).toMatchObject({ kind });
    expect(due.dueInMs).toBeLessThan(120_000);
    const none = await at().body('/v1/timers?kind=nothing');
    expect(none.body).toEqual({ timers: [], cursor: null });
    const first = await at().body('/v1/timers?limit=1');
    expect(first.body.timers).toHaveLength(1);
    expect(await at().body('/v1/timers?before=soon')).toMatchObject({
      status: 400,
      body: { error: { field: 'before' } },
    });
  });
});

test('what nobody could take is listed, shown, tried again and dropped', async () => {
  let isBroken = true;
  const trap = setup({
    types: { events: {} as { type: 'trap.sprung'; why: string } },
    guards: {
      holds: () => {
        if (isBroken) throw new Error('the spring is broken');
        return true;
      },
    },
  }).createMachine({ on: { 'trap.sprung': { guard: 'holds' } } });
  const { manager, atManager: at } = served;
  const runtime = manager.runtime.register('trap', trap);
  const actor = await runtime.spawn('trap/1');
  for (const why of ['one', 'two'])
    await actor.send({ type: 'trap.sprung', why }).catch(() => undefined);
  const list = async () => (await at.body('/v1/undelivered')).body.undelivered;
  const listed = await list();
  expect(listed).toHaveLength(2);
  expect(listed[0]).toMatchObject({ to: 'trap/1@A', type: 'trap.sprung', from: null });
  const [first, two] = listed.map(({ id }: { id: string }) => `/v1/undelivered/${id}`);
  const shown = await at.body(first);
  expect(shown).toMatchObject({ status: 200, body: { to: 'trap/1@A', event: { why: 'one' } } });
  const page = await at.body('/v1/undelivered?limit=1');
  expect(page.body).toMatchObject({ undelivered: [{ id: listed[0].id }], cursor: listed[0].id });
  const rest = await at.body(`/v1/undelivered?limit=1&cursor=${page.body.cursor}`);
  expect(rest.body).toMatchObject({ undelivered: [{ id: listed[1].id }], cursor: null });

  expect(await at.body(`${first}/retry`, { method: 'POST' })).toMatchObject({
    status: 409,
    body: { error: { code: 'stillRefused' } },
  });
  // The new try has a new place on the list.
  const [, { id }] = await list();
  expect(id).not.toBe(listed[0].id);
  // Anybody who turns the page over what is gone by now misses nothing.
  const { undelivered } = (await at.body(`/v1/undelivered?cursor=${listed[0].id}`)).body;
  expect(undelivered).toContainEqual(expect.objectContaining({ id }));
  const one = `/v1/undelivered/${id}`;
  expect((await at.body(one)).body.event).toEqual(shown.body.event);
  isBroken = false;
  expect(await at.body(`${one}/retry`, { method: 'POST' })).toMatchObject({
    status: 200,
    body: { delivered: true },
  });
  expect(await at.body(two, { method: 'DELETE' })).toMatchObject({ status: 200 });
  expect(await at.body(two, { method: 'DELETE' })).toMatchObject({ status: 404 });
  for (const path of [one, `${one}/retry`]) {
    const method = path.endsWith('retry') ? 'POST' : 'GET';
    expect(await at.body(path, { method }), path).toMatchObject({ status: 404 });
  }
});

test('a gate names the datacenters whose workers it does not know', async () => {
  const network = inProcessNetwork();
  const gate = await startGate({
    gate: 'gate',
    datacenters: ['A', 'B'],
    transport: network.join('gate'),
  });
  const at = await listen(gate);
  expect(await at.body('/v1/workers')).toEqual({
    status: 200,
    body: { workers: [], unanswered: ['A', 'B'] },
  });
  await close(at.server, at.handler);
  await gate.stop();
});

describe('a manager that stands by', () => {
  test('is ready, says that another one leads, and answers once it leads itself', async () => {
    const [lease, store] = [localLease(), memoryStore()];
    const start = (manager: string) => startManager({ datacenter: 'A', manager, lease, store });
    const leader = await start('A.manager-1');
    const standby = await start('A.manager-2');
    const at = await listen(standby);
    const probe = () => at.body('/readyz');
    expect(await probe()).toEqual({ status: 200, body: { status: 'ready', hosting: false } });
    for (const path of ['/v1/jobs', '/v1/workers', '/v1/jobs/j1/events', '/v1/timers']) {
      const answer = await at.call(path);
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(await answer.json()).toMatchObject({ error: { code: 'notLeader' } });
    }
    expect(await at.body('/livez')).toEqual({ status: 200, body: { status: 'alive' } });
    await leader.stop();
    await until(async () => ((await probe()).body.hosting ? true : undefined));
    expect(await at.body('/v1/jobs')).toMatchObject({ status: 200, body: { jobs: [] } });
    await close(at.server, at.handler);
    await standby.stop();
  });
});

describe('a node that is not ready', () => {
  test('answers probes, and sends everybody else away for a while', async () => {
    let isReady = false;
    const manager = await startManager({ datacenter: 'A' });
    const at = await listen(manager, { isReady: () => isReady });
    expect(await at.body('/readyz')).toEqual({
      status: 503,
      body: {
        ...{ status: 'notReady', hosting: true, latenessMs: expect.any(Number) },
        backlog: { workflows: 0, clients: 0, waitMs: null, isShedding: false },
      },
    });
    const refused = await at.call('/v1/jobs');
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({ error: { code: 'notReady' } });
    isReady = true;
    expect(await at.body('/v1/jobs')).toMatchObject({ status: 200 });
    await at.handler.close();
    expect(await at.body('/readyz')).toMatchObject({ status: 503 });
    expect(await at.body('/v1/jobs')).toMatchObject({ status: 503 });
    await close(at.server, at.handler);
    await manager.stop();
  });
});

test('/metrics has the numbers of the engine, of the program, of the API, and what was added', async () => {
  const manager = await startManager({ datacenter: 'A' });
  const at = await listen(manager, { metrics: () => 'own_number 7' });
  await at.body('/v1/jobs');
  const answer = await at.call('/metrics');
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await answer.text();
  for (const line of [
    /^escapement_turns_total\{node="A\.manager-1",place="A"\} \d+$/m,
    /^dispatch_queue_length 0$/m,
    /^escapement_http_requests_total\{route="jobs\.list",status="200"\} 1$/m,
    /^escapement_http_watchers 0$/m,
    /^own_number 7$/m,
  ])
    expect(text).toMatch(line);
  await close(at.server, at.handler);
  await manager.stop();
});
