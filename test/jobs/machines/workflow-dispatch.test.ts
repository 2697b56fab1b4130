import { describe, expect, test } from 'vitest';
import {
  answered,
  asking,
  attemptLost,
  CANCEL,
  cancelAnswered,
  cancelling,
  dispatched,
  failure,
  fresh,
  granted,
  moves,
  newWorkflow,
  pausing,
  READY,
  rejected,
  result,
  running,
  stopped,
  told,
  type Workflow,
  workerLost,
} from './workflow-scenes.ts';

/** Grants each request at once and answers each dispatch as told; the times of first dispatches, in s. */
function dispatchTimes(workflow: Workflow, answer: (workflow: Workflow) => object, untilS: number) {
  const times: number[] = [];
  workflow.take(READY);
  for (let s = 0; s <= untilS; s += 1) {
    workflow.until(s * 1_000);
    if (workflow.said('slot.requested').length === 0) continue;
    workflow.take(granted(workflow));
    times.push(s);
    workflow.take(answer(workflow) as never);
  }
  return times;
}

describe('WF-6 dispatch', () => {
  test('S38: a worker that rejects all is asked at 0, 1, 3, 7 and 15 s, and the fifth is final', () => {
    const workflow = newWorkflow();
    expect(dispatchTimes(workflow, rejected, 60)).toEqual([0, 1, 3, 7, 15]);
    expect(told(workflow)).toMatchObject({ state: 'FAILED', final: true, cause: 'dispatch' });
    expect(workflow.deadlines).toEqual({});
  });

  test('doubles its pause up to the longest', () => {
    const workflow = newWorkflow({ maxDispatchAttempts: 9, dispatchBackoffMaxMs: 8_000 });
    expect(dispatchTimes(workflow, rejected, 60)).toEqual([0, 1, 3, 7, 15, 23, 31, 39, 47]);
  });

  test('is sent again after 1 and 3 s, and given up after 5 s without an answer', () => {
    const workflow = dispatched().until(4_999);
    expect(workflow.said('dispatch.requested').map(({ atMs }) => atMs)).toEqual([0, 1_000, 3_000]);
    expect(workflow.state).toBe('DISPATCHED');
    workflow.until(5_001);
    expect(workflow.state).toBe('FAILED_READY_FOR_RETRY');
    expect(workflow.context).toMatchObject({ dispatchFailures: 1, failures: 0, cause: 'dispatch' });
  });

  test('is not sent again once it is answered', () => {
    const workflow = fresh(running()).until(60_000);
    expect(workflow.said('dispatch.requested')).toEqual([]);
  });

  test('is sent again at once under the term that the worker knows', () => {
    const workflow = fresh(dispatched());
    const stale = answered(workflow, { accepted: false, reason: 'staleTerm', term: 9 });
    workflow.take(stale);
    expect(workflow.said('dispatch.requested')).toMatchObject([{ term: 9 }]);
    expect(workflow.state).toBe('DISPATCHED');
    workflow.take(stale);
    expect(workflow.state).toBe('FAILED_READY_FOR_RETRY');
  });

  test('failures in a row begin again once it runs', () => {
    const workflow = pausing().advance(1_000);
    workflow.take(granted(workflow));
    workflow.take(answered(workflow));
    expect(workflow.context.dispatchFailures).toBe(0);
    workflow.take(failure(workflow));
    expect(workflow.state).toBe('PENDING');
  });

  test('uses no attempt while it only waits for a worker, or asks once more', () => {
    const workflow = asking().advance(3_600_000);
    expect(workflow.states).toBe('PENDING.queued');
    workflow.advance(3_600_000);
    fresh(workflow).take({ type: 'slot.renew' });
    expect(workflow.said()).toMatchObject([{ type: 'slot.requested', attemptId: 'w1#1' }]);
    expect(workflow.context).toMatchObject({ dispatched: 0, dispatchFailures: 0, run: 1 });
  });
});

describe('WF-2 retries', () => {
  const LOSSES = { failure, attemptLost, workerLost: () => workerLost() };

  test.each(Object.entries(LOSSES))('four runs end by %s, then it is final', (_, lose) => {
    const workflow = asking();
    for (let run = 1; run <= 4; run += 1) {
      expect(workflow.context.run).toBe(run);
      workflow.take(granted(workflow));
      workflow.take(answered(workflow));
      workflow.take(lose(workflow) as never);
    }
    expect(told(workflow)).toMatchObject({ state: 'FAILED', final: true });
    expect(workflow.context.dispatched).toBe(4);
  });

  test('counts failures and losses alike, and dispatches that came to nothing in a row apart', () => {
    const workflow = asking();
    for (const lose of [failure, attemptLost, rejected, () => workerLost(), rejected]) {
      workflow.take(granted(workflow));
      if (lose !== rejected) workflow.take(answered(workflow));
      workflow.take(lose(workflow) as never);
      workflow.advance(2_000);
    }
    expect(workflow.context).toMatchObject({ failures: 3, dispatchFailures: 1 });
    expect(workflow.state).toBe('PENDING');
  });

  test('ends at once when the failure is not to be retried', () => {
    const workflow = running();
    workflow.take(failure(workflow, { retryable: false }));
    expect(moves(workflow).at(-1)).toBe('RUNNING→FAILED');
    expect(told(workflow)).toMatchObject({ state: 'FAILED', final: true, cause: 'failed' });
  });

  test('none are made where none are allowed', () => {
    const workflow = running({ maxRetries: 0 });
    workflow.take(failure(workflow));
    expect(workflow.isOver).toBe(true);
  });

  test('use the same payload, and avoid the workers that failed it', () => {
    const workflow = running();
    fresh(workflow).take(failure(workflow));
    expect(workflow.said('slot.requested')).toMatchObject([{ avoidWorkers: ['W'], avoid: [] }]);
    workflow.take(granted(workflow, { workerId: 'V', registration: 2 }));
    expect(workflow.said('dispatch.requested')).toMatchObject([
      { payload: 'p', attemptId: 'w1#2' },
    ]);
  });

  test('WF-5: name the registration that was lost as one to avoid', () => {
    const workflow = fresh(running());
    workflow.take(workerLost());
    expect(workflow.said('slot.requested')).toMatchObject([{ avoid: [1], avoidWorkers: [] }]);
  });
});

