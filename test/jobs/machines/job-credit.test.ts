import { describe, expect, test } from 'vitest';
import { extensionsMs } from '../../../machines/jobs/job/context.ts';
import {
  answersOf,
  atGate,
  changed,
  endedMs,
  extend,
  fresh,
  granted,
  lost,
  progressed,
  reported,
  running,
  standing,
  toGate,
} from './job-scenes.ts';
import { SPAWNED_AT } from './stepper.ts';

describe('JB-10 credit', () => {
  test('10.7.3: moves the deadline, and is answered once it is taken', () => {
    const job = running({ timeoutMs: 60_000 }).until(20_000);
    const credit = granted('W', 30_000);
    job.take(credit);
    expect(job.said()).toEqual([
      {
        type: 'credit.answered',
        to: 'worker-health/W@A',
        isHint: false,
        atMs: 20_000,
        creditId: credit.creditId,
        jobId: 'j1',
        answer: 'applied',
      },
    ]);
    expect(job.deadlines['overallLimit']).toBe(90_001);
    job.until(90_001);
    expect([standing(job), endedMs(job)]).toEqual([['timedOut', 'overall'], 90_001]);
  });

  test('counts once, and is answered as often as it comes', () => {
    const job = running();
    const credit = granted('W', 10_000);
    job.take(credit);
    job.take(credit);
    expect(job.said('credit.answered').map(({ answer }) => answer)).toEqual(['applied', 'applied']);
    expect(job.deadlines['overallLimit']).toBe(70_001);
  });

  test('S9: is the sum over the workers, or the greatest of them', () => {
    for (const [extensionAggregation, due] of [
      ['sum', 160_001],
      ['max', 130_001],
    ] as const) {
      const job = running({ timeoutMs: 100_000, rules: { extensionAggregation } }).until(10_000);
      job.take(granted('W1', 30_000));
      job.take(granted('W2', 20_000));
      job.take(granted('W2', 10_000));
      expect(job.deadlines['overallLimit']).toBe(due);
    }
  });

  test.each([
    ['S50: the timeout of the job itself', null, 40_001],
    ['a number', 5_000, 25_001],
    ['nothing at all', 0, 20_001],
  ])('is capped by %s', (_, extensionJobCapMs, due) => {
    const job = running({ timeoutMs: 20_000, rules: { extensionJobCapMs } }).until(10_000);
    job.take(granted('W', 30_000));
    expect(job.deadlines['overallLimit']).toBe(due);
    expect(job.context.creditByWorker).toEqual({ W: 30_000 });
  });

  test('S8: of several grants to one worker adds up', () => {
    const job = running({ timeoutMs: 300_000, stuckThresholdMs: 600_000 });
    job.until(50_000).take(granted('W', 15_000));
    job.until(100_000).take(granted('W', 7_500));
    job.until(322_500);
    expect(standing(job)).toEqual(['running', null]);
    expect(job.until(322_501).context.reason).toBe('overall');
  });

  test('is void for a job that has reported or ended', () => {
    for (const job of [reported(), running().until(60_001)]) {
      fresh(job).take(granted('W', 10_000));
      expect(job.said()).toMatchObject([{ type: 'credit.answered', answer: 'void' }]);
      expect(extensionsMs(job.context)).toBe(0);
    }
  });
});

describe('JB-10 the loss of a worker', () => {
  test('10.7.9: takes its credit away, and nothing fires for one check interval', () => {
    const job = running({ timeoutMs: 120_000 });
    job.until(20_000).take(granted('W1', 30_000));
    for (let at = 30_000; at <= 110_000; at += 10_000) job.until(at).take(progressed());
    fresh(job).take(lost('W1'));
    expect(job.deadlines).toMatchObject({ holdLimit: 140_001 });
    expect(job.states).toContain('tracking.overallLimit.held');
    expect(job.notes()).toMatchObject([
      { event: 'extension.removed', workerId: 'W1', lostMs: 30_000, cause: 'workerLost' },
    ]);
    job.until(140_001);
    expect([standing(job), endedMs(job)]).toEqual([['timedOut', 'overall'], 140_001]);
  });

  test('holds the stuck deadline as well', () => {
    const job = running({ timeoutMs: 3_600_000 }).until(119_000);
    job.take(granted('W', 1_000));
    job.until(238_000).take(lost('W'));
    expect(job.deadlines['holdLimit']).toBe(268_001);
    expect(job.states).toContain('tracking.stuckLimit.held');
  });

  test('without credit holds nothing, and a repeat has no effect', () => {
    const job = running();
    fresh(job).take(lost('W'));
    expect([job.context.holdUntil, job.notes()]).toEqual([0, []]);
    job.take(granted('W', 10_000));
    job.take(lost('W'));
    const { holdUntil } = job.context;
    job.until(10_000).take(lost('W'));
    expect(job.context.holdUntil).toBe(holdUntil);
  });

  test('never shortens the timeout of the job itself, nor takes what others were granted', () => {
    const job = running({ timeoutMs: 120_000, stuckThresholdMs: 600_000 });
    job.take(granted('W1', 30_000));
    job.take(granted('W2', 20_000));
    job.take(lost('W1'));
    expect(job.deadlines['overallLimit']).toBe(140_001);
    job.take(lost('W2'));
    expect(job.deadlines['overallLimit']).toBe(120_001);
  });
});

