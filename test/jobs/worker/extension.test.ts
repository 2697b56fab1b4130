import { describe, expect, test } from 'vitest';
import type { ExtensionAnswer } from '../../../machines/jobs/messages/worker.ts';
import { type ExtensionView, whenNeeded } from '../../../programs/jobs/worker/extension.ts';
import type { HandlerContext } from '../../../programs/jobs/worker.ts';
import { datacenter, WORKER } from './datacenter.ts';
import { held, running } from './held-runs.ts';

describe('a handler that asks', () => {
  test('is answered by the datacenter', async () => {
    const { dc, context } = await running();
    context.progress({ completedItems: 1, totalItems: 2 });
    const answer = await dc.during(context.extend({ estimatedRemainingMs: 4_999.6 }));
    expect(answer).toMatchObject({ granted: true, extensionMs: 30_000 });
    expect(dc.of('extension.requested').map(({ to, event }) => [to, event])).toEqual([
      [
        `worker-health/${WORKER}@A`,
        {
          type: 'extension.requested',
          requestId: expect.any(String),
          workerId: WORKER,
          operationId: 'j1/w1#1',
          requestSeq: 1,
          reason: 'long_workflow',
          currentProgress: 0.5,
          completedItems: 1,
          totalItems: 2,
          estimatedRemainingMs: 5_000,
          activeWorkflowCount: 1,
          replyTo: expect.any(String),
        },
      ],
    ]);
  });

  test('with a progress of its own is not judged by items', async () => {
    const { dc, context } = await running();
    context.progress({ completedItems: 1, totalItems: 2 });
    await dc.during(context.extend({ progress: 0.75, reason: 'gc_pause' }));
    const [{ event } = { event: {} }] = dc.of('extension.requested');
    expect(event).toMatchObject({ currentProgress: 0.75, reason: 'gc_pause' });
    expect(event).not.toHaveProperty('completedItems');
  });

  test('asks again under the same id until it is answered', async () => {
    const { dc, context } = await running();
    dc.answers.delete('extension.requested');
    const asking = context.extend();
    await dc.rt.advance('13s');
    const requests = dc.of('extension.requested');
    const [first] = requests;
    expect(requests.map(({ atMs }) => Math.round((atMs - (first?.atMs ?? 0)) / 1_000))).toEqual([
      0, 1, 3, 7, 12,
    ]);
    expect(new Set(requests.map(({ event }) => event['requestId'])).size).toBe(1);
    dc.answers.add('extension.requested');
    expect(await dc.during(asking)).toMatchObject({ granted: true });
  });

  test('is told by nobody that has its question, and asks on: counted, and said once', async () => {
    const lines: Array<Record<string, unknown>> = [];
    const note = (fields: object): void => void lines.push(fields as Record<string, unknown>);
    const logger = { debug() {}, info() {}, warn: note, error: note };
    const { handlers, contexts } = held();
    const dc = await datacenter({ handlers, logger });
    await dc.dispatch('w1');
    dc.answers.delete('extension.requested');
    const asking = (contexts[0] as HandlerContext).extend();
    await dc.rt.advance('30s');
    const { counters } = dc.worker;
    // After 1, 2, 4 and then every 5 seconds, although it hears at once.
    const tries = dc.of('extension.requested').length;
    expect(tries).toBe(8);
    const code = 'ASK_UNANSWERED';
    expect(counters.value('extension_requests_unanswered_total', { code })).toBe(tries);
    expect(lines.filter(({ event }) => event === 'extension.unanswered')).toMatchObject([
      { jobId: 'j1', attemptId: expect.any(String), tries: 4, code },
    ]);
    dc.answers.add('extension.requested');
    expect(await dc.during(asking)).toMatchObject({ granted: true });
    await dc.rt.advance('30s');
    expect(counters.total('extension_requests_unanswered_total')).toBe(tries);
  });

  test('hears that it is over when its run stops', async () => {
    const { dc, context } = await running();
    dc.answers.delete('extension.requested');
    const asking = context.extend().catch(({ code }) => code);
    await dc.rt.advance('2s');
    await dc.cancel('w1');
    expect(await dc.during(asking)).toBe('ABORTED');
    await expect(context.extend()).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

test('a run may ask for many at once, and wait with all of them, without a warning', async () => {
  const warnings: Error[] = [];
  const warn = (warning: Error): void => void warnings.push(warning);
  process.on('warning', warn);
  const { dc, context } = await running();
  await dc.forgetWorker();
  const asking = Array.from({ length: 30 }, () => context.extend().catch(({ code }) => code));
  await dc.rt.advance('5s');
  await dc.cancel('w1');
  expect(new Set(await dc.during(Promise.all(asking)))).toEqual(new Set(['ABORTED']));
  // Node says it between turns of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', warn);
  expect(warnings).toEqual([]);
});

describe('a worker that asks when needed', () => {
  test('asks before the deadline it was told, and again only after progress', async () => {
    const { handlers, contexts } = held();
    const dc = await datacenter({ handlers, extend: 'whenNeeded' });
    await dc.dispatch('w1');
    const [context] = contexts as [HandlerContext];
    const asked = () => dc.of('extension.requested').map(({ atMs }) => Math.round(atMs / 1_000));
    await dc.rt.advance('24s');
    expect(asked()).toEqual([]);
    await dc.rt.advance('3s');
    expect(asked()).toEqual([26]);
    // The answer was a deadline in 60 s, and nothing has risen since.
    await dc.rt.advance('80s');
    expect(asked()).toEqual([26]);
    context.progress(0.5);
    await dc.rt.advance('2s');
    expect(asked()).toHaveLength(2);
    expect(dc.of('extension.requested').at(-1)?.event['currentProgress']).toBe(0.5);
  });

  test('does not ask by default', async () => {
    const { dc } = await running();
    await dc.rt.advance('120s');
    expect(dc.of('extension.requested')).toEqual([]);
  });

  test('goes by a function of its user, one request at a time', async () => {
    const views: ExtensionView[] = [];
    const { handlers } = held();
    const dc = await datacenter({
      handlers,
      extend: (view) => {
        views.push(view);
        return view.runningMs >= 3_000 ? { reason: 'resource_contention' } : undefined;
      },
    });
    dc.answers.delete('extension.requested');
    await dc.dispatch('w1');
    await dc.rt.advance('10s');
    expect(views.every(({ lastAnswer }) => lastAnswer === null)).toBe(true);
    expect(views.at(-1)?.runningMs).toBeLessThan(4_100);
    const ids = dc.of('extension.requested').map(({ event }) => event['requestId']);
    expect(new Set(ids).size).toBe(1);
  });

  test('outlives a function that throws', async () => {
    const { handlers } = held();
    let calls = 0;
    const dc = await datacenter({
      handlers,
      extend: () => {
        calls += 1;
        throw new Error('no');
      },
    });
    await dc.dispatch('w1');
    await dc.rt.advance('5s');
    expect(calls).toBeGreaterThan(3);
  });
});

describe('whenNeeded', () => {
  const answer: ExtensionAnswer = {
    requestId: 'r',
    granted: true,
    extensionMs: 30_000,
    deadlineInMs: 60_000,
    remainingExtensions: 4,
    denialReason: null,
    exhaustionWarning: false,
  };
  const view: ExtensionView = {
    jobId: 'j1',
    attemptId: 'w1#1',
    runningMs: 25_000,
    progress: 0.5,
    completedItems: null,
    deadlineInMs: 5_000,
    lastAnswer: null,
    askedWith: null,
  };
  const later = { ...view, lastAnswer: answer, askedWith: { progress: 0.4, completedItems: null } };
  const denied = (denialReason: ExtensionAnswer['denialReason']) => ({
    ...later,
    lastAnswer: { ...answer, granted: false, denialReason },
  });

  test.each<[boolean, string, ExtensionView]>([
    [true, 'shortly before the deadline', view],
    [false, 'earlier', { ...view, deadlineInMs: 5_001 }],
    [true, 'after progress', later],
    [false, 'without progress since', { ...later, progress: 0.4 }],
    [
      false,
      'without items since',
      { ...later, completedItems: 3, askedWith: { progress: 0.4, completedItems: 3 } },
    ],
    [false, 'with none left', { ...later, lastAnswer: { ...answer, remainingExtensions: 0 } }],
    [false, 'after maxReached', denied('maxReached')],
    [false, 'after unknownOperation', denied('unknownOperation')],
    [false, 'after malformed', denied('malformed')],
    [true, 'after noProgress, once there is some', denied('noProgress')],
    [true, 'after suspect', denied('suspect')],
  ])('%s: %s', (isWished, _, seen) => {
    expect(whenNeeded(seen) !== undefined).toBe(isWished);
  });
});
