import { describe, expect, test } from 'vitest';
import { workerMachine } from '../../../machines/jobs/worker.ts';
import {
  ATTEMPT,
  acked,
  announced,
  composed,
  dispatch,
  HEALTH,
  heard,
  holding,
  input,
  over,
  POOL,
  region,
  serving,
  welcome,
} from './worker-scenes.ts';
import { WorkerStepper } from './worker-stepper.ts';

describe('joining', () => {
  test('calls at once, and again after 1, 2, 4, 5, 5 s until it is answered', () => {
    const worker = new WorkerStepper(workerMachine, input);
    const calledAt: number[] = [];
    for (let ms = 0; ms <= 20_000; ms += 500) {
      if (worker.asked('composeRegistration').length > 0) calledAt.push(worker.now);
      worker.advance(500);
    }
    expect(calledAt).toEqual([0, 1_000, 3_000, 7_000, 12_000, 17_000]);
    worker.take(welcome()).advance(4_999);
    expect(worker.asked('composeRegistration')).toEqual([]);
    expect(region(worker, 'membership')).toBe('member');
  });

  test('says who it is and what it holds', () => {
    const worker = new WorkerStepper(workerMachine, input).take(composed('registration'));
    expect(worker.sent()).toEqual([
      {
        to: POOL,
        isHint: true,
        event: {
          type: 'worker.registered',
          workerId: 'W',
          bootEpoch: 7,
          coresTotal: 4,
          handlers: ['sleep'],
          attempts: [],
          page: 1,
          pages: 1,
        },
      },
    ]);
  });

  test('calls at once when a manager is reachable', () => {
    const worker = new WorkerStepper(workerMachine, input).advance(7_500);
    worker.asked();
    worker.take({ type: 'manager.reachable' });
    expect(worker.asked()).toEqual([['composeRegistration', undefined]]);
    expect(worker.dueIn('registerPause')).toBe(1_000);
  });

  test.each([
    ['for another life of the worker', { bootEpoch: 6 }],
    ['a refusal for another life', { bootEpoch: 8, accepted: false, reason: 'duplicateNode' }],
  ])('goes on after an answer %s', (_, more) => {
    const worker = new WorkerStepper(workerMachine, input).take(welcome(more));
    expect(region(worker, 'membership')).toEqual({ joining: 'calling' });
    expect(region(worker, 'manager')).toBe('unheard');
  });

  test('tells the process how long the datacenter waits for it', () => {
    const worker = new WorkerStepper(workerMachine, input);
    worker.asked();
    worker.take(welcome());
    expect(worker.asked()).toEqual([
      ['learnDeadline', expect.objectContaining({ deadlineInMs: 30_000 })],
    ]);
  });

  test('ends, without its attempts, when the datacenter does not take it', () => {
    const worker = holding(1);
    worker.take(welcome({ accepted: false, reason: 'duplicateNode' }));
    expect(heard(worker)).toEqual([[ATTEMPT, 'unwanted']]);
    worker.take(dispatch({ attemptId: 'w9#1' }));
    expect(heard(worker)[0]?.slice(1, 4)).toEqual(['dispatch.answered', false, 'stopping']);
    worker.take(over('ended'));
    expect(worker.snapshot).toMatchObject({ status: 'done', output: { refusal: 'duplicateNode' } });
  });

  test('does not end because an old leader says so', () => {
    const worker = serving().take(welcome({ accepted: false, reason: 'duplicateNode', term: 2 }));
    expect(worker.snapshot.status).toBe('active');
  });
});

