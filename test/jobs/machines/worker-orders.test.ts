import { describe, expect, test } from 'vitest';
import {
  ATTEMPT,
  acked,
  announced,
  cancel,
  composed,
  dispatch,
  HEALTH,
  heard,
  holding,
  over,
  serving,
  WORKFLOW,
  welcome,
} from './worker-scenes.ts';

describe('a dispatch', () => {
  test('is taken, once, and answered with the last heartbeat sent', () => {
    const worker = serving().take(composed('heartbeat'));
    worker.sent();
    worker.asked();
    worker.take(dispatch());
    expect(worker.sent()).toEqual([]);
    const named = { workerId: 'W', bootEpoch: 7, jobId: 'j1', attemptId: 'w1#1' };
    const taken = { accepted: true, reason: null, term: 3, heartbeatSeq: 1 };
    // The process says so, unless it can say at once how the attempt has ended.
    expect(worker.asked()).toEqual([
      ['runHandler', expect.objectContaining({ jobId: 'j1', attemptId: 'w1#1', payload: '1' })],
      ['answerUnlessOver', { type: 'dispatch.answered', ...named, ...taken }],
    ]);
    for (const after of [[], [over('finished')], [over('ended')]]) {
      for (const event of after) worker.take(event);
      worker.take(dispatch());
      expect(heard(worker)).toEqual([[WORKFLOW, 'dispatch.answered', true, null, 3]]);
    }
  });

  test.each([
    ['noCores', { cores: 5 }],
    ['unknownHandler', { handler: 'shell' }],
    ['refused', { datacenter: 'B' }],
    ['staleTerm', { term: 2 }],
  ])('is refused: %s', (reason, more) => {
    const worker = serving().take(dispatch(more));
    expect(heard(worker)).toEqual([[WORKFLOW, 'dispatch.answered', false, reason, 3]]);
  });

  test('finds the cores of what is over, and not of what stops', () => {
    const worker = serving()
      .take(dispatch({ cores: 4 }))
      .take(cancel());
    worker.sent();
    worker.take(dispatch({ attemptId: 'w2#1' }));
    expect(heard(worker)[0]?.[3]).toBe('noCores');
    worker.take(over('finished')).take(dispatch({ attemptId: 'w2#1', cores: 4 }));
    expect(worker.asked('runHandler')).toContainEqual([
      'runHandler',
      expect.objectContaining({ attemptId: 'w2#1' }),
    ]);
    worker.take(over('ended')).take(dispatch({ attemptId: 'w3#1' }));
    expect(heard(worker)[0]?.[3]).toBe('noCores');
  });

  test('of a later leader is taken, and after it none of an earlier one', () => {
    const worker = serving()
      .take(dispatch({ term: 5 }))
      .take(dispatch({ attemptId: 'w2#1' }));
    expect(worker.asked('answerUnlessOver')).toMatchObject([[{}, { accepted: true, term: 5 }]]);
    expect(heard(worker)).toEqual([
      ['workflow/j1/w2@A', 'dispatch.answered', false, 'staleTerm', 5],
    ]);
  });
});

describe('a cancel', () => {
  test('goes on to the attempt and is answered', () => {
    const worker = holding(1).take(cancel());
    expect(heard(worker)).toEqual([
      [ATTEMPT, 'cancelled'],
      [WORKFLOW, 'cancel.answered', true, 3],
    ]);
  });

  test('of an earlier leader is refused with the term that it does not know of', () => {
    const worker = holding(1).take(announced({ term: 9, attempts: ['j1/w1#1'] }));
    worker.sent();
    worker.take(cancel());
    expect(heard(worker)).toEqual([[WORKFLOW, 'cancel.answered', false, 9]]);
  });

  test('that overtakes its dispatch keeps it from ever running, and is confirmed once', () => {
    const worker = serving().take(cancel());
    expect(heard(worker)).toEqual([[WORKFLOW, 'cancel.answered', true, 3]]);
    expect(worker.asked()).toEqual([
      [
        'confirmStopped',
        { type: 'attempt.stopped', workerId: 'W', jobId: 'j1', attemptId: 'w1#1', killed: false },
      ],
    ]);
    worker.take(cancel()).take(dispatch());
    expect(heard(worker)).toEqual([
      [WORKFLOW, 'cancel.answered', true, 3],
      [WORKFLOW, 'dispatch.answered', false, 'refused', 3],
    ]);
    expect(worker.asked()).toEqual([]);
  });

  test('of what is over is answered and not confirmed: its report was taken', () => {
    const worker = holding(1).take(over('finished')).take(over('ended'));
    worker.asked();
    worker.take(cancel());
    expect(heard(worker)).toEqual([[WORKFLOW, 'cancel.answered', true, 3]]);
    expect(worker.asked()).toEqual([]);
  });
});