describe('JB-13 more time by an operator', () => {
  test('S49: counts once per request, and is entered with who and when', () => {
    const job = running({ timeoutMs: 60_000 }).until(30_000);
    const request = extend(60_000);
    job.take(request);
    job.until(31_000).take(request);
    const answer = { accepted: true, reason: null, extensionsMs: 60_000 };
    expect(answersOf(job.said())).toEqual([answer, answer]);
    expect(job.context.operatorCredits).toEqual([
      { requestId: request.requestId, by: 'ann', byMs: 60_000, at: SPAWNED_AT + 30_000 },
    ]);
    expect(job.notes()).toMatchObject([{ event: 'job.extended', by: 'ann', byMs: 60_000 }]);
    job.until(120_001);
    expect([standing(job), endedMs(job)]).toEqual([['timedOut', 'overall'], 120_001]);
  });

  test('is kept whatever happens to workers, and beside any cap', () => {
    const job = running({ timeoutMs: 20_000, rules: { extensionJobCapMs: 0 } });
    job.take(granted('W', 5_000));
    job.take(extend(50_000));
    job.take(lost('W'));
    expect(job.deadlines['overallLimit']).toBe(70_001);
  });

  test.each([
    ['0', 0],
    ['below 0', -1],
    ['no whole number', 0.5],
    ['NaN', Number.NaN],
    ['more than 60 days', 5_184_000_001],
  ])('is refused as invalid when it is %s', (_, byMs) => {
    const job = running();
    job.take(extend(byMs));
    expect(answersOf(job.said())).toEqual([
      { accepted: false, reason: 'invalid', extensionsMs: 0 },
    ]);
    expect(job.notes()).toMatchObject([{ event: 'job.extensionRefused', refusal: 'invalid' }]);
  });

  test('is refused as invalid when all of it together would be more than 60 days', () => {
    const job = running();
    job.take(extend(5_184_000_000));
    fresh(job).take(extend(1));
    expect(answersOf(job.said())).toMatchObject([
      { reason: 'invalid', extensionsMs: 5_184_000_000 },
    ]);
  });

  test('comes too late in reported, and after the end; what was granted before stays granted', () => {
    const job = atGate({ timeoutMs: 60_000 });
    const before = extend(10_000);
    job.take(before);
    job.until(70_001);
    fresh(job).take(extend(10_000));
    expect(answersOf(job.said())).toMatchObject([{ accepted: false, reason: 'alreadyReported' }]);
    job.take(before);
    expect(answersOf(job.said())).toMatchObject([{ accepted: true, extensionsMs: 10_000 }]);
    job.take(changed('w1', 'COMPLETED'));
    fresh(job).take(extend(10_000));
    expect(answersOf(job.said())).toMatchObject([{ accepted: false, reason: 'alreadyFinal' }]);
  });

  test('through a gate is answered to the gate, which is told the new figures', () => {
    const job = atGate();
    job.take(extend(10_000, { gateId: 'gate-1', requestId: 'x' }));
    expect(toGate(job.said())).toMatchObject([
      {
        type: 'extend.answered',
        requestId: 'x',
        datacenter: 'A',
        accepted: true,
        extensionsMs: 10_000,
      },
      { type: 'progress.reported', isHint: false, figures: { extensionsMs: 10_000 } },
    ]);
  });
});
