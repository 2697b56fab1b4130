import { describe, expect, test } from 'vitest';
import { workerMachine } from '../../../machines/jobs/worker.ts';
import {
  ATTEMPT,
  acked,
  announced,
  dispatch,
  heard,
  holding,
  input,
  over,
  POOL,
  region,
  serving,
  WORKFLOW,
  welcome,
} from './worker-scenes.ts';
import { WorkerStepper } from './worker-stepper.ts';

describe('a manager that is not heard', () => {
  test('is gone after 15 s without an ack, and not within them', () => {
    const worker = holding(1).advance(10_000).take(acked()).advance(15_000);
    expect(region(worker, 'manager')).toBe('heard');
    worker.asked();
    worker.advance(1);
    expect(region(worker, 'manager')).toEqual({ gone: 'waiting' });
    expect(region(worker, 'membership')).toEqual({ joining: 'pausing' });
    expect(worker.asked()).toEqual([
      [
        'note',
        {
          event: 'worker.orphaned',
          at: 25_001,
          datacenter: 'A',
          workerId: 'W',
          cause: 'noAnswer',
          attempts: 1,
        },
      ],
      ['composeHeartbeat', { from: '', to: null }],
    ]);
    worker.advance(1_000);
    expect(worker.asked('composeRegistration')).toHaveLength(1);
  });

  test('leaves the attempts alone for 60 s; then all are stopped without a word', () => {
    const worker = holding(2).advance(100).take({ type: 'manager.unreachable' }).advance(60_000);
    expect(worker.sent('attempt.stop')).toEqual([]);
    worker.advance(1);
    expect(heard(worker)).toEqual([
      [ATTEMPT, 'unwanted'],
      ['attempt/j1/w2/1@W', 'unwanted'],
    ]);
    expect(region(worker, 'manager')).toEqual({ gone: 'givenUp' });
    // It goes on asking to be taken again, and is.
    worker.advance(20_000);
    expect(worker.asked('composeRegistration').length).toBeGreaterThan(3);
    worker.take(welcome({ term: 4 }));
    expect(region(worker, 'manager')).toBe('heard');
    expect(region(worker, 'membership')).toBe('member');
  });

  test.each([
    ['an ack', acked()],
    ['an answer', welcome()],
    ['an announcement', announced({ attempts: ['j1/w1#1'] })],
    ['a dispatch', dispatch({ attemptId: 'w5#1' })],
  ])('is there again with %s, and the grace is over', (_, event) => {
    const worker = holding(1).take({ type: 'manager.unreachable' }).advance(59_000).take(event);
    expect(region(worker, 'manager')).toBe('heard');
    worker.sent();
    worker
      .advance(14_000)
      .take(acked({ term: 9 }))
      .advance(14_000);
    expect(worker.sent('attempt.stop')).toEqual([]);
  });

  test.each([
    ['an ack', acked({ term: 2 })],
    ['an announcement', announced({ term: 2 })],
    ['a dispatch', dispatch({ term: 2 })],
  ])('is not there for %s of an earlier leader', (_, event) => {
    const worker = holding(1).take({ type: 'manager.unreachable' }).take(event);
    expect(region(worker, 'manager')).toEqual({ gone: 'waiting' });
  });

  test('that announces itself knows the worker, which need not register', () => {
    const worker = serving().take({ type: 'manager.unreachable' }).take(announced());
    expect(region(worker, 'membership')).toBe('member');
  });

  test('may say that it does not know the worker any more', () => {
    const worker = serving().take(acked({ registerAgain: true }));
    expect(region(worker, 'membership')).toEqual({ joining: 'calling' });
    expect(worker.asked('composeRegistration')).toHaveLength(1);
    // Heartbeats under way are answered alike; nothing begins again for them.
    worker.advance(500).take(acked({ registerAgain: true }));
    expect(worker.asked('composeRegistration')).toHaveLength(0);
    expect(region(worker, 'manager')).toBe('heard');
  });
});

describe('a worker that stops', () => {
  const stop = { type: 'worker.stop', limitMs: 30_000 };

  test('ends at once when it holds nothing', () => {
    const worker = serving().take(stop);
    expect(worker.snapshot).toMatchObject({ status: 'done', output: { refusal: null } });
  });

  test('says that it takes nothing more, again to anybody who asks it all the same', () => {
    const worker = holding(1).take(stop);
    const event = { handlers: [], attempts: [{ attemptId: 'w1#1' }] };
    const leaving = { to: POOL, isHint: true, event };
    expect(worker.sent('worker.registered')).toMatchObject([leaving]);
    worker.take(dispatch({ attemptId: 'w2#1' }));
    expect(worker.sent('worker.registered')).toMatchObject([leaving]);
  });

  test('says nothing to a datacenter that has not taken it, or not any more', () => {
    const unknown = new WorkerStepper(workerMachine, input).take(stop);
    expect(unknown.sent('worker.registered')).toEqual([]);
    const refused = holding(1).take(welcome({ accepted: false, reason: 'duplicateNode' }));
    refused.take(dispatch({ attemptId: 'w2#1' }));
    expect(refused.sent('worker.registered')).toEqual([]);
  });

  test('takes nothing new, waits for what runs, and ends with it', () => {
    const worker = holding(1)
      .take(stop)
      .take(dispatch({ attemptId: 'w2#1' }))
      .take(dispatch());
    expect(heard(worker).filter(([, type]) => type === 'dispatch.answered')).toEqual([
      ['workflow/j1/w2@A', 'dispatch.answered', false, 'stopping', 3],
      [WORKFLOW, 'dispatch.answered', true, null, 3],
    ]);
    worker.advance(30_000).take(over('finished'));
    expect(worker.snapshot.status).toBe('active');
    worker.take(over('ended'));
    expect(worker.snapshot.status).toBe('done');
  });

  test('stops what still runs after the limit, and ends whatever becomes of it', () => {
    const worker = holding(1).take(stop).advance(30_000);
    expect(worker.sent('attempt.stop')).toEqual([]);
    worker.advance(1);
    expect(heard(worker)).toEqual([[ATTEMPT, 'leaving']]);
    worker.advance(15_000);
    expect(worker.snapshot.status).toBe('active');
    worker.advance(1);
    expect(worker.snapshot.status).toBe('done');
  });

  test('goes on telling that it lives', () => {
    const worker = holding(1).take(stop).advance(5_000);
    expect(worker.asked('composeHeartbeat')).toHaveLength(1);
  });
});
