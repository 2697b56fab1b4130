import { describe, expect, test } from 'vitest';
import {
  accepted,
  acked,
  acquired,
  atGate,
  changed,
  declared,
  endedMs,
  fresh,
  GATE,
  gateCancel,
  granted,
  type Job,
  lost,
  progressed,
  reported,
  standing,
  toGate,
} from './job-scenes.ts';
import { SPAWNED_AT } from './stepper.ts';

describe('JB-5 a deadline that is due', () => {
  test('is reported to the gate, and the job goes on', () => {
    const job = atGate().until(120_000);
    expect(job.said('timeout.reported')).toEqual([]);
    job.until(120_001);
    expect(job.said('timeout.reported')).toMatchObject([
      {
        to: GATE,
        isHint: false,
        reason: 'stuck',
        leaderFence: 1,
        sinceDetectedMs: 0,
        figures: { sinceProgressMs: 120_001, elapsedMs: 120_001, locallyTimedOut: true },
      },
    ]);
    expect(standing(job)).toEqual(['running', null]);
    expect(job.context).toMatchObject({
      localReason: 'stuck',
      timeoutReportedAt: SPAWNED_AT + 120_001,
    });
    expect(job.states).toContain('gateCoordinated.reported');
    expect(job.notes('timeout.reported')).toHaveLength(1);
  });

  test('is no second verdict: reported is sticky, whatever gets further', () => {
    const job = reported();
    job.take(progressed());
    job.take(changed('w1', 'PENDING', { run: 2 }));
    job.until(400_000);
    expect(job.said('timeout.reported')).toEqual([]);
    expect(job.deadlines['overallLimit']).toBeUndefined();
    expect(job.context.localReason).toBe('stuck');
  });

  test('S11: freezes the ledger: later grants are void, and a lost worker takes nothing away', () => {
    const job = atGate();
    job.take(granted('W', 10_000));
    fresh(job).until(120_001);
    expect(job.context.timeoutReportedAt).not.toBeNull();
    job.said();
    job.take(granted('V', 30_000));
    expect(job.said('credit.answered')).toMatchObject([
      { to: 'worker-health/V@A', answer: 'void' },
    ]);
    job.take(lost('W'));
    expect(job.context).toMatchObject({ creditByWorker: { W: 10_000 }, holdUntil: 0 });
  });

  test('keeps on reporting progress, as one that has timed out locally', () => {
    const job = reported().until(140_000);
    const reports = job.said('progress.reported');
    expect(reports).toHaveLength(2);
    expect(reports).toMatchObject(reports.map(() => ({ figures: { locallyTimedOut: true } })));
  });
});

describe('JB-6 fallback', () => {
  test('is due 1 ms after the limit since the report, when the gate says nothing', () => {
    const job = reported().until(420_001);
    expect(standing(job)).toEqual(['running', null]);
    job.until(420_002);
    expect(standing(job)).toEqual(['timedOut', 'fallback']);
    expect(job.context.localReason).toBe('stuck');
    expect(job.notes('timeout.fallback')).toHaveLength(1);
  });

  test.each([
    ['an acknowledgement', acked('progress.reported')],
    ['a refusal of it', acked('timeout.reported', { accepted: false, reason: 'notTarget' })],
    ['a question', { type: 'status.requested', jobId: 'j1', datacenter: 'A' }],
    ['a decision that is not obeyed', declared({ decisionEpoch: [0, 9] })],
    ['a cancel that is not obeyed', gateCancel({ leaderFence: 2 })],
  ])('S22: is put off by %s', (_, event) => {
    const job = reported().until(400_000);
    job.take(event);
    expect(job.state).toBe('active');
    job.until(700_000);
    expect(standing(job)).toEqual(['running', null]);
    job.until(700_001);
    expect(standing(job)).toEqual(['timedOut', 'fallback']);
  });

  test('counts from the report where the last contact was before it', () => {
    const job = atGate().until(119_000);
    job.take(acked('progress.reported'));
    job.until(420_001);
    expect(standing(job)).toEqual(['running', null]);
    expect(job.until(420_002).context.reason).toBe('fallback');
  });

  test('S24: exists only once it has reported, however long the gate is away', () => {
    const job = atGate({ timeoutMs: 3_600_000 });
    for (let at = 60_000; at <= 3_000_000; at += 60_000) job.until(at).take(progressed());
    expect(standing(job)).toEqual(['running', null]);
    expect(job.said('timeout.reported')).toEqual([]);
  });

  test('S23: goes on over a takeover', () => {
    const job = reported().until(300_000);
    job.take(acquired(4));
    job.until(420_001);
    expect(standing(job)).toEqual(['running', null]);
    expect(job.until(420_002).context.reason).toBe('fallback');
  });
});