describe('heartbeats', () => {
  test('go every 5 s once it is known, with a number that rises and what is free', () => {
    const worker = serving();
    const beats: unknown[] = [];
    for (let beat = 1; beat <= 3; beat += 1) {
      worker.advance(5_000).take(acked());
      expect(worker.asked('composeHeartbeat')).toHaveLength(1);
      worker.take(composed('heartbeat'));
      beats.push(
        ...worker
          .sent()
          .map(({ event }) => [worker.now, event['heartbeatSeq'], event['coresFree']]),
      );
      worker.take(dispatch({ attemptId: `w${beat}#1` })).sent();
    }
    expect(beats).toEqual([
      [5_000, 1, 4],
      [10_000, 2, 3],
      [15_000, 3, 2],
    ]);
  });

  test('do not go before it is known', () => {
    const worker = new WorkerStepper(workerMachine, input).advance(60_000);
    expect(worker.asked('composeHeartbeat')).toEqual([]);
  });

  test('go when the answer was lost with its leader, and the next one announces itself', () => {
    const worker = new WorkerStepper(workerMachine, input).take(announced()).advance(5_000);
    expect(worker.asked('composeHeartbeat')).toHaveLength(1);
    expect(region(worker, 'membership')).toBe('member');
    // And that one is missed as any other would be.
    worker.advance(10_001);
    expect(region(worker, 'manager')).toEqual({ gone: 'waiting' });
  });

  test('list every attempt held when they leave, those that are over until their report is taken', () => {
    const worker = serving().advance(5_000);
    // Dispatched while the process was composing: it must be listed all the same.
    worker
      .take(dispatch())
      .take(dispatch({ attemptId: 'w2#1' }))
      .take(over('finished'));
    worker.sent();
    const figures = { progress: 0.5, completedItems: 2, totalItems: 4, sinceProgressMs: 10 };
    worker.take(composed('heartbeat', { 'j1/w1#1': figures, 'j9/gone#1': figures }));
    const [beat] = worker.sent();
    expect(beat).toMatchObject({ to: HEALTH, isHint: true, event: { term: 3, coresFree: 3 } });
    expect(beat?.event['attempts']).toEqual([
      { jobId: 'j1', attemptId: 'w1#1', ...figures, finished: true },
      { jobId: 'j1', attemptId: 'w2#1', progress: 0, sinceProgressMs: 0, finished: false },
    ]);
    worker.take(over('ended')).take(composed('heartbeat'));
    expect(worker.sent()[0]?.event['attempts']).toHaveLength(1);
  });

  test('list a hundred of many at a time, one range after the other, and at once who got further', () => {
    const worker = holding(250, { coresTotal: 256 });
    const listed: string[][] = [];
    const known: string[] = [];
    for (let beat = 1; beat <= 4; beat += 1) {
      worker.advance(5_000).take(acked());
      const [[, range] = []] = worker.asked('composeHeartbeat');
      const figures = { progress: beat / 10, sinceProgressMs: 1 };
      const [of] = worker.take(composed('heartbeat', { 'j1/w1#1': figures }, range)).sent();
      expect(of?.event['range']).toEqual(range);
      const attempts = of?.event['attempts'] as Array<{ attemptId: string; progress: number }>;
      listed.push(attempts.map(({ attemptId }) => attemptId));
      for (const { attemptId, progress } of attempts)
        if (progress > 0) known.push(`${attemptId} ${progress}`);
    }
    expect(listed.map(({ length }) => length)).toEqual([100, 101, 51, 100]);
    expect(new Set(listed.slice(0, 3).flat()).size).toBe(250);
    expect(listed[3]).toEqual(listed[0]);
    expect(known).toEqual(['w1#1 0.1', 'w1#1 0.2', 'w1#1 0.3', 'w1#1 0.4']);
  });

  test('go in pages of 500 under one number', () => {
    const worker = holding(1_001, { coresTotal: 1_024 }).take(composed('heartbeat'));
    const beats = worker.sent().map(({ event }) => event);
    expect(beats.map(({ page, pages, heartbeatSeq }) => [page, pages, heartbeatSeq])).toEqual([
      [1, 3, 1],
      [2, 3, 1],
      [3, 3, 1],
    ]);
    expect(beats.map(({ attempts }) => (attempts as unknown[]).length)).toEqual([500, 500, 1]);
  });
});
