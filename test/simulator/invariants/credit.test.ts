/** What extensions do to the deadline of a job. */

import { describe } from 'vitest';
import type { JobContext } from '../../../machines/jobs/job.ts';
import {
  deadlineOnlyFallsForLostWorkers,
  grantIsCreditedFirst,
} from '../../../simulator/invariants/credit.ts';
import { sent, turn } from './builders.ts';
import { accepted, ended, JOB, moment, TIMER } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const credited = (creditId: string, grantMs: number, workerId = 'W') => ({
  type: 'extension.credited',
  creditId,
  workerId,
  grantMs,
});

const credit =
  (atMs: number, creditId: string, grantMs: number) =>
  ({ creditByWorker, creditIds }: JobContext): Partial<JobContext> => ({
    creditByWorker: { ...creditByWorker, W: (creditByWorker['W'] ?? 0) + grantMs },
    creditIds: [...creditIds, creditId],
    lastProgressAt: moment(atMs),
    seenAt: moment(atMs),
  });

const overdue = (atMs: number, skewMs = 0) => ended(moment(atMs) + skewMs, 'timedOut', 'overall');
const extended = () =>
  accepted().turn(20_000, credited('c1', 30_000), credit(20_000, 'c1', 30_000));

describe('credit', () => {
  const health = (answers: readonly object[], number: number) =>
    turn('worker-health/W@A', { turn: number, context: { answers } });
  const answer = { requestId: 'c1', granted: true };
  const asked = sent('worker-health/W@A', 1, JOB, credited('c1', 30_000));

  testVerdicts(grantIsCreditedFirst, {
    good: {
      'the job has it before the worker is told': () =>
        accepted()
          .add(health([], 1), asked)
          .turn(20_000, credited('c1', 30_000), credit(20_000, 'c1', 30_000))
          .add(health([answer], 2)),
      'nobody saw how the job took it': () =>
        accepted()
          .add(health([], 1), asked)
          .turn(20_000, credited('c1', 30_000), credit(20_000, 'c1', 30_000), { isUnseen: true })
          .add(health([answer], 2)),
      'it comes twice': () =>
        extended().turn(21_000, credited('c1', 30_000), { lastProgressAt: moment(20_000) }),
      'the job had reported': () =>
        accepted({ gateId: 'gate-1' })
          .turn(60_001, TIMER, { timeoutReportedAt: moment(60_001), localReason: 'overall' })
          .turn(60_002, credited('c1', 30_000)),
    },
    bad: {
      'the worker is told first': () => accepted().add(health([], 1), asked, health([answer], 2)),
      'it is not counted': () => accepted().turn(20_000, credited('c1', 30_000)),
      'it is counted twice': () =>
        accepted().turn(20_000, credited('c1', 30_000), credit(20_000, 'c1', 60_000)),
      'a repeated one counts again': () =>
        extended().turn(21_000, credited('c1', 30_000), credit(21_000, 'c1', 30_000)),
    },
  });

  const lost = { type: 'worker.lost', workerId: 'W' };
  const held = { creditByWorker: {}, holdUntil: moment(70_000) };

  testVerdicts(deadlineOnlyFallsForLostWorkers, {
    good: {
      'a lost worker takes its credit with it': () =>
        extended().turn(40_000, lost, held).turn(70_001, TIMER, overdue(70_001)),
      'credit adds time': extended,
    },
    bad: {
      'nothing is put off': () => extended().turn(40_000, lost, { creditByWorker: {} }),
      'it fires before the hold is over': () =>
        extended().turn(40_000, lost, held).turn(69_000, TIMER, overdue(69_000)),
      'credit is gone without a loss': () => extended().turn(40_000, TIMER, { creditByWorker: {} }),
      'the start has moved': () => accepted().turn(10_000, TIMER, { baseAt: moment(-5_000) }),
    },
  });
});