describe('JB-7 a decision of the gate', () => {
  const answers = (job: Job, event: Parameters<Job['take']>[0]) => {
    fresh(job).take(event);
    return toGate(job.said());
  };
  const unmoved = (job: Job) => {
    expect(job.context.highestDecisionEpoch).toEqual([1, 0]);
    expect(standing(job)).toEqual(['running', null]);
  };

  test('row 1: under a higher fence than ours is for another leader', () => {
    const job = atGate();
    expect(answers(job, declared({ leaderFence: 2 }))).toMatchObject([
      { type: 'ack.received', accepted: false, reason: 'notLeader', leaderFence: 1 },
    ]);
    unmoved(job);
  });

  test('row 3, S27: that was obeyed is a duplicate, also after the end', () => {
    const job = atGate();
    job.take(declared());
    for (let again = 0; again < 2; again += 1)
      expect(answers(job, declared())).toMatchObject([
        { type: 'ack.received', accepted: true, duplicate: true, decisionEpoch: [1, 1] },
      ]);
    expect(job.context.lateEvents).toEqual([]);
    expect(job.context.seq).toBe(3);
  });

  test('row 4: after the end is corrected with the real status, whatever its fence', () => {
    const job = atGate();
    job.take(changed('w1', 'COMPLETED'));
    expect(answers(job, declared({ leaderFence: 1 }))).toMatchObject([
      {
        type: 'status.corrected',
        correction: 'final',
        status: 'completed',
        rejectedDecisionEpoch: [1, 1],
      },
    ]);
    expect(job.context.highestDecisionEpoch).toEqual([1, 0]);
    expect(standing(job)).toEqual(['completed', null]);
  });

  test('row 5: under a lower fence is corrected with our own and our figures', () => {
    const job = atGate();
    job.take(acquired(4));
    expect(answers(job, declared({ leaderFence: 1 }))).toMatchObject([
      {
        type: 'status.corrected',
        correction: 'staleLeaderFence',
        status: 'running',
        leaderFence: 2,
        highestDecisionEpoch: [1, 0],
      },
    ]);
    expect(job.notes('timeout.rejected')).toMatchObject([{ rejection: 'staleLeaderFence' }]);
    unmoved(job);
    job.take(declared({ leaderFence: 2 }));
    expect(standing(job)).toEqual(['timedOut', 'global']);
  });

  test('row 6: of an epoch below the highest is stale', () => {
    const job = atGate({ decisionEpoch: [2, 0] });
    expect(answers(job, declared({ decisionEpoch: [1, 9] }))).toMatchObject([
      { correction: 'staleDecision', rejectedDecisionEpoch: [1, 9], highestDecisionEpoch: [2, 0] },
    ]);
    expect(standing(job)).toEqual(['running', null]);
  });

  test('row 6: an acknowledgement of the gate raises the highest epoch, never lowers it', () => {
    const job = atGate();
    job.take(acked('progress.reported', { gateBoot: 5 }));
    job.take(acked('progress.reported', { gateBoot: 2 }));
    expect(job.context.highestDecisionEpoch).toEqual([5, 0]);
    expect(answers(job, declared())).toMatchObject([{ correction: 'staleDecision' }]);
  });

  test('row 7: otherwise is obeyed, in tracking and in reported', () => {
    for (const job of [atGate(), reported()]) {
      expect(answers(job, declared())).toMatchObject([
        { type: 'ack.received', accepted: true, duplicate: false, highestDecisionEpoch: [1, 1] },
      ]);
      expect(answers(job, changed('w1', 'CANCELLING'))).toMatchObject([
        { type: 'final.reported', status: 'timedOut', reason: 'global', decisionEpoch: [1, 1] },
      ]);
      expect(job.context).toMatchObject({ reason: 'global', gateReason: 'datacenterTimeout' });
      expect(job.state).toBe('ending');
    }
  });

  test('S45: a cancel goes by the same rows, and ends it as cancelled', () => {
    const job = atGate();
    expect(answers(job, gateCancel({ decisionEpoch: [0, 1] }))).toMatchObject([
      { correction: 'staleDecision' },
    ]);
    expect(answers(job, gateCancel())).toMatchObject([
      { type: 'ack.received', ackOf: 'cancel.requested', accepted: true },
    ]);
    expect(answers(job, gateCancel())).toMatchObject([{ accepted: true, duplicate: true }]);
    expect(answers(job, changed('w1', 'CANCELLED'))).toMatchObject([
      { type: 'final.reported', status: 'cancelled', reason: null },
    ]);
  });

  test('tells the gate how it ended once none of its workflows can begin any more', () => {
    const job = atGate({ ids: ['w1', 'w2'] });
    answers(job, declared());
    expect(answers(job, acquired(4))).toEqual([]);
    expect(answers(job, changed('w1', 'DISPATCHED'))).toEqual([]);
    expect(answers(job, changed('w2', 'CANCELLED'))).toEqual([]);
    expect(answers(job, changed('w1', 'CANCELLING'))).toMatchObject([
      { type: 'final.reported', status: 'timedOut', leaderFence: 2 },
    ]);
    expect(job.state).toBe('ending');
  });

  test('is nothing to a job without a gate', () => {
    const job = accepted();
    job.take(declared());
    expect(job.said().filter(({ type }) => type !== 'workflow.ready')).toEqual([]);
    expect(endedMs(job)).toBeNull();
  });
});
