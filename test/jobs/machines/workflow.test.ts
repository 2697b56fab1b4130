import { describe, expect, test } from 'vitest';
import {
  answered,
  asking,
  attemptLost,
  CANCEL,
  cancelling,
  dispatched,
  failure,
  fresh,
  granted,
  JOB,
  moves,
  newWorkflow,
  PARENT_FAILED,
  POOL,
  pausing,
  progress,
  READY,
  rejected,
  result,
  running,
  stopped,
  told,
  WORKER,
  type Workflow,
  workerLost,
} from './workflow-scenes.ts';

const RETRY = [
  'FAILED→FAILED_CANCELING_DEPENDENTS',
  'FAILED_CANCELING_DEPENDENTS→FAILED_READY_FOR_RETRY',
];
const REQUEUE = 'FAILED_READY_FOR_RETRY→PENDING';

/** Every edge of the table in section 5: where it is, what it takes, which moves follow. */
const EDGES: ReadonlyArray<
  readonly [from: string, name: string, () => Workflow, (workflow: Workflow) => object, string[]]
> = [
  ['PENDING', 'a slot', asking, granted, ['PENDING→DISPATCHED']],
  [
    'PENDING',
    'a cancel',
    newWorkflow,
    () => CANCEL,
    ['PENDING→CANCELLING', 'CANCELLING→CANCELLED'],
  ],
  [
    'PENDING',
    'a cancel while it asks',
    asking,
    () => CANCEL,
    ['PENDING→CANCELLING', 'CANCELLING→CANCELLED'],
  ],
  ['PENDING', 'a failed parent', newWorkflow, () => PARENT_FAILED, ['PENDING→FAILED']],
  ['DISPATCHED', 'an acceptance', dispatched, answered, ['DISPATCHED→RUNNING']],
  ['DISPATCHED', 'a success', dispatched, result, ['DISPATCHED→RUNNING', 'RUNNING→COMPLETED']],
  [
    'DISPATCHED',
    'a failure',
    dispatched,
    failure,
    ['DISPATCHED→RUNNING', 'RUNNING→FAILED', ...RETRY, REQUEUE],
  ],
  ['DISPATCHED', 'a rejection', dispatched, rejected, ['DISPATCHED→FAILED', ...RETRY]],
  [
    'DISPATCHED',
    'the loss of its worker',
    dispatched,
    () => workerLost(),
    ['DISPATCHED→FAILED', ...RETRY, REQUEUE],
  ],
  [
    'DISPATCHED',
    'the loss of its attempt',
    dispatched,
    attemptLost,
    ['DISPATCHED→FAILED', ...RETRY, REQUEUE],
  ],
  ['DISPATCHED', 'a cancel', dispatched, () => CANCEL, ['DISPATCHED→CANCELLING']],
  ['RUNNING', 'a success', running, result, ['RUNNING→COMPLETED']],
  ['RUNNING', 'merged shards', running, () => ({ type: 'shards.merged' }), ['RUNNING→AGGREGATED']],
  ['RUNNING', 'a failure', running, failure, ['RUNNING→FAILED', ...RETRY, REQUEUE]],
  [
    'RUNNING',
    'the loss of its worker',
    running,
    () => workerLost(),
    ['RUNNING→FAILED', ...RETRY, REQUEUE],
  ],
  [
    'RUNNING',
    'the loss of its attempt',
    running,
    attemptLost,
    ['RUNNING→FAILED', ...RETRY, REQUEUE],
  ],
  ['RUNNING', 'a cancel', running, () => CANCEL, ['RUNNING→CANCELLING']],
  [
    'FAILED',
    'a cancel',
    () => running().put('FAILED', { cause: 'failed' }),
    () => CANCEL,
    ['FAILED→CANCELLED'],
  ],
  [
    'FAILED_CANCELING_DEPENDENTS',
    'a cancel',
    () => running().put('FAILED_CANCELING_DEPENDENTS'),
    () => CANCEL,
    ['FAILED_CANCELING_DEPENDENTS→CANCELLED'],
  ],
  [
    'FAILED_READY_FOR_RETRY',
    'a cancel',
    pausing,
    () => CANCEL,
    ['FAILED_READY_FOR_RETRY→CANCELLED'],
  ],
  ['CANCELLING', 'the stop', cancelling, stopped, ['CANCELLING→CANCELLED']],
  [
    'CANCELLING',
    'the loss of its worker',
    cancelling,
    () => workerLost(),
    ['CANCELLING→CANCELLED'],
  ],
  ['CANCELLING', 'the loss of its attempt', cancelling, attemptLost, ['CANCELLING→CANCELLED']],
  ['CANCELLING', 'a late result', cancelling, result, ['CANCELLING→CANCELLED']],
];

describe('every edge of the table', () => {
  test.each(EDGES)('%s takes %s', (from, _, scene, event, expected) => {
    const workflow = fresh(scene());
    expect(workflow.state).toBe(from);
    workflow.take(event(workflow) as never);
    expect(moves(workflow)).toEqual(expected);
    expect(workflow.state).toBe(
      expected
        .at(-1)
        ?.split('→')[1]
        ?.replace(/^FAILED$/, 'FAILED_FOR_GOOD'),
    );
  });

  test('a dispatch delay that is over leads from FAILED_READY_FOR_RETRY to PENDING, one run further', () => {
    const workflow = fresh(pausing()).advance(1_000);
    expect(moves(workflow)).toEqual([REQUEUE]);
    expect(workflow.context.run).toBe(2);
  });
});

