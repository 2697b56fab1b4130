/** Answers of a job to questions before it is accepted. */

import { describe, expect, test } from 'vitest';
import { answersOf, assembling, cancel, extend, gateCancel, standing } from './job-scenes.ts';

describe('a submission that is not complete yet', () => {
  test('is no job to those who cancel it or give it time, and they are told at once', () => {
    const job = assembling();
    job.take(cancel());
    expect(answersOf(job.said())).toEqual([{ accepted: false, reason: 'unknown' }]);
    job.take(extend(1_000));
    expect(answersOf(job.said())).toMatchObject([{ accepted: false, reason: 'unknown' }]);
    expect(job.state).toBe('assembling');
    job.take({ type: 'job.assembled' });
    expect(standing(job)).toEqual(['submitted', null]);
    expect(job.context.operatorCredits).toEqual([]);
  });

  test('holds what its gate has decided, which is said once, until it can be taken', () => {
    const job = assembling({ gateId: 'gate-1' });
    job.take(gateCancel());
    expect(job.heard()).toEqual([]);
    job.take({ type: 'job.assembled' });
    expect(standing(job)).toEqual(['cancelled', null]);
    expect(job.context.heldDecision).toBeUndefined();
  });

  test('tells its gate when what it held was meant for an earlier leader', () => {
    const job = assembling({ gateId: 'gate-1' });
    job.take(gateCancel({ leaderFence: 0 }));
    job.take({ type: 'job.assembled' });
    expect(standing(job)).toEqual(['submitted', null]);
    expect(job.heard()).toContain('status.corrected');
  });

  test('tells its gate that there is no such job when it is given up with a decision held', () => {
    const job = assembling({ gateId: 'gate-1' });
    job.take(gateCancel({ leaderFence: 0 }));
    job.until(60_000);
    expect(job.context).toMatchObject({ status: 'cancelled', isAbandoned: true });
    expect(job.context.heldDecision).toBeUndefined();
    expect(job.said('ack.received')).toMatchObject([
      { ackOf: 'cancel.requested', accepted: false, reason: 'unknown', decisionEpoch: [1, 1] },
    ]);
  });

  test('says nothing to a gate that has decided nothing when it is given up', () => {
    const job = assembling({ gateId: 'gate-1' });
    job.until(60_000);
    expect(job.heard()).toEqual(['workflow.cancel']);
  });
});
