import { describe, expect, test } from 'vitest';
import type { DatacenterRecord } from '../../../machines/jobs/datacenter/context.ts';
import { initialGateJob, type RuledContext } from '../../../machines/jobs/gate-job/context.ts';
import {
  catchUpDueAt,
  fallenSilent,
  isAnyDue,
  isBudgetUsedUp,
  isCatchingUp,
  isNothingMoving,
  isQuorumMet,
  missing,
  overallDueAt,
  silenceDueAt,
} from '../../../machines/jobs/gate-job/rules.ts';
import type { GateReason, Quorum } from '../../../machines/jobs/words.ts';
import { RULES } from './gate-world.ts';

const running = { run: 'running', sinceProgressMs: 0 } as const;
const stuck = { run: 'reported', report: 'stuck' } as const;
const overall = { run: 'reported', report: 'overall' } as const;
const ended = (status: string) =>
  ({ run: 'final', final: { status } }) as unknown as Partial<DatacenterRecord>;

/** Submitted at 0 with a timeout of 300 s; all are heard at 0 unless they say otherwise. */
function job(
  datacenters: Readonly<Record<string, Partial<DatacenterRecord>>>,
  quorum: Quorum = 'any',
): RuledContext {
  const context = initialGateJob({
    jobId: 'j1',
    gateId: 'gate-1',
    gateBoot: 1,
    terms: { timeoutMs: 300_000 },
    targetDatacenters: Object.keys(datacenters),
    digest: '',
    rules: { ...RULES, quorum },
    workflowsTotal: 1,
    pages: 0,
    at: 0,
  });
  const records = Object.entries(datacenters).map(([name, record]) => [
    name,
    { ...context.datacenters[name], ...record },
  ]);
  return { ...context, datacenters: Object.fromEntries(records) } as RuledContext;
}

/** The first rule that is due, in the order of the edges of the chart. */
function dueReason(context: RuledContext, at: number): GateReason | null {
  if (!isCatchingUp(context) && isBudgetUsedUp(context, at)) return 'overall';
  if (isQuorumMet(context.datacenters, context.rules.quorum)) return 'datacenterTimeout';
  return isNothingMoving(context) ? 'allDatacentersStuck' : null;
}

describe('rule 1, overall', () => {
  test('is not due at its deadline, and is a millisecond later', () => {
    const alone = job({ A: running });
    expect(dueReason(alone, 300_000)).toBe(null);
    expect(dueReason(alone, 300_001)).toBe('overall');
  });

  test('counts the largest credit of the running datacenters', () => {
    const credited = job({
      A: { ...running, extensionsMs: 30_000 },
      B: { ...running, extensionsMs: 45_000 },
    });
    expect(overallDueAt(credited)).toBe(345_000);
    const { A = {} } = credited.datacenters;
    expect(overallDueAt(job({ A, B: { ...ended('completed'), extensionsMs: 45_000 } }))).toBe(
      330_000,
    );
  });

  test('waits for the hold of a running datacenter', () => {
    expect(overallDueAt(job({ A: { ...running, holdUntil: 320_000 }, B: running }))).toBe(320_000);
    const over = job({ A: { ...ended('failed'), holdUntil: 320_000 }, B: running });
    expect(overallDueAt(over)).toBe(300_000);
  });

  test('is nothing where nobody runs the job', () => {
    expect(dueReason(job({ A: ended('completed'), B: ended('failed') }), 999_999)).toBe(null);
  });
});

describe('rule 2, the quorum of datacenters that timed out', () => {
  const CASES: ReadonlyArray<
    readonly [string, Record<string, Partial<DatacenterRecord>>, boolean[]]
  > = [
    // any, majority, all
    ['nobody reported', { A: running, B: running }, [false, false, false]],
    ['one of two', { A: stuck, B: running }, [true, false, false]],
    ['one of three', { A: stuck, B: running, C: running }, [true, false, false]],
    ['two of three', { A: stuck, B: stuck, C: running }, [true, true, false]],
    ['all', { A: stuck, B: stuck }, [true, true, true]],
    ['the only one', { A: stuck }, [true, true, true]],
    ['a final timeout votes', { A: ended('timedOut'), B: running }, [true, false, false]],
    ['a final timeout and a report', { A: ended('timedOut'), B: stuck }, [true, true, true]],
    ['other ends do not vote', { A: ended('completed'), B: stuck }, [true, true, true]],
    [
      'nobody is left to end',
      { A: ended('timedOut'), B: ended('completed') },
      [false, false, false],
    ],
    ['one that is only asked yet', { A: stuck, B: { run: 'asked' } }, [true, false, false]],
    ['a late one does not vote', { A: stuck, B: { run: 'late' } }, [true, true, true]],
    ['half is no majority', { A: stuck, B: stuck, C: running, D: running }, [true, false, false]],
  ];

  test.each(CASES)('%s', (_, datacenters, met) => {
    const { datacenters: records } = job(datacenters);
    const quorums = ['any', 'majority', 'all'] as const;
    expect(quorums.map((quorum) => isQuorumMet(records, quorum))).toEqual(met);
  });

  test.each([
    ['less credit than another', 30_000, 45_000, false],
    ['no credit at all', 0, 45_000, false],
    ['the same credit', 45_000, 45_000, true],
    ['more credit', 45_000, 30_000, true],
  ])('an overall report with %s', (_, mine, others, counts) => {
    const { datacenters } = job({
      A: { ...overall, extensionsMs: mine },
      B: { ...running, extensionsMs: others },
    });
    expect(isQuorumMet(datacenters, 'any')).toBe(counts);
  });

  test('a stuck report is never deferred, nor one that only ended datacenters exceed', () => {
    const over = { ...ended('completed'), extensionsMs: 45_000 };
    expect(
      isQuorumMet(job({ A: stuck, B: { ...running, extensionsMs: 9 } }).datacenters, 'any'),
    ).toBe(true);
    expect(isQuorumMet(job({ A: overall, B: over }).datacenters, 'any')).toBe(true);
  });
});

