/**
 * Credit of a worker: whose deadlines an extension moves, and what happens to it when its worker is lost.
 */

import { describe } from 'vitest';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { Operation } from '../../../machines/jobs/worker-health/context.ts';
import { Table } from '../../../runtime/machine.ts';
import {
  creditsEachJobOnce,
  limitsCredit,
  removesOnlyTheLost,
} from '../../../simulator/jobs/invariants/worker-credit.ts';
import { timers } from './builders.ts';
import { EVICTED, grants, HEALTH, health } from './health-tale.ts';
import { accepted, ended, JOB, moment, TIMER } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const credited = (creditId = 'c1', workerId = 'W') => ({
  type: 'extension.credited',
  ...{ creditId, workerId, grantMs: 30_000 },
});
const answered = (answer: string) => ({
  type: 'credit.answered',
  creditId: 'c1',
  jobId: 'j1',
  answer,
});
const credit =
  (creditMs: number, workerId = 'W') =>
  ({ creditByWorker, creditIds }: JobContext) => ({
    creditByWorker: { ...creditByWorker, [workerId]: creditMs },
    creditIds: [...creditIds, 'c1'],
  });
const counted = () => accepted().turn(20_000, credited(), credit(30_000));
const reported = () =>
  accepted({ gateId: 'gate-1' }).turn(60_001, TIMER, {
    timeoutReportedAt: moment(60_001),
    localReason: 'overall',
  });

describe('to whom', () => {
  const both = Table.of({ 'j1/w1#1': { heartbeatSeq: 1 }, 'j2/w1#1': { heartbeatSeq: 1 } });
  const dispatched = Table.of<Operation>({ 'j1/w1#1': { heartbeatSeq: 1 }, 'j2/w1#1': {} });
  const OTHER = 'job/j2@A';
  testVerdicts(creditsEachJobOnce, {
    good: {
      'to each that runs': () =>
        grants(health({ operations: both }), 1_000, {}, { to: [JOB, OTHER] }),
      'not to one that is only dispatched': () => grants(health({ operations: dispatched }), 1_000),
      'it counts and is answered': () => counted().says(HEALTH, answered('applied')),
      'the same comes again': () =>
        counted().turn(21_000, credited()).says(HEALTH, answered('applied')),
      'the job has reported': () =>
        reported().turn(60_100, credited()).says(HEALTH, answered('void')),
    },
    bad: {
      'one is left out': () => grants(health({ operations: both }), 1_000),
      'one is left out that the record has lost': () =>
        grants(
          health({ operations: both }).turn(
            500,
            { type: 'told' },
            { operations: Table.of({ 'j1/w1#1': { heartbeatSeq: 1 } }) },
          ),
          1_000,
        ),
      'one hears of it twice': () => grants(health(), 1_000, {}, { to: [JOB, JOB] }),
      'one hears of it for nothing': () =>
        grants(health({ operations: dispatched }), 1_000, {}, { to: [JOB, OTHER] }),
      'a denied one is credited': () =>
        health().turn(1_000, { type: 'told' }).says(JOB, credited()),
      'it counts twice': () => counted().turn(21_000, credited(), credit(60_000)),
      'it does not count': () => accepted().turn(20_000, credited()),
      'it counts for one that has reported': () =>
        reported().turn(60_100, credited(), credit(30_000)),
      'it counts for one that has ended': () =>
        accepted()
          .turn(60_001, TIMER, ended(moment(60_001), 'timedOut', 'overall'), { state: 'ending' })
          .turn(60_100, credited(), credit(30_000)),
      'it is void for one that counts it': () => counted().says(HEALTH, answered('void')),
    },
  });
});

describe('how much', () => {
  const OVERALL = 'xstate.after.overallLimit.job';
  const due = (atMs: number, creditMs = 30_000) =>
    accepted()
      .turn(20_000, credited(), credit(creditMs))
      .add(timers(JOB, { [OVERALL]: moment(atMs) }));
  const asked = (n: number) => ({ requestId: `r${n}`, progress: n / 10 });
  const granted = (count: number) => {
    const tale = health();
    for (let n = 1; n <= count; n += 1) grants(tale, n * 1_000, asked(n));
    return tale;
  };
  testVerdicts(limitsCredit, {
    good: {
      'as much as was granted': () => due(90_001),
      'as much as its own time': () => due(120_001, 200_000),
      'five times': () => granted(5),
    },
    bad: {
      'more than its own time': () => due(120_002, 200_000),
      'more is told to the gate': () =>
        counted().says('gate-job/j1@gate-1', {
          type: 'progress.reported',
          figures: { extensionsMs: 60_001 },
        }),
      'six times': () => granted(6),
    },
  });
});

describe('when its worker is lost', () => {
  const lost = { type: 'worker.lost', workerId: 'W', registration: 1 };
  const two = () => counted().turn(21_000, credited('c2', 'V'), credit(30_000, 'V'));
  const held = { holdUntil: moment(60_000) };
  const evicted = () =>
    grants(health(), 1_000).turn(
      90_000,
      { type: 'xstate.after.evictionLimit' },
      { operations: Table.of(), pending: [], creditedJobs: [] },
      { state: EVICTED },
    );
  testVerdicts(removesOnlyTheLost, {
    good: {
      'its credit goes, the other stays': () =>
        two().turn(30_000, lost, { ...held, creditByWorker: { V: 30_000 } }),
    },
    bad: {
      'it stays': () => two().turn(30_000, lost, held),
      'the other goes too': () => two().turn(30_000, lost, { ...held, creditByWorker: {} }),
      'nothing is held': () => two().turn(30_000, lost, { creditByWorker: { V: 30_000 } }),
      'credit goes by itself': () =>
        counted().turn(30_000, { type: 'workflow.changed' }, { creditByWorker: {} }),
      'credit comes by itself': () =>
        counted().turn(30_000, { type: 'workflow.changed' }, credit(60_000)),
      'the job is not told': evicted,
    },
  });
});
