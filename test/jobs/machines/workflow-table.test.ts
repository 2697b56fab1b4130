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
  newWorkflow,
  PARENT_FAILED,
  pausing,
  progress,
  READY,
  rejected,
  result,
  running,
  stopped,
  type Workflow,
  workerLost,
} from './workflow-scenes.ts';

const finished = (): Workflow => {
  const workflow = running();
  workflow.take(result(workflow));
  return workflow;
};

const merged = (): Workflow => {
  const workflow = running();
  workflow.take({ type: 'shards.merged' });
  return workflow;
};

const cancelled = (): Workflow => {
  const workflow = newWorkflow();
  workflow.take(CANCEL);
  return workflow;
};

/** The ten states; the two that are left at once are put there. */
const SCENES = {
  PENDING: asking,
  DISPATCHED: dispatched,
  RUNNING: running,
  COMPLETED: finished,
  AGGREGATED: merged,
  FAILED: () => running().put('FAILED', { cause: 'failed', slot: null }),
  FAILED_CANCELING_DEPENDENTS: () => running().put('FAILED_CANCELING_DEPENDENTS', { slot: null }),
  FAILED_READY_FOR_RETRY: pausing,
  CANCELLING: cancelling,
  CANCELLED: cancelled,
} as const;

const FINAL = new Set(['COMPLETED', 'AGGREGATED', 'CANCELLED']);

/** Every event that leads anywhere, about the attempt that counts, and the states it is legal in. */
const EVENTS: Readonly<
  Record<string, { readonly of: (workflow: Workflow) => object; readonly legal: readonly string[] }>
> = {
  'workflow.cancel': {
    of: () => CANCEL,
    legal: [
      'PENDING',
      'DISPATCHED',
      'RUNNING',
      'FAILED',
      'FAILED_CANCELING_DEPENDENTS',
      'FAILED_READY_FOR_RETRY',
      'CANCELLING',
    ],
  },
  'parent.failed': { of: () => PARENT_FAILED, legal: ['PENDING'] },
  'workflow.ready': { of: () => READY, legal: [] },
  'shards.merged': { of: () => ({ type: 'shards.merged' }), legal: ['RUNNING'] },
  acceptance: { of: answered, legal: ['DISPATCHED', 'CANCELLING', 'RUNNING'] },
  rejection: { of: rejected, legal: ['DISPATCHED', 'CANCELLING', 'RUNNING'] },
  success: { of: result, legal: ['DISPATCHED', 'RUNNING', 'CANCELLING'] },
  failure: { of: failure, legal: ['DISPATCHED', 'RUNNING', 'CANCELLING'] },
  progress: { of: progress, legal: ['DISPATCHED', 'RUNNING', 'CANCELLING'] },
  'attempt.lost': { of: attemptLost, legal: ['DISPATCHED', 'RUNNING', 'CANCELLING'] },
  'attempt.stopped': { of: stopped, legal: ['CANCELLING'] },
  'cancel.answered': { of: cancelAnswered, legal: ['CANCELLING'] },
};

const isEnd = (name: string): boolean => FINAL.has(name);

/** The two that events leave at once may move on with any event; nothing else may happen. */
const isPassing = (name: string): boolean =>
  name === 'FAILED' || name === 'FAILED_CANCELING_DEPENDENTS';

describe('what the table does not have', () => {
  const cells = Object.keys(SCENES).flatMap((state) =>
    Object.entries(EVENTS)
      .filter(([, { legal }]) => !legal.includes(state))
      .map(([name, { of }]) => [state, name, of] as const),
  );

  test.each(cells)('%s refuses %s', (state, _, of) => {
    const workflow = fresh(SCENES[state as keyof typeof SCENES]());
    const { value } = workflow.snapshot;
    const before = JSON.stringify(workflow.context);
    const isTaken = workflow.take(of(workflow) as never);
    if (isEnd(state)) {
      expect(isTaken).toBe(false);
      return;
    }
    const refusals = workflow
      .notes()
      .filter(({ event }) => event === 'workflow.transition.refused');
    expect(refusals).toHaveLength(1);
    if (isPassing(state)) return;
    expect(workflow.snapshot.value).toEqual(value);
    expect(JSON.stringify(workflow.context)).toBe(before);
    expect(workflow.said()).toEqual([]);
  });
});

describe('WF-1 messages of another attempt', () => {
  const OTHERS = Object.entries(EVENTS).filter(([, { of }]) => 'attemptId' in of(running()));
  const STATES = Object.keys(SCENES).filter((state) => !isEnd(state) && !isPassing(state));
  const cells = STATES.flatMap((state) =>
    OTHERS.map(([name, { of }]) => [state, name, of] as const),
  );

  test.each(cells)('%s ignores and counts a foreign %s', (state, _, of) => {
    const workflow = fresh(SCENES[state as keyof typeof SCENES]());
    const { value } = workflow.snapshot;
    const before = JSON.stringify(workflow.context);
    workflow.take({ ...of(workflow), attemptId: 'w1#99' } as never);
    expect(workflow.notes().map(({ event }) => event)).toEqual(['workflow.attempt.stale']);
    expect(workflow.snapshot.value).toEqual(value);
    expect(JSON.stringify(workflow.context)).toBe(before);
    expect(workflow.heard().filter((type) => type !== 'cancel.ordered')).toEqual([]);
  });
});

describe('what is repeated', () => {
  test.each(Object.keys(SCENES).filter((state) => !isEnd(state) && !isPassing(state)))(
    '%s takes the loss of another registration for nothing',
    (state) => {
      const workflow = fresh(SCENES[state as keyof typeof SCENES]());
      const { value } = workflow.snapshot;
      workflow.take(workerLost(2));
      expect(workflow.snapshot.value).toEqual(value);
      expect(workflow.said()).toEqual([]);
      expect(workflow.notes()).toEqual([]);
    },
  );

  test('an acceptance that comes again is no transition and no warning', () => {
    const workflow = fresh(running());
    workflow.take(answered(workflow));
    expect(workflow.state).toBe('RUNNING');
    expect(workflow.notes()).toEqual([]);
  });

  test('a cancel that comes again while it is stopping changes nothing', () => {
    const workflow = fresh(cancelling());
    workflow.take({ ...CANCEL, cause: 'timedOut' });
    expect(workflow.context.cancelCause).toBe('cancelled');
    expect(workflow.said()).toEqual([]);
  });
});
