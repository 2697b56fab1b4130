import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  acked,
  acquired,
  atGate,
  changed,
  declared,
  endedMs,
  fresh,
  granted,
  lost,
  progressed,
  reported,
  running,
  standing,
  toGate,
  toldWorkflows,
} from './job-scenes.ts';
import { SPAWNED_AT } from './stepper.ts';

describe('JB-9 losing leadership', () => {
  test('goes on at the same deadlines when it is gained again', () => {
    const job = running({ timeoutMs: 60_000 });
    job.until(50_000).take(acquired(4));
    expect(job.deadlines).toMatchObject({ overallLimit: 60_001 });
    expect(job.until(60_001).state).toBe('ending');
  });
});

describe('JB-9 gaining leadership', () => {
  test('10.7.5: raises the fence and keeps the deadline; the start never changes', () => {
    const job = running({ timeoutMs: 300_000, stuckThresholdMs: 600_000 }).until(118_000);
    job.take(acquired(4));
    expect(job.context).toMatchObject({
      leaderFence: 2,
      term: 4,
      managerId: 'A.manager-2',
      startedAt: SPAWNED_AT,
      baseAt: SPAWNED_AT,
    });
    expect(job.notes('leader.acquired')).toHaveLength(1);
    job.until(300_001);
    expect([standing(job), endedMs(job)]).toEqual([['timedOut', 'overall'], 300_001]);
  });

  test('10.7.5: an overall deadline that has passed meanwhile fires at the takeover', () => {
    const job = running({ timeoutMs: 300_000, stuckThresholdMs: 600_000 });
    job.now = SPAWNED_AT + 310_000;
    job.take(acquired(4));
    job.until(310_000);
    expect([standing(job), endedMs(job)]).toEqual([['timedOut', 'overall'], 310_000]);
  });

  test('S29: stuck waits for two reports, or for its own threshold where that is less', () => {
    const job = running({ timeoutMs: 3_600_000 });
    job.now = SPAWNED_AT + 240_000;
    job.take(acquired(4));
    expect(job.deadlines['graceLimit']).toBe(260_001);
    expect(job.states).toContain('tracking.stuckLimit.grace');
    const quick = running({ timeoutMs: 3_600_000, stuckThresholdMs: 12_000 });
    quick.now = SPAWNED_AT + 240_000;
    quick.take(acquired(4));
    expect(quick.deadlines['graceLimit']).toBe(252_001);
  });

  test('S28: progress that was made meanwhile counts from when it was made', () => {
    const job = running({ timeoutMs: 3_600_000 });
    job.now = SPAWNED_AT + 240_000;
    job.take(acquired(4));
    job.until(241_000).take(progressed(4_000));
    job.until(357_000);
    expect(standing(job)).toEqual(['running', null]);
    job.until(357_001);
    expect(standing(job)).toEqual(['timedOut', 'stuck']);
  });

  test('is told to the gate with the new fence, then how it stands, then what was reported', () => {
    const job = reported();
    fresh(job).take(acquired(4));
    expect(toGate(job.said())).toMatchObject([
      { type: 'leader.transferred', leaderFence: 2, term: 4, managerId: 'A.manager-2' },
      { type: 'progress.reported', leaderFence: 2 },
      { type: 'timeout.reported', leaderFence: 2, reason: 'stuck', sinceDetectedMs: 0 },
    ]);
    expect(job.states).toContain('gateCoordinated.reported');
  });

  test('by a clock that is behind is told to the workflows that may wait for an answer', () => {
    const job = fresh(running({ ids: ['w1', 'w2', 'w3'], timeoutMs: 60_000 })).until(20_000);
    job.take(changed('w2', 'DISPATCHED'));
    fresh(job).take(acquired(4));
    // By the same clock their limits stand.
    expect(toldWorkflows(job, 'clock.wentBack')).toEqual([]);
    job.now -= 10_000;
    fresh(job).take(acquired(5));
    // The third one asks for a worker, or will again after a pause.
    expect(toldWorkflows(job, 'clock.wentBack')).toEqual(['w2', 'w3']);
  });

  test('of a job that has ended as well, also by a clock that was ahead only meanwhile', () => {
    const job = fresh(running({ ids: ['w1', 'w2', 'w3'], timeoutMs: 60_000 }));
    job.take(changed('w2', 'DISPATCHED'));
    job.until(60_001);
    job.now += 3_600_000;
    fresh(job).take(acquired(4));
    expect(toldWorkflows(job, 'clock.wentBack')).toEqual([]);
    job.now -= 3_600_000;
    fresh(job).take(acquired(5));
    expect(toldWorkflows(job, 'clock.wentBack')).toEqual(['w2', 'w3']);
  });

  test('twice for the same term changes nothing', () => {
    const job = atGate();
    job.take(acquired(4));
    const before = JSON.stringify(job.context);
    fresh(job).until(5_000).take(acquired(4));
    expect(JSON.stringify(job.context)).toBe(before);
    expect(job.said()).toEqual([]);
    expect(job.deadlines).toMatchObject({ overallLimit: 600_001 });
  });

  test('of a job that is ending says again how it ended, until the gate knows', () => {
    const job = atGate({ ids: ['w1', 'w2'] });
    job.take(declared());
    for (const id of ['w1', 'w2']) job.take(changed(id, 'CANCELLING'));
    fresh(job).take(acquired(4));
    expect(toGate(job.said())).toMatchObject([{ type: 'final.reported', leaderFence: 2 }]);
    job.take(acked('final.reported'));
    job.take(acquired(5));
    expect(toGate(job.said())).toEqual([]);
    expect(job.context.leaderFence).toBe(3);
  });
});

