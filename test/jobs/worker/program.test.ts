import { describe, expect, test } from 'vitest';
import { startWorker } from '../../../programs/jobs/worker.ts';
import { inProcessNetwork } from '../../../transports/in-process.ts';
import { datacenter, WORKER } from './datacenter.ts';
import { heeding, held, running } from './held-runs.ts';

test('registers, and tells every 5 s that it lives', async () => {
  const dc = await datacenter();
  await dc.rt.advance('15s');
  expect(dc.of('worker.registered')).toHaveLength(1);
  expect(dc.of('worker.registered')[0]?.event).toMatchObject({
    workerId: WORKER,
    coresTotal: 4,
    handlers: ['sleep'],
    attempts: [],
  });
  expect(dc.of('heartbeat.received').map(({ event }) => event['heartbeatSeq'])).toEqual([1, 2, 3]);
});

describe('without its manager', () => {
  test('a worker goes on for 60 s; then its runs stop and nobody hears of them', async () => {
    const notes: unknown[] = [];
    const { handlers, contexts } = held();
    const dc = await datacenter({
      handlers,
      onNote: ({ event, cause }) => notes.push([event, cause]),
    });
    await dc.dispatch('w1');
    dc.cut();
    await dc.rt.advance(60_000);
    expect(contexts[0]?.signal.aborted).toBe(false);
    await dc.rt.advance(1);
    expect(contexts[0]?.signal.aborted).toBe(true);
    await dc.rt.advance(10_001);
    dc.heal();
    await dc.rt.advance('6s');
    expect(dc.of('attempt.stopped')).toEqual([]);
    expect(dc.of('heartbeat.received').at(-1)?.event['attempts']).toEqual([]);
    expect(notes).toEqual([
      ['worker.orphaned', 'connectionClosed'],
      ['worker.orphaned', 'graceOver'],
    ]);
  });

  test('a result that nobody took in time is dropped', async () => {
    const { dc, ends } = await running();
    dc.cut();
    ends[0]?.resolve('too late');
    await dc.rt.advance('59s');
    expect(dc.hasAttempt('w1')).toBe(true);
    await dc.rt.advance('2s');
    expect(dc.hasAttempt('w1')).toBe(false);
    expect(dc.worker.runtime.counts().performers).toBe(0);
  });

  test('is not what a worker is that has lost a standby', async () => {
    const notes: unknown[] = [];
    const dc = await datacenter({ onNote: ({ event }) => notes.push(event) });
    const links: unknown[] = [];
    dc.worker.runtime.inspect((record) => record.type === 'peer' && links.push(record.change));
    for (let i = 0; i < 3; i += 1) {
      const standby = await dc.standby();
      await dc.rt.advance(200);
      await standby.runtime.stop();
      await dc.rt.advance(200);
    }
    expect(links).toEqual(['up', 'down', 'up', 'down', 'up', 'down']);
    expect(dc.of('worker.registered')).toHaveLength(1);
    expect(dc.of('heartbeat.received')).toEqual([]);
    expect(notes).toEqual([]);
  });

  test('that comes back in time nothing happens to its runs', async () => {
    const { dc, context } = await running();
    dc.cut();
    await dc.rt.advance('50s');
    dc.heal();
    await dc.rt.advance('60s');
    expect(context.signal.aborted).toBe(false);
    expect(dc.of('heartbeat.received').at(-1)?.event['attempts']).toHaveLength(1);
  });

  test('that is silent a worker registers again, with what it holds and how far that is', async () => {
    const { dc, context } = await running();
    context.progress(0.25);
    dc.answers.delete('heartbeat.received');
    await dc.rt.advance('14s');
    expect(dc.of('worker.registered')).toHaveLength(1);
    await dc.rt.advance('3s');
    expect(dc.of('worker.registered')[1]?.event['attempts']).toMatchObject([
      { jobId: 'j1', attemptId: 'w1#1', progress: 0.25, finished: false },
    ]);
  });
});

describe('stopping', () => {
  test('waits for what runs', async () => {
    const { dc, ends } = await running();
    const stopping = dc.worker.stop();
    await dc.rt.advance('20s');
    await dc.dispatch('w2');
    expect(dc.of('dispatch.answered').at(-1)?.event['reason']).toBe('stopping');
    ends[0]?.resolve('done');
    await dc.during(stopping);
    expect(dc.of('result.received').map(({ event }) => event['ok'])).toEqual([true]);
    expect(await dc.worker.ended).toEqual({ refusal: null });
  });

  test('stops what does not end within the limit, so that it runs elsewhere', async () => {
    const dc = await datacenter({ handlers: { work: heeding } });
    await dc.dispatch('w1');
    await dc.during(dc.worker.stop({ limitMs: 1_000 }));
    expect(dc.of('result.received')[0]?.event).toMatchObject({
      ok: false,
      error: { code: 'workerStopped' },
      retryable: true,
    });
  });

  test('ends also without anybody who listens', async () => {
    const { dc } = await running();
    dc.cut();
    await dc.during(dc.worker.stop({ limitMs: 1_000 }));
  });

  test('happens by a signal', async () => {
    const abort = new AbortController();
    const dc = await datacenter({ signal: abort.signal });
    abort.abort();
    expect(await dc.during(dc.worker.ended)).toEqual({ refusal: null });
  });

  test('happens when the datacenter does not take the worker', async () => {
    const { dc } = await running();
    await dc.say({
      type: 'register.answered',
      workerId: WORKER,
      bootEpoch: dc.worker.bootEpoch,
      accepted: false,
      reason: 'duplicateNode',
      term: 3,
      deadlineInMs: 0,
      stopAttempts: [],
    });
    expect(await dc.during(dc.worker.ended)).toEqual({ refusal: 'duplicateNode' });
    expect(dc.of('result.received')).toEqual([]);
  });
});

test('takes orders from its datacenter alone, and only whole ones', async () => {
  const { dc, contexts } = await running();
  const stranger = await dc.stranger();
  const order = { jobId: 'j1', attemptId: 'w9#1', datacenter: 'A', term: 3, handler: 'work' };
  const whole = { type: 'dispatch.requested', ...order, payload: '', cores: 1 };
  await stranger(`worker/${dc.worker.bootEpoch}`, whole);
  await stranger('attempt/j1/w1/1', { type: 'attempt.stop', cause: 'cancelled' });
  await dc.say({ ...whole, cores: -1 });
  await dc.say({ ...whole, more: true });
  expect(contexts).toHaveLength(1);
  expect(contexts[0]?.signal.aborted).toBe(false);
});

test.each([
  ['cores', { cores: 0 }],
  ['cores', { cores: 1_025 }],
  ['worker', { worker: 'a/b' }],
  ['datacenter', { datacenter: '' }],
  ['stopLimitMs', { stopLimitMs: -1 }],
  ['extend', { extend: 'always' as never }],
  ['handler', { handlers: { 'no such name': async () => 1 } }],
  ['Handler', { handlers: { work: 'work' as never } }],
  ['heartbeatIntervalMs', { config: { heartbeatIntervalMs: 0 } }],
])('does not start with a wrong option: %s', async (named, wrong) => {
  const transport = inProcessNetwork().join('x');
  const starting = startWorker({ worker: 'W', datacenter: 'A', cores: 1, transport, ...wrong });
  await expect(starting).rejects.toMatchObject({
    code: 'OPTION_INVALID',
    message: expect.stringContaining(named),
  });
});