describe('WF-1 attempts', () => {
  test('are ended, and got further with, by the worker that has them and by no other', () => {
    const workflow = running();
    const { context } = workflow;
    for (const event of [
      result(workflow, { workerId: 'X' }),
      failure(workflow, { workerId: 'X' }),
      progress(workflow, { workerId: 'X' }),
      stopped(workflow, { workerId: 'X' }),
    ]) {
      workflow.take(event);
      expect(workflow.state).toBe('RUNNING');
      expect(workflow.context).toMatchObject({ progress: context.progress, result: null });
    }
    workflow.take(result(workflow));
    expect(workflow.state).toBe('COMPLETED');
  });

  test('carry the number of the run in every message', () => {
    const workflow = asking();
    const requested = workflow.said('slot.requested')[0];
    expect(requested).toMatchObject({
      to: POOL,
      attemptId: 'w1#1',
      acceptedAt: 1,
      index: 0,
      cores: 2,
    });
    workflow.take(granted(workflow));
    expect(workflow.said('dispatch.requested')).toEqual([
      {
        type: 'dispatch.requested',
        to: WORKER,
        isHint: true,
        atMs: 0,
        jobId: 'j1',
        attemptId: 'w1#1',
        datacenter: 'A',
        term: 3,
        handler: 'sleep',
        payload: 'p',
        cores: 2,
      },
    ]);
  });

  test('that were given up are stopped when the worker takes them after all', () => {
    const workflow = dispatched();
    const late = answered(workflow);
    workflow.take(rejected(workflow));
    workflow.advance(1_000);
    fresh(workflow).take(late);
    expect(workflow.said()).toMatchObject([
      { type: 'cancel.ordered', to: WORKER, attemptId: 'w1#1' },
    ]);
    expect(workflow.notes('workflow.attempt.stale')).toHaveLength(1);
  });

  test('tell the health of the worker when they are placed, taken and over', () => {
    const workflow = dispatched();
    workflow.take(answered(workflow));
    workflow.take(result(workflow));
    const named = { to: 'worker-health/W@A', jobId: 'j1', attemptId: 'w1#1', registration: 1 };
    const health = workflow.said().filter(({ to }) => to === named.to);
    expect(health).toMatchObject([
      { type: 'attempt.placed', ...named },
      { type: 'attempt.running', ...named, heartbeatSeq: 4 },
      { type: 'attempt.ended', ...named },
    ]);
  });
});

describe('WF-3 dependents', () => {
  test('wait for the word of their job and ask for nothing before', () => {
    const workflow = newWorkflow().advance(86_400_000);
    expect(workflow.all).toEqual([]);
    workflow.take(READY);
    expect(workflow.heard()).toEqual(['slot.requested']);
  });

  test('fail for good with their parent, by the cause of it', () => {
    const workflow = newWorkflow();
    workflow.take(PARENT_FAILED);
    expect(told(workflow)).toMatchObject({
      to: JOB,
      state: 'FAILED',
      final: true,
      cause: 'parentFailed',
    });
    expect(workflow.isOver).toBe(true);
  });
});

describe('progress of an attempt', () => {
  const rises = (workflow: Workflow, more: object): boolean => {
    workflow.said();
    workflow.take(progress(workflow, more));
    return workflow.said('workflow.progressed').length === 1;
  };

  test('is what is strictly above the last that was known, 0 at dispatch', () => {
    const workflow = dispatched();
    expect(rises(workflow, { progress: 0 })).toBe(false);
    expect(rises(workflow, { progress: 0.2 })).toBe(true);
    expect(rises(workflow, { progress: 0.2 })).toBe(false);
    expect(rises(workflow, { progress: 0.1 })).toBe(false);
    workflow.take(answered(workflow));
    expect(rises(workflow, { progress: 0.3 })).toBe(true);
  });

  test('counts by items where the worker counts them', () => {
    const workflow = running();
    expect(rises(workflow, { progress: 0, completedItems: 3 })).toBe(true);
    expect(rises(workflow, { progress: 0.9, completedItems: 3 })).toBe(false);
    expect(rises(workflow, { progress: 0.1, completedItems: 4 })).toBe(true);
    expect(rises(workflow, { progress: 0.95 })).toBe(true);
  });

  test('is as old as the worker says, and never takes anything back', () => {
    const workflow = running().advance(60_000);
    const before = workflow.now;
    workflow.take(progress(workflow, { progress: 0.1, sinceProgressMs: 4_000 }));
    expect(workflow.context.lastProgressAt).toBe(before - 4_000);
    workflow.take(progress(workflow, { progress: 0.2, sinceProgressMs: 90_000 }));
    expect(workflow.context.lastProgressAt).toBe(before - 4_000);
  });

  test('begins from 0 with the next run', () => {
    const workflow = running();
    workflow.take(progress(workflow, { progress: 0.9, completedItems: 9 }));
    workflow.take(failure(workflow));
    workflow.take(granted(workflow));
    expect(rises(workflow, { progress: 0.1, completedItems: 1 })).toBe(true);
  });

  test('comes from heartbeats as well', () => {
    const workflow = running();
    const heartbeat = {
      type: 'attempt.progressed',
      attemptId: 'w1#1',
      progress: 0.4,
      sinceProgressMs: 0,
    };
    workflow.take(heartbeat);
    expect(workflow.context.progress).toBe(0.4);
  });
});