describe('a takeover by a clock that is behind or ahead', () => {
  test('by one that is behind lets no time pass twice', () => {
    const job = running({ timeoutMs: 300_000 }).until(100_000);
    job.take(progressed());
    job.now = SPAWNED_AT + 70_000;
    job.take(acquired(4));
    // A hundred seconds had passed on the old clock; 200 are left on the new one.
    expect(job.deadlines['overallLimit']).toBe(270_001);
    expect(job.deadlines['stuckLimit']).toBe(190_001);
    expect(job.context.startedAt).toBe(SPAWNED_AT);
  });

  test('by one that is ahead fires earlier by no more than it is ahead', () => {
    const job = running({ timeoutMs: 300_000 }).until(100_000);
    job.take(progressed());
    job.now = SPAWNED_AT + 130_000;
    job.take(acquired(4));
    expect(job.deadlines['overallLimit']).toBe(300_001);
    expect(job.deadlines['stuckLimit']).toBe(220_001);
  });

  test('moves the hold, the fallback and the last contact alike', () => {
    const job = atGate({ timeoutMs: 100_000, stuckThresholdMs: 90_000 });
    job.take(granted('W', 1_000));
    job.until(80_000).take(lost('W'));
    job.now = SPAWNED_AT + 60_000;
    job.take(acquired(4));
    expect(job.context.holdUntil).toBe(SPAWNED_AT + 90_000);
    const waiting = reported();
    waiting.now = SPAWNED_AT + 90_001;
    waiting.take(acquired(4));
    expect(waiting.deadlines['fallbackLimit']).toBe(390_002);
  });

  test('elapsed time never decreases, no matter who leads', () => {
    const skew = fc.integer({ min: -50_000, max: 50_000 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(skew, fc.nat(20_000)), { maxLength: 20, size: 'max' }),
        (leaders) => {
          const job = running({ timeoutMs: 5_184_000_000, stuckThresholdMs: 5_184_000_000 });
          let term = 3;
          for (const [skewMs, pauseMs] of leaders) {
            job.advance(pauseMs).take(progressed());
            const elapsed = job.now - job.context.baseAt;
            const age = job.now - job.context.lastProgressAt;
            job.now = Math.max(SPAWNED_AT, job.now + skewMs);
            term += 1;
            job.take(acquired(term));
            expect(job.now - job.context.baseAt).toBeGreaterThanOrEqual(elapsed);
            expect(job.now - job.context.lastProgressAt).toBeGreaterThanOrEqual(age);
            expect(job.context.startedAt).toBe(SPAWNED_AT);
            expect(job.context.leaderFence).toBe(term - 2);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('LD-7 a gate that knows of a later leader', () => {
  const stale = acked('progress.reported', {
    accepted: false,
    reason: 'staleFence',
    leaderFence: 6,
  });

  test('is told of one above it', () => {
    const job = atGate();
    job.take(stale);
    expect(toGate(job.said())).toMatchObject([{ type: 'leader.transferred', leaderFence: 7 }]);
    expect(job.notes('leader.fenceRaised')).toMatchObject([{ told: 6, leaderFence: 7 }]);
    job.take(stale);
    expect(job.said()).toEqual([]);
  });

  test('is told the end again under that one', () => {
    const job = atGate();
    job.take(changed('w1', 'COMPLETED'));
    fresh(job).take({ ...stale, ackOf: 'final.reported' });
    expect(toGate(job.said()).map(({ type }) => type)).toEqual([
      'leader.transferred',
      'final.reported',
    ]);
    expect(job.state).toBe('ending');
    job.take(acked('final.reported', { leaderFence: 7 }));
    expect(job.state).toBe('completed');
  });
});