describe('rule 3, nothing moves anywhere', () => {
  const still = { run: 'running', sinceProgressMs: 180_001, lastSeenAt: 200_000 } as const;

  test.each([
    ['all say so', { A: still, B: still }, 'allDatacentersStuck'],
    [
      'one is exactly at the threshold',
      { A: still, B: { ...still, sinceProgressMs: 180_000 } },
      null,
    ],
    ['one only queues', { A: still, B: { ...still, queued: true } }, null],
    ['one has not reported', { A: still, B: { ...still, sinceProgressMs: null } }, null],
    ['one is silent', { A: still, B: { ...still, contact: 'silent' } }, null],
    ['one is not caught up with', { A: still, B: { ...still, contact: 'catchingUp' } }, null],
    ['one is still asked', { A: still, B: { run: 'asked' } }, null],
    ['one has ended', { A: still, B: ended('completed') }, 'allDatacentersStuck'],
  ] as const)('%s', (_, datacenters, reason) => {
    expect(dueReason(job(datacenters as never), 200_000)).toBe(reason);
  });
});

test('the first rule that is due gives the reason', () => {
  const everything = job({ A: { ...stuck, sinceProgressMs: 999_999, lastSeenAt: 300_001 } });
  expect(dueReason(everything, 300_001)).toBe('overall');
  expect(dueReason(everything, 300_000)).toBe('datacenterTimeout');
});

test('the next silence is that of the one heard longest ago, or asked', () => {
  const context = job({
    A: { ...running, lastSeenAt: 50_000 },
    B: { ...running, lastSeenAt: 40_000 },
    C: { ...running, lastSeenAt: 10_000, askedAt: 60_000 },
    D: { ...ended('completed'), lastSeenAt: 0 },
  });
  expect(silenceDueAt(context)).toBe(70_000);
  expect(fallenSilent(context, 70_000)).toEqual([]);
  expect(fallenSilent(context, 70_001)).toEqual(['B']);
  expect(fallenSilent(context, 90_001)).toEqual(['A', 'B', 'C']);
  expect(silenceDueAt(job({ A: ended('completed') }))).toBe(null);
});

describe('a datacenter that the gate catches up with', () => {
  const behind = { contact: 'catchingUp', contactSince: 100_000, metAt: null } as const;

  test('holds up the time budget, and no decision that was made is taken back for it', () => {
    const context = job({ A: running, B: { ...running, ...behind } });
    expect(dueReason(context, 300_001)).toBe(null);
    expect(isAnyDue(context, 300_001)).toBe(true);
    expect(dueReason(job({ A: running, B: { ...ended('completed'), ...behind } }), 300_001)).toBe(
      'overall',
    );
  });

  test.each([
    ['its own report decides nothing', { A: { ...stuck, ...behind }, B: running }, 'any', false],
    ['nor where it is the only one', { A: { ...stuck, ...behind } }, 'any', false],
    ['one that is stuck elsewhere counts', { A: { ...running, ...behind }, B: stuck }, 'any', true],
    [
      'it may have more credit than anybody who is overdue',
      { A: { ...running, ...behind }, B: overall },
      'any',
      false,
    ],
    [
      'a majority without it is one',
      { A: { ...running, ...behind }, B: stuck, C: stuck },
      'majority',
      true,
    ],
    [
      'half and a report of it is none',
      { A: { ...stuck, ...behind }, B: stuck, C: running, D: running },
      'majority',
      false,
    ],
    ['all are not without it', { A: { ...stuck, ...behind }, B: stuck }, 'all', false],
    [
      'it may have ended, and nobody would be left',
      { A: { ...running, ...behind }, B: ended('timedOut') },
      'any',
      false,
    ],
  ] as const)('%s', (_, datacenters, quorum, isMet) => {
    expect(isQuorumMet(job(datacenters as never).datacenters, quorum)).toBe(isMet);
  });

  test('is waited for until two reports after it was heard, or after it was lost', () => {
    const context = job({
      A: { ...running, ...behind },
      B: { ...running, ...behind, metAt: 105_000 },
      C: running,
    });
    expect(catchUpDueAt(context)).toBe(120_000);
    expect(missing(context, 120_000)).toEqual([]);
    expect(missing(context, 120_001)).toEqual(['A']);
    expect(missing(context, 125_001)).toEqual(['A', 'B']);
    expect(catchUpDueAt(job({ A: running }))).toBe(null);
  });
});
