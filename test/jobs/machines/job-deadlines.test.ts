import { describe, expect, test } from 'vitest';
import {
  accepted,
  changed,
  endedMs,
  extend,
  failed,
  granted,
  type Job,
  lost,
  progressed,
  running,
  standing,
} from './job-scenes.ts';
import { SPAWNED_AT } from './stepper.ts';

/** The moment at which the job ends by itself, and how. */
function ends(job: Job, untilMs: number): unknown[] {
  job.until(untilMs);
  return [...standing(job), endedMs(job)];
}

/** A workflow that gets further every 5 s, until this many ms after its spawn. */
function progressing(job: Job, untilMs: number): Job {
  for (let at = 5_000; at <= untilMs; at += 5_000) job.until(at).take(progressed());
  return job;
}

describe('JB-1 acceptance', () => {
  test('is when all workflows are there, and is what everything counts from', () => {
    const job = accepted();
    expect(job.context).toMatchObject({
      startedAt: SPAWNED_AT,
      baseAt: SPAWNED_AT,
      lastProgressAt: SPAWNED_AT,
      leaderFence: 1,
      status: 'submitted',
    });
    expect(job.notes('job.accepted')).toHaveLength(1);
    expect(job.said()).toMatchObject([{ to: 'workflow/j1/w1@A', type: 'workflow.ready' }]);
  });
});

describe('JB-3 due times', () => {
  test('10.7.1, S1: overall is due 1 ms after its deadline, not at it', () => {
    const job = running({ timeoutMs: 60_000 }).until(60_000);
    expect(standing(job)).toEqual(['running', null]);
    expect(ends(job, 60_001)).toEqual(['timedOut', 'overall', 60_001]);
  });

  test('S1: a result in the same millisecond, taken first, ends it', () => {
    const job = running({ timeoutMs: 60_000 }).until(60_000);
    job.now += 1;
    job.take(changed('w1', 'COMPLETED'));
    expect(ends(job, 120_000)).toEqual(['completed', null, 60_001]);
  });

  test('S3: forty days are one timer', () => {
    const day = 86_400_000;
    const job = running({ timeoutMs: 40 * day, stuckThresholdMs: 5_184_000_000 }).until(25 * day);
    expect(standing(job)).toEqual(['running', null]);
    expect(job.deadlines['overallLimit']).toBe(40 * day + 1);
    expect(ends(job, 41 * day)).toEqual(['timedOut', 'overall', 40 * day + 1]);
  });

  test('10.7.4: stuck is due 1 ms after the threshold since the last progress', () => {
    const job = progressing(running({ timeoutMs: 3_600_000 }), 15_000).until(135_000);
    expect(standing(job)).toEqual(['running', null]);
    expect(ends(job, 135_001)).toEqual(['timedOut', 'stuck', 135_001]);
  });

  test('both due in one step are overall', () => {
    const job = running({ timeoutMs: 120_000, stuckThresholdMs: 120_000 });
    expect(ends(job, 300_000)).toEqual(['timedOut', 'overall', 120_001]);
    const late = running({ timeoutMs: 130_000, stuckThresholdMs: 120_000 });
    // The node slept over both deadlines.
    late.now += 200_000;
    late.until(200_000);
    expect(standing(late)).toEqual(['timedOut', 'overall']);
  });

  test('moving one deadline leaves the other alone', () => {
    const job = running({ timeoutMs: 300_000 });
    job.until(50_000).take(progressed());
    expect(job.deadlines).toEqual({ overallLimit: 300_001, stuckLimit: 170_001 });
    job.take(granted('W', 30_000));
    expect(job.deadlines).toEqual({ overallLimit: 330_001, stuckLimit: 170_001 });
  });

  describe('a message that a workflow refused', () => {
    const refused = (workflowId: string) => ({
      type: 'message.refused',
      to: `workflow/j1/${workflowId}@A`,
      event: { type: 'parent.failed' },
      code: 'ACTOR_ENDED',
    });
    const begin = () => {
      const job = running({ ids: ['w1', 'w2', 'w3'], timeoutMs: 300_000 });
      job.take(changed('w2', 'RUNNING'));
      job.take(failed('w3'));
      return job;
    };

    test('of one that is over already is no progress', () => {
      const job = begin().until(50_000);
      job.take(refused('w3'));
      expect(job.deadlines).toEqual({ overallLimit: 300_001, stuckLimit: 120_001 });
      expect(ends(job, 120_001)).toEqual(['timedOut', 'stuck', 120_001]);
    });

    test('of one that was lost is progress', () => {
      const job = begin().until(50_000);
      job.take(refused('w2'));
      expect(job.deadlines).toEqual({ overallLimit: 300_001, stuckLimit: 170_001 });
    });
  });
});

