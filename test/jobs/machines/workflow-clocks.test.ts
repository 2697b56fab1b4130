import { describe, expect, test } from 'vitest';
import {
  asking,
  cancelAnswered,
  cancelling,
  dispatched,
  fresh,
  newWorkflow,
  pausing,
  running,
  type Workflow,
} from './workflow-scenes.ts';

describe('a new leader whose clock is an hour behind that of the one before', () => {
  const WENT_BACK = { type: 'clock.wentBack' };

  /** The clock goes back. */
  function ledAnew(workflow: Workflow): Workflow {
    workflow.now -= 3_600_000;
    workflow.take(WENT_BACK);
    return workflow;
  }

  test('waits for the answer to a dispatch no longer than for its own', () => {
    const workflow = ledAnew(fresh(dispatched()));
    workflow.advance(4_999);
    expect(workflow.said('dispatch.requested')).toHaveLength(2);
    expect(workflow.state).toBe('DISPATCHED');
    expect(workflow.advance(2).state).toBe('FAILED_READY_FOR_RETRY');
  });

  test('sends a cancel again at once, and takes silence for what it is', () => {
    const workflow = ledAnew(fresh(cancelling()));
    expect(workflow.said('cancel.ordered')).toHaveLength(1);
    workflow.advance(20_000);
    expect(workflow.context).toMatchObject({ unconfirmed: true });
  });

  test('waits for the stop after an answered cancel, and for the end of a pause, again', () => {
    const confirming = cancelling();
    confirming.take(cancelAnswered(confirming));
    ledAnew(confirming).advance(15_001);
    expect(confirming.state).toBe('CANCELLED');
    const paused = ledAnew(pausing()).advance(1_000);
    expect(paused.state).toBe('PENDING');
  });

  test('is nothing to a workflow that waits for others', () => {
    for (const workflow of [newWorkflow(), asking(), running()]) {
      const { state } = workflow;
      fresh(workflow).take(WENT_BACK);
      expect(workflow.said()).toEqual([]);
      expect(workflow.state).toBe(state);
    }
  });
});