describe('WF-4 cancelling', () => {
  const cancelTimes = (workflow: Workflow): number[] =>
    workflow.all.filter(({ type }) => type === 'cancel.ordered').map(({ atMs }) => atMs);

  test('is sent three times, 5 + 1 and 5 + 2 s apart, and is unconfirmed at 18 s', () => {
    const workflow = running();
    workflow.take(CANCEL);
    workflow.until(17_999);
    expect(cancelTimes(workflow)).toEqual([0, 6_000, 13_000]);
    expect(workflow.state).toBe('CANCELLING');
    workflow.until(18_001);
    expect(workflow.state).toBe('CANCELLED');
    expect(workflow.context.unconfirmed).toBe(true);
  });

  test('takes 33 s at the longest: the last answer at the last moment, and no stop', () => {
    const workflow = running();
    workflow.take(CANCEL);
    workflow.until(17_999).take(cancelAnswered(workflow));
    workflow.until(32_998);
    expect(workflow.state).toBe('CANCELLING');
    workflow.until(33_000);
    expect(workflow.context.unconfirmed).toBe(true);
    expect(cancelTimes(workflow)).toHaveLength(3);
  });

  test('waits for the stop from the first answer on, whatever is answered again', () => {
    const workflow = running();
    workflow.take(CANCEL);
    workflow.until(1_000).take(cancelAnswered(workflow));
    workflow.until(10_000).take(cancelAnswered(workflow));
    workflow.until(15_999);
    expect(workflow.state).toBe('CANCELLING');
    workflow.until(16_001);
    expect(workflow.context.unconfirmed).toBe(true);
    expect(cancelTimes(workflow)).toEqual([0]);
  });

  test('takes an answer in a pause between two sends', () => {
    const workflow = running();
    workflow.take(CANCEL);
    workflow.until(5_500).take(cancelAnswered(workflow));
    workflow.until(20_000);
    expect(cancelTimes(workflow)).toEqual([0]);
  });

  test('S36: is over with the stop, however it was brought about', () => {
    const workflow = running();
    workflow.take(CANCEL);
    workflow.take(cancelAnswered(workflow));
    workflow.until(10_000).take(stopped(workflow, { killed: true }));
    expect(told(workflow)).toMatchObject({ state: 'CANCELLED', final: true });
    expect(workflow.context.unconfirmed).toBe(false);
  });

  test('tells a worker that took the dispatch after all', () => {
    const workflow = dispatched();
    workflow.take(CANCEL);
    workflow.take(answered(workflow));
    expect(cancelTimes(workflow)).toEqual([0, 0]);
    workflow.take(rejected(workflow));
    expect(cancelTimes(workflow)).toEqual([0, 0]);
  });

  test('is said again under the term that the worker knows', () => {
    const workflow = running();
    fresh(workflow).take(CANCEL);
    workflow.take(cancelAnswered(workflow, { accepted: false, term: 9 }));
    expect(workflow.said('cancel.ordered').map(({ term }) => term)).toEqual([3, 9]);
  });

  test('S35: takes back the pause after a dispatch that came to nothing', () => {
    const workflow = pausing();
    workflow.take(CANCEL);
    expect(workflow.state).toBe('CANCELLED');
    expect(workflow.deadlines).toEqual({});
  });

  test('withdraws the request of one that waits for a slot', () => {
    const workflow = fresh(asking());
    workflow.take(CANCEL);
    expect(workflow.heard()).toEqual(['slot.withdrawn', 'workflow.changed']);
  });

  test('an end is an end: no deadline waits and no message is taken', () => {
    for (const end of [result, stopped, attemptLost]) {
      const workflow = running();
      if (end !== result) workflow.take(CANCEL);
      workflow.take(end(workflow) as never);
      expect(workflow.deadlines).toEqual({});
      expect(workflow.take(result(workflow))).toBe(false);
    }
  });
});

describe('results', () => {
  test('are kept as they came', () => {
    const workflow = running();
    workflow.take(result(workflow, { result: 'long', truncated: true }));
    expect(workflow.context).toMatchObject({ result: 'long', truncated: true, error: null });
    expect(told(workflow)).toMatchObject({ state: 'COMPLETED', final: true, lateEvent: null });
  });

  test('S33: one before the acceptance counts, and the later acceptance finds nobody', () => {
    const workflow = dispatched();
    const late = answered(workflow);
    workflow.take(result(workflow));
    expect(workflow.state).toBe('COMPLETED');
    expect(workflow.take(late)).toBe(false);
  });

  test('that come while it is cancelled are told as late', () => {
    const workflow = cancelling();
    workflow.take(result(workflow));
    expect(told(workflow)).toMatchObject({ state: 'CANCELLED', lateEvent: 'result.received' });
  });
});