describe('JB-3 queueing', () => {
  test('S39: a job that only waits for a worker is never stuck', () => {
    const job = accepted({ timeoutMs: 3_600_000 });
    expect(job.deadlines).toEqual({ overallLimit: 3_600_001 });
    expect(ends(job, 3_600_000)).toEqual(['submitted', null, null]);
    expect(ends(job, 3_600_001)).toEqual(['timedOut', 'overall', 3_600_001]);
  });

  test('S48: with stuckWhileQueued it is', () => {
    const job = accepted({ timeoutMs: 3_600_000, rules: { stuckWhileQueued: true } });
    expect(ends(job, 600_000)).toEqual(['timedOut', 'stuck', 120_001]);
  });

  test('stuck is off while no attempt is out, and begins again with the next dispatch', () => {
    const job = running({ timeoutMs: 3_600_000 });
    expect(job.deadlines['stuckLimit']).toBe(120_001);
    job.until(100_000).take(changed('w1', 'PENDING', { run: 2 }));
    expect(job.deadlines['stuckLimit']).toBeUndefined();
    job.until(900_000).take(changed('w1', 'DISPATCHED', { run: 2 }));
    expect(job.deadlines['stuckLimit']).toBe(1_020_001);
    expect(ends(job, 2_000_000)).toEqual(['timedOut', 'stuck', 1_020_001]);
  });

  test('stuck stays on while one of several attempts is out', () => {
    const job = running({ timeoutMs: 3_600_000, ids: ['w1', 'w2'] });
    job.take(changed('w2', 'DISPATCHED'));
    job.take(changed('w1', 'COMPLETED'));
    expect(job.deadlines['stuckLimit']).toBe(120_001);
  });
});

describe('JB-2 progress', () => {
  test.each([
    ['a transition of a workflow', changed('w1', 'RUNNING')],
    ['credit', granted('W', 1_000)],
    ['an extension by an operator', extend(1_000)],
    ['a report of the worker', progressed()],
  ])('is %s', (_, event) => {
    const job = running({ timeoutMs: 3_600_000 }).until(100_000);
    job.take(event);
    expect(job.context.lastProgressAt).toBe(SPAWNED_AT + 100_000);
    expect(job.deadlines['stuckLimit']).toBe(220_001);
  });

  test('that a worker made a while ago counts from then, and never takes anything back', () => {
    const job = running({ timeoutMs: 3_600_000 }).until(100_000);
    job.take(progressed(4_000));
    expect(job.deadlines['stuckLimit']).toBe(216_001);
    job.take(progressed(90_000));
    expect(job.deadlines['stuckLimit']).toBe(216_001);
  });

  test('is not the loss of a worker', () => {
    const job = running({ timeoutMs: 3_600_000 }).until(100_000);
    job.take(lost('W'));
    expect(job.context.lastProgressAt).toBe(SPAWNED_AT);
  });
});

describe('JB-4 local authority', () => {
  test('ends the job, notes the arithmetic and stops what runs', () => {
    const job = running({ timeoutMs: 60_000, ids: ['w1', 'w2'] });
    job.take(granted('W', 15_000));
    job.said();
    job.until(75_001);
    const notes = job.notes();
    expect(notes.find(({ event }) => event === 'timeout.detected')).toMatchObject({
      reason: 'overall',
      elapsedMs: 75_001,
      timeoutMs: 60_000,
      extensionsMs: 15_000,
      sinceProgressMs: 75_001,
      overdueMs: 1,
    });
    expect(notes.filter(({ event }) => event === 'job.ended')).toHaveLength(1);
    expect(job.said().map(({ to, type }) => [to, type])).toEqual([
      ['workflow/j1/w1@A', 'workflow.cancel'],
      ['workflow/j1/w2@A', 'workflow.cancel'],
      ['worker-health/W@A', 'credit.closed'],
    ]);
  });
});

describe('timeouts that only watch', () => {
  test('are recorded and end nothing', () => {
    const job = running({ timeoutMs: 60_000, enforce: false }).until(600_000);
    expect(standing(job)).toEqual(['running', null]);
    expect(job.context.shadows).toEqual([{ reason: 'overall', at: SPAWNED_AT + 60_001 }]);
    expect(job.notes('timeout.shadowed')).toHaveLength(1);
    job.take(changed('w1', 'COMPLETED'));
    expect(standing(job)).toEqual(['completed', null]);
  });

  test('report nothing to a gate either, and stay so after a takeover', () => {
    const job = running({ gateId: 'gate-1', timeoutMs: 60_000, enforce: false }).until(60_001);
    expect(job.said('timeout.reported')).toEqual([]);
    job.take({ type: 'leadership.acquired', fence: 4 });
    job.take({ type: 'leadership.acquired', fence: 5 });
    job.until(600_000);
    expect(job.context.shadows).toHaveLength(1);
    expect(standing(job)).toEqual(['running', null]);
  });
});
