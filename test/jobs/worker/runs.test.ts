import { describe, expect, test } from 'vitest';
import { Run } from '../../../programs/jobs/worker/run.ts';
import { SILENT_LOGGER } from '../../../runtime/base/limits.ts';
import { SimulatedClock } from '../../../simulator/world/clock.ts';
import { datacenter, WORKER } from './datacenter.ts';
import { heeding, held, running } from './held-runs.ts';

describe('a run', () => {
  test('is told what to do, and its result is told once', async () => {
    const { dc, context, ends } = await running();
    expect(context).toMatchObject({ jobId: 'j1', workflowId: 'w1', run: 1, payload: '' });
    expect(dc.of('dispatch.answered')[0]?.event).toMatchObject({ accepted: true });
    ends[0]?.resolve({ sum: 3 });
    await dc.rt.advance('1s');
    expect(dc.of('result.received').map(({ to, event }) => [to, event])).toEqual([
      [
        'workflow/j1/w1@A',
        {
          type: 'result.received',
          workerId: WORKER,
          jobId: 'j1',
          attemptId: 'w1#1',
          ok: true,
          result: '{"sum":3}',
          truncated: false,
          error: null,
          retryable: true,
        },
      ],
    ]);
    expect(dc.hasAttempt('w1')).toBe(false);
    // The cores are free again, and a late dispatch of the same attempt is no second run.
    await dc.dispatch('w1');
    await dc.dispatch('w2', { cores: 4 });
    await dc.rt.advance(10);
    expect(dc.of('dispatch.answered').map(({ event }) => event['accepted'])).toEqual([
      true,
      true,
      true,
    ]);
    expect(dc.of('result.received')).toHaveLength(1);
  });

  test('that is over at once is answered by its result alone, and a long one in a moment', async () => {
    const dc = await datacenter({ handlers: { work: () => Promise.resolve(1) } });
    await dc.dispatch('w1');
    await dc.rt.advance('1s');
    expect(dc.of('result.received')).toHaveLength(1);
    expect(dc.of('dispatch.answered')).toEqual([]);
    const { dc: other } = await running();
    expect(other.of('dispatch.answered').map(({ event }) => event['accepted'])).toEqual([true]);
  });

  test('that has ended is reported no more once the datacenter does not want it', async () => {
    const { dc, ends } = await running();
    dc.cut();
    ends[0]?.resolve('unwanted');
    await dc.rt.advance('1s');
    expect(dc.hasAttempt('w1')).toBe(true);
    const { bootEpoch, runtime } = dc.worker;
    const acked = { type: 'heartbeat.acked', workerId: WORKER, term: 3, heartbeatSeq: 1 } as const;
    await runtime
      .actor(`worker/${bootEpoch}`)
      .send({ ...acked, registerAgain: false, stopAttempts: ['j1/w1#1'] });
    await dc.rt.advance(100);
    expect(dc.hasAttempt('w1')).toBe(false);
    // What was handed over before may still arrive; nobody sees to it any more.
    expect(runtime.counts().performers).toBe(0);
  });

  test('does not begin again with a late copy of its dispatch, however many ended since', async () => {
    const runs: string[] = [];
    const dc = await datacenter({
      handlers: {
        work: ({ workflowId }) => {
          runs.push(workflowId);
          return Promise.resolve(1);
        },
      },
    });
    const names = Array.from({ length: 300 }, (_, index) => `w${index + 1}`);
    for (const name of names) await dc.dispatch(name);
    await dc.rt.advance('3s');
    expect(runs).toEqual(names);
    for (const name of ['w1', 'w2']) await dc.dispatch(name);
    await dc.rt.advance('3s');
    expect(runs).toEqual(names);
    expect(dc.held()).toEqual({});
    expect(dc.of('result.received')).toHaveLength(300);
  });

  test.each([
    ['an error', new TypeError('no such thing'), 'TypeError', true],
    ['one with a code', Object.assign(new Error('no'), { code: 'E_NO' }), 'E_NO', true],
    ['one for good', Object.assign(new Error('no'), { retryable: false }), 'Error', false],
    ['a text', 'no', 'Error', true],
  ])('fails with what it throws: %s', async (_, thrown, code, retryable) => {
    const { dc, ends } = await running();
    ends[0]?.reject(thrown);
    await dc.rt.advance('1s');
    expect(dc.of('result.received')[0]?.event).toMatchObject({
      ok: false,
      result: null,
      error: { code },
      retryable,
    });
  });

  test('has left its cores to the next dispatch, though nobody has said yet that its result was taken', async () => {
    const { dc, ends } = await running(4);
    ends[0]?.resolve('done');
    await dc.dispatch('w5');
    expect(dc.of('dispatch.answered')).toHaveLength(4);
    expect(ends).toHaveLength(5);
  });

  test('fails also when it throws before it waits for anything', async () => {
    const dc = await datacenter({
      handlers: {
        work: () => {
          throw new Error('at once');
        },
      },
    });
    await dc.dispatch('w1');
    expect(dc.of('result.received')[0]?.event['error']).toMatchObject({ detail: 'at once' });
  });

  test('is told again until the datacenter has its result', async () => {
    const { dc, ends } = await running();
    dc.cut();
    ends[0]?.resolve('late');
    await dc.rt.advance('20s');
    expect(dc.of('result.received')).toEqual([]);
    // Nothing but the report is left of it: the cores are free.
    expect(dc.held()).toEqual({ 'j1/w1#1': { cores: 0, term: 3, isFinished: true } });
    dc.heal();
    await dc.rt.advance('6s');
    expect(dc.of('result.received')).toHaveLength(1);
    const beats = dc.of('heartbeat.received').map(({ event }) => event['attempts']);
    expect(beats.at(-1)).toEqual([]);
  });

  test('ends also when nobody takes its result', async () => {
    const { dc, ends } = await running();
    await dc.say({
      type: 'dispatch.requested',
      jobId: 'j2',
      attemptId: 'gone#1',
      datacenter: 'A',
      term: 3,
      handler: 'work',
      payload: '',
      cores: 1,
    });
    ends[1]?.resolve('for nobody');
    await dc.rt.advance('2s');
    expect(Object.keys(dc.held())).toEqual(['j1/w1#1']);
  });
});