describe('orders in answers', () => {
  test.each([
    ['a heartbeat ack', acked({ stopAttempts: ['j1/w2#1', 'j9/x#1'] })],
    ['a registration', welcome({ stopAttempts: ['j1/w2#1', 'j9/x#1'] })],
  ])('stop the attempts that %s names', (_, event) => {
    expect(heard(holding(2).take(event))).toEqual([['attempt/j1/w2/1@W', 'unwanted']]);
  });

  test('of an earlier leader stop nothing', () => {
    const worker = holding(1).take(acked({ term: 8 }));
    worker.take(acked({ stopAttempts: ['j1/w1#1'] })).take(welcome({ stopAttempts: ['j1/w1#1'] }));
    expect(worker.sent()).toEqual([]);
  });
});

describe('an announcement', () => {
  const answer = (accepted: boolean, term: number) => [HEALTH, 'announce.answered', accepted, term];

  test('is obeyed after its last page: what it does not list is stopped', () => {
    const worker = holding(3).take(announced({ pages: 2, attempts: ['j1/w1#1'] }));
    expect(heard(worker)).toEqual([answer(true, 4)]);
    // The same page again is not another one.
    worker.take(announced({ pages: 2, attempts: ['j1/w1#1'] }));
    expect(heard(worker)).toEqual([answer(true, 4)]);
    worker.take(announced({ page: 2, pages: 2, attempts: ['j1/w3#1'] }));
    expect(heard(worker)).toEqual([['attempt/j1/w2/1@W', 'unwanted'], answer(true, 4)]);
  });

  test('does not speak of what its leader has dispatched since', () => {
    const worker = holding(1).take(announced({ pages: 2, attempts: ['j1/w1#1'] }));
    worker.take(dispatch({ attemptId: 'w2#1', term: 4 })).sent();
    worker.take(announced({ page: 2, pages: 2 }));
    expect(heard(worker)).toEqual([answer(true, 4)]);
    // Repeated as a whole it stops nothing either.
    worker.take(dispatch({ attemptId: 'w3#1', term: 4 })).sent();
    worker.take(announced());
    expect(heard(worker)).toEqual([answer(true, 4)]);
  });

  test('that was obeyed is over, in however many pages it is made again', () => {
    const worker = holding(2).take(announced({ attempts: ['j1/w1#1', 'j1/w2#1'] }));
    worker.sent();
    worker.take(announced({ page: 2, pages: 2 }));
    expect(heard(worker)).toEqual([answer(true, 4)]);
  });

  test('that is made again in other pages begins again', () => {
    const worker = holding(2).take(announced({ pages: 3, attempts: ['j1/w1#1'] }));
    worker.take(announced({ pages: 2, attempts: ['j1/w2#1'] })).sent();
    worker.take(announced({ page: 2, pages: 2 }));
    expect(heard(worker)).toEqual([[ATTEMPT, 'unwanted'], answer(true, 4)]);
  });

  test('of an earlier leader is refused with the term of the later one', () => {
    const worker = holding(1).take(announced({ term: 2 }));
    expect(heard(worker)).toEqual([answer(false, 3)]);
  });

  test('of a later one begins again', () => {
    const worker = holding(2).take(announced({ pages: 2 }));
    worker.take(announced({ term: 5, pages: 2, attempts: ['j1/w1#1'] })).sent();
    worker.take(announced({ term: 5, page: 2, pages: 2 }));
    expect(heard(worker)).toEqual([['attempt/j1/w2/1@W', 'unwanted'], answer(true, 5)]);
  });
});
