/** Credit: what extensions do to the deadline of a job. */

import { describe } from 'vitest';
import {
  deadlineOnlyFallsForLostWorkers,
  grantIsCreditedFirst,
  waitsForWhatItWasTold,
} from '../../../simulator/jobs/invariants/credit.ts';
import { sent, timers, turn } from './builders.ts';
import { credit, credited, extended, overdue } from './credit-tale.ts';
import { ACQUIRED, accepted, JOB, moment, TIMER, takenOver } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

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
      'the record has less than was granted, from the start': () =>
        accepted().turn(20_000, credited('c1', 30_000), credit(20_000, 'c1', 15_000)),
      'what a person gives counts twice': () =>
        accepted().turn(
          20_000,
          { type: 'job.extend', requestId: 'e1', by: 'anna', byMs: 10_000 },
          { operatorCredits: [{ requestId: 'e1', by: 'anna', byMs: 20_000, at: moment(20_000) }] },
        ),
      'nothing is put off': () => extended().turn(40_000, lost, { creditByWorker: {} }),
      'it fires before the hold is over': () =>
        extended().turn(40_000, lost, held).turn(69_000, TIMER, overdue(69_000)),
      'credit is gone without a loss': () => extended().turn(40_000, TIMER, { creditByWorker: {} }),
      'the start has moved': () => accepted().turn(10_000, TIMER, { baseAt: moment(-5_000) }),
    },
  });
});

describe('what it waits for', () => {
  const REGION = 'xstate.after.overallLimit.job.active.authority.leading.localAuthority.tracking';
  const FALLBACK = 'xstate.after.fallbackLimit.job.active.authority.leading.gateCoordinated';
  const waits = (overallMs: number, stuckMs: number) =>
    timers(JOB, {
      [`${REGION}.overallLimit.armed`]: moment(overallMs),
      [`${REGION}.stuckLimit.armed`]: moment(stuckMs),
    });
  const reported = () =>
    accepted({ gateId: 'gate-1' }).turn(
      60_001,
      TIMER,
      { timeoutReportedAt: moment(60_001), localReason: 'overall' },
      { state: '{"active":{"authority":{"leading":{"gateCoordinated":{"reported":"armed"}}}}}' },
    );
  const fallback = (atMs: number) => timers(JOB, { [`${FALLBACK}.reported.armed`]: moment(atMs) });
  const progressed = { type: 'workflow.progressed', workflowId: 'w1', sinceProgressMs: 5_000 };
  testVerdicts(waitsForWhatItWasTold, {
    good: {
      'its timeout and its threshold': () => accepted().add(waits(60_001, 120_001)),
      'its credit, which is progress': () => extended().add(waits(90_001, 140_001)),
      'its last progress': () => accepted().turn(30_000, progressed).add(waits(60_001, 145_001)),
      'the grace of a new leader': () =>
        accepted({ timeoutMs: 600_000 })
          .turn(115_000, ACQUIRED, takenOver(moment(115_000), 2))
          .add(waits(600_001, 135_001)),
      'its fallback': () => reported().add(fallback(360_002)),
      'its fallback after a word of its gate': () =>
        reported().turn(100_000, { type: 'ack.received' }).add(fallback(400_001)),
    },
    bad: {
      'credit is left out': () => extended().add(waits(60_001, 140_001)),
      'the record and the deadline have more credit than was granted': () =>
        accepted()
          .turn(20_000, credited('c1', 30_000), credit(20_000, 'c1', 40_000))
          .add(waits(100_001, 140_001)),
      'a heartbeat passes for progress': () =>
        accepted()
          .turn(30_000, { type: 'told' }, { lastProgressAt: moment(30_000) })
          .add(waits(60_001, 150_001)),
      'nothing at all': () => accepted().add(timers(JOB, {})),
      'its fallback, counted from the start': () => reported().add(fallback(300_001)),
      'its fallback, put off by somebody else': () =>
        reported()
          .turn(100_000, { type: 'told' }, { lastGateContactAt: moment(100_000) })
          .add(fallback(400_001)),
    },
  });
});