describe('progress', () => {
  const told = (dc: Awaited<ReturnType<typeof datacenter>>) =>
    dc.of('progress.received').map(({ atMs, event }) => [atMs, event['progress']]);

  test('is sent at once, at most once a second, and the last word is not lost', async () => {
    const { dc, context } = await running();
    const from = dc.rt.now();
    const begin = dc.of('dispatch.answered')[0]?.atMs as number;
    for (let step = 1; step <= 25; step += 1) {
      context.progress(step / 100);
      await dc.rt.advance(100);
    }
    await dc.rt.advance('5s');
    expect(dc.rt.now() - from).toBe(7_500);
    expect(told(dc).map(([atMs, progress]) => [(atMs as number) - begin, progress])).toEqual([
      [0, 0.01],
      [1_000, 0.1],
      [2_000, 0.2],
      [3_000, 0.25],
    ]);
  });

  test.each([
    [Number.NaN],
    [-0.1],
    [1.01],
    [Number.POSITIVE_INFINITY],
    [{ completedItems: 0.5, totalItems: 2 }],
    [{ completedItems: -1, totalItems: 2 }],
    [{ completedItems: 3, totalItems: 2 }],
    [{}],
    ['0.5'],
  ])('that is none is refused at the handler and changes nothing: %j', async (wrong) => {
    const { dc, context } = await running();
    context.progress(0.5);
    expect(() => context.progress(wrong as number)).toThrow(
      expect.objectContaining({ code: 'PROGRESS_INVALID' }),
    );
    await dc.rt.advance('2s');
    expect(dc.of('progress.received').map(({ event }) => event['progress'])).toEqual([0.5]);
  });

  test('stops with the run', async () => {
    const { dc, context, ends } = await running();
    context.progress(0.1);
    context.progress(0.2);
    ends[0]?.resolve('done');
    await dc.rt.advance('1s');
    context.progress(0.9);
    await dc.rt.advance('5s');
    expect(dc.of('progress.received')).toHaveLength(1);
  });
});

describe('a cancel', () => {
  test('aborts the signal, and a handler that heeds it has stopped', async () => {
    const dc = await datacenter({ handlers: { work: heeding } });
    await dc.dispatch('w1');
    await dc.cancel('w1');
    expect(dc.of('cancel.answered')[0]?.event).toMatchObject({ accepted: true });
    expect(dc.of('attempt.stopped').map(({ event }) => event['killed'])).toEqual([false]);
    expect(dc.of('result.received')).toEqual([]);
  });

  test('gives up a handler that does not, and nothing it says later counts', async () => {
    const { dc, context, ends } = await running();
    await dc.cancel('w1');
    expect(context.signal.aborted).toBe(true);
    await dc.rt.advance(10_000);
    expect(dc.of('attempt.stopped')).toEqual([]);
    await dc.rt.advance(1);
    expect(dc.of('attempt.stopped').map(({ event }) => event['killed'])).toEqual([true]);
    ends[0]?.resolve('after all');
    context.progress(0.7);
    await dc.rt.advance('10s');
    expect(dc.of('result.received')).toEqual([]);
    expect(dc.of('progress.received')).toEqual([]);
    expect(dc.of('heartbeat.received').at(-1)?.event).toMatchObject({ coresFree: 4, attempts: [] });
  });

  test('of what never came is confirmed', async () => {
    const dc = await datacenter();
    await dc.rt.spawn('workflow/j1/w1');
    await dc.cancel('w1');
    expect(dc.of('attempt.stopped').map(({ to }) => to)).toEqual(['workflow/j1/w1@A']);
  });

  test('that comes before the handler has begun lets it not begin', async () => {
    const { handlers, contexts } = held();
    const services = { clock: new SimulatedClock(), logger: SILENT_LOGGER, link: {}, extend: {} };
    const params = { jobId: 'j1', attemptId: 'w1#1', datacenter: 'A', workerId: WORKER };
    const run = new Run(params as never, services as never);
    const ended = new Promise((resolve) => run.begin(handlers.work, resolve));
    run.abort('The run is to stop.');
    expect(await ended).toMatchObject({ ok: false, error: { code: 'ABORTED' } });
    expect(contexts).toEqual([]);
  });
});
