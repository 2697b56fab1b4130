import { describe, expect, test } from 'vitest';
import { gateJobRebuilt, progressReported } from '../../../machines/jobs/messages/gate.ts';
import {
  accepted,
  acked,
  acquired,
  atGate,
  changed,
  extend,
  fresh,
  GATE,
  granted,
  type Job,
  lost,
  progressed,
  running,
  toGate,
} from './job-scenes.ts';

/** When it has reported progress since the last look, in ms. */
const reportTimes = (job: Job): number[] => job.said('progress.reported').map(({ atMs }) => atMs);

const refusal = (type: string, code = 'ACTOR_UNKNOWN') => ({
  type: 'message.refused',
  to: GATE,
  event: { type, mark: 1 },
  code,
});

describe('JB-11 progress reports', () => {
  test('come at acceptance and then every interval', () => {
    const job = accepted({ gateId: 'gate-1' }).until(35_000);
    expect(reportTimes(job)).toEqual([0, 10_000, 20_000, 30_000]);
  });

  test('are none for a job without a gate', () => {
    const job = accepted().until(35_000);
    expect(reportTimes(job)).toEqual([]);
  });

  test('say how it stands, in the fields of the message', () => {
    const job = atGate({ ids: ['w1', 'w2'] }).until(9_999);
    job.take(granted('W', 5_000));
    fresh(job).until(10_000);
    const [{ to: _, isHint: __, atMs: ___, ...report } = { to: '' }] =
      job.said('progress.reported');
    expect(progressReported.safeParse(report).error).toBeUndefined();
    expect(report).toMatchObject({
      leaderFence: 1,
      managerId: 'A.manager-1',
      workflowsTotal: 2,
      hasRecentProgress: true,
      figures: {
        elapsedMs: 10_000,
        timeoutMs: 600_000,
        sinceProgressMs: 1,
        queued: false,
        extensionsMs: 5_000,
        maxWorkerExtensionMs: 5_000,
        workersWithExtensions: 1,
        locallyTimedOut: false,
        targetDatacenters: ['A', 'B'],
        gateId: 'gate-1',
      },
    });
  });

  test('say that it is queued while nothing runs and something waits for a worker', () => {
    const job = accepted({ gateId: 'gate-1' });
    expect(job.said('progress.reported')).toMatchObject([{ figures: { queued: true } }]);
    job.take(changed('w1', 'DISPATCHED'));
    job.until(10_000);
    expect(job.said('progress.reported')).toMatchObject([{ figures: { queued: false } }]);
  });

  test('come extra at every change of credit, kept until they arrive, and shift nothing', () => {
    const job = atGate();
    job.until(3_000).take(granted('W', 5_000));
    job.until(4_000).take(extend(5_000));
    job.until(5_000).take(lost('W'));
    const extra = job.said('progress.reported');
    expect(extra.map(({ atMs, isHint }) => [atMs, isHint])).toEqual([
      [3_000, false],
      [4_000, false],
      [5_000, false],
    ]);
    expect(extra.at(-1)).toMatchObject({ figures: { extensionsMs: 5_000, holdMs: 30_000 } });
    job.until(20_000);
    expect(reportTimes(job)).toEqual([10_000, 20_000]);
  });

  test('do not come extra for credit that is capped away', () => {
    const job = atGate({ rules: { extensionJobCapMs: 0 } });
    job.take(granted('W', 5_000));
    expect(reportTimes(job)).toEqual([]);
  });

  test('come extra on a takeover', () => {
    const job = atGate();
    job.until(3_000).take(acquired(4));
    expect(reportTimes(job)).toEqual([3_000]);
  });

  test('come extra when the threshold of the gate is passed, once until it gets further', () => {
    const job = atGate({ stuckThresholdMs: 3_600_000, timeoutMs: 3_600_000 }).until(179_999);
    job.take(acquired(4));
    fresh(job).until(185_000);
    expect(reportTimes(job)).toEqual([180_000, 180_001]);
    job.take(acquired(5));
    job.take(lost('nobody'));
    expect(reportTimes(job)).toEqual([185_000]);
    job.until(200_005).take(progressed());
    fresh(job).until(380_010);
    expect(reportTimes(job).filter((at) => at % 10_000 !== 0)).toEqual([380_006]);
  });

  test('may all be lost, whatever the gate acknowledges, and nothing waits behind them', () => {
    const job = accepted({ gateId: 'gate-1' }).until(30_000);
    job.take(acked('progress.reported', { reportSeq: 1 }));
    job.until(70_000);
    expect(job.said('progress.reported').map(({ isHint }) => isHint)).toEqual(Array(8).fill(true));
  });

  test('of credit that the gate has not taken hold up no end: that is told without guarantee as well', () => {
    const ended = (...acks: readonly number[]) => {
      const job = atGate();
      job.until(3_000).take(granted('W', 5_000));
      const [{ reportSeq = 0 } = {}] = job.said('progress.reported') as { reportSeq?: number }[];
      for (const after of acks)
        job.take(acked('progress.reported', { reportSeq: reportSeq + after }));
      fresh(job).take(changed('w1', 'COMPLETED'));
      return job.heard().filter((type) => /^(final|status)/.test(type));
    };
    expect(ended()).toEqual(['final.reported', 'status.corrected']);
    expect(ended(-1)).toEqual(['final.reported', 'status.corrected']);
    expect(ended(0)).toEqual(['final.reported']);
    expect(ended(1)).toEqual(['final.reported']);
  });

  test('name where the leader is reached, where that is known, and forget it with the leader', () => {
    const job = atGate({ managerUrl: 'wss://10.0.0.7:4711/peers' });
    const addressIn = () => {
      const [said] = job.said('progress.reported');
      return [said?.['managerId'], said?.['managerHost'], said?.['managerPort']];
    };
    job.until(10_000);
    expect(addressIn()).toEqual(['A.manager-1', '10.0.0.7', 4_711]);
    job.take({ ...acquired(4), url: 'ws://[::1]:80/peers' });
    expect(addressIn()).toEqual(['A.manager-2', '[::1]', 80]);
    job.take(acquired(5));
    expect(addressIn()).toEqual(['A.manager-2', undefined, undefined]);
  });

  test('of a timeout say in words what was due', () => {
    const stuck = atGate({ stuckThresholdMs: 60_000 }).until(60_001);
    expect(stuck.said('timeout.reported')).toMatchObject([
      { reason: 'stuck', detail: 'no progress for 60001 ms, more than 60000 ms' },
    ]);
    const overall = atGate({ timeoutMs: 20_000 }).until(20_001);
    expect(overall.said('timeout.reported')).toMatchObject([
      { reason: 'overall', detail: '20001 ms of 20000 ms and 0 ms of extensions' },
    ]);
  });

  test('stop with the job', () => {
    const job = atGate();
    job.take(changed('w1', 'COMPLETED'));
    fresh(job).advance(600_000);
    expect(job.said()).toEqual([]);
  });
});

describe('a question of the gate', () => {
  test('is answered with how it stands, also while it ends', () => {
    const job = atGate();
    job.take({ type: 'status.requested', jobId: 'j1', datacenter: 'A' });
    expect(toGate(job.said())).toMatchObject([
      {
        type: 'status.corrected',
        correction: 'requested',
        status: 'running',
        rejectedDecisionEpoch: null,
      },
    ]);
    job.take(changed('w1', 'COMPLETED'));
    fresh(job).until(5_000).take({ type: 'status.requested', jobId: 'j1', datacenter: 'A' });
    expect(toGate(job.said())).toMatchObject([{ status: 'completed', sinceEndedMs: 5_000 }]);
  });
});

describe('S41 a gate that has nothing of the job', () => {
  test('is given what it needs to begin again, then the message once more', () => {
    const job = running({ gateId: 'gate-1', timeoutMs: 600_000, datacenterTimeoutQuorum: 'all' });
    fresh(job).until(5_000).take(refusal('progress.reported'));
    const [birth, again] = toGate(job.said());
    expect(birth?.type).toBe('escapement.spawn');
    expect(gateJobRebuilt.safeParse(birth?.['input']).error).toBeUndefined();
    expect(birth?.['input']).toMatchObject({
      jobId: 'j1',
      gateId: 'gate-1',
      rebuiltFrom: {
        leaderFence: 1,
        figures: { elapsedMs: 5_000 },
        terms: { timeoutMs: 600_000, allStuckThresholdMs: 180_000, datacenterTimeoutQuorum: 'all' },
        digest: 'd',
        workflowsTotal: 1,
      },
    });
    expect(again).toMatchObject({ type: 'progress.reported', mark: 1 });
  });

  test('is given it also when the job has ended', () => {
    const job = atGate();
    job.take(changed('w1', 'COMPLETED'));
    fresh(job).take(refusal('final.reported'));
    expect(job.heard()).toEqual(['escapement.spawn', 'final.reported']);
    expect(job.state).toBe('ending');
  });

  test('is given it when it answers a report that it knows of no such job', () => {
    const job = atGate();
    job.until(10_000);
    fresh(job).take(acked('progress.reported', { accepted: false, reason: 'unknown' }));
    const [birth, ...more] = toGate(job.said());
    expect(birth).toMatchObject({ type: 'escapement.spawn', isHint: false });
    expect(gateJobRebuilt.safeParse(birth?.['input']).error).toBeUndefined();
    expect(more).toEqual([]);
    job.take(acked('progress.reported', { reportSeq: 2 }));
    expect(job.said()).toEqual([]);
  });

  test('is not given it for a birth that it refused, or for another reason', () => {
    const job = atGate();
    job.take(refusal('escapement.spawn'));
    job.take(refusal('progress.reported', 'EVENT_REFUSED'));
    job.take({ ...refusal('progress.reported'), to: 'gate-job/j2@gate-1' });
    expect(job.said()).toEqual([]);
  });
});

test('JB-12 what a gate has to be told again is told under the fence of now', () => {
  const job = atGate();
  job.take(changed('w1', 'COMPLETED'));
  job.take(acquired(9));
  fresh(job);
  const event = { type: 'final.reported', leaderFence: 1, managerId: 'A.manager-1' };
  job.take({ type: 'message.refused', to: GATE, event, code: 'ACTOR_UNKNOWN' });
  const said = job.said('final.reported');
  expect(said).toMatchObject([{ leaderFence: 2, managerId: 'A.manager-2' }]);
});
