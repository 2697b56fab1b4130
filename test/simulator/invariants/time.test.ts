/** Deadlines of jobs: never early, and for a true reason. */

import { describe } from 'vitest';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { TimersFact } from '../../../simulator/history/history.ts';
import {
  gateNeverOverdueEarly,
  gateWaitsForWhatItWasTold,
} from '../../../simulator/jobs/invariants/gate-time.ts';
import {
  neverOverdueEarly,
  reasonIsTrue,
  stuckMeansNoProgress,
} from '../../../simulator/jobs/invariants/time.ts';
import { credit, credited, extended, overdue } from './credit-tale.ts';
import { decided, G1, gate, said } from './gate-tale.ts';
import { standingAt } from './standing-at.ts';
import { ACQUIRED, accepted, ended, GATE_JOB, input, moment, TIMER, takenOver } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const stuck = (atMs: number) => ended(moment(atMs), 'timedOut', 'stuck');
const NODE = { type: 'node', life: 1, driftPpm: 0, change: 'started' } as const;

describe('the time budget', () => {
  testVerdicts(neverOverdueEarly, {
    good: {
      'just after the deadline': () => accepted().turn(60_001, TIMER, overdue(60_001)),
      'after an extension': () => extended().turn(90_001, TIMER, overdue(90_001)),
      'where timeouts only watch': () =>
        accepted().turn(60_001, TIMER, {
          shadows: [{ reason: 'overall', at: moment(60_001) }],
        }),
      'found by a turn that is seen after one that was not': () =>
        accepted()
          .turn(20_000, credited('c1', 30_000), credit(20_000, 'c1', 30_000), { isUnseen: true })
          .turn(90_001, TIMER, overdue(90_001)),
      'early by the skew of another leader': {
        facts: { epsilonMs: 5_000 },
        told: () =>
          accepted()
            .at(1, 'A.manager-1', { ...NODE, skewMs: 0 })
            .at(1, 'A.manager-2', { ...NODE, skewMs: 5_000 })
            .turn(30_000, ACQUIRED, takenOver(moment(35_000), 2), {
              node: 'A.manager-2',
              skewMs: 5_000,
            })
            .turn(55_001, TIMER, overdue(55_001, 5_000), { node: 'A.manager-2', skewMs: 5_000 }),
      },
    },
    bad: {
      'at the deadline': () => accepted().turn(60_000, TIMER, overdue(60_000)),
      'the extension is forgotten': () => extended().turn(60_001, TIMER, overdue(60_001)),
      'the record has less credit than was granted': () =>
        accepted()
          .turn(20_000, credited('c1', 30_000), credit(20_000, 'c1', 10_000))
          .turn(70_001, TIMER, overdue(70_001)),
      'the record caps credit otherwise than it is configured': () =>
        accepted({ rules: { ...input().rules, extensionJobCapMs: 10_000 } })
          .turn(20_000, credited('c1', 30_000), credit(20_000, 'c1', 30_000))
          .turn(70_001, TIMER, overdue(70_001)),
      'reported too early': () =>
        accepted({ gateId: 'gate-1' }).turn(59_000, TIMER, {
          timeoutReportedAt: moment(59_000),
          localReason: 'overall',
        }),
      'by a clock that runs ahead': () =>
        accepted()
          .at(1, 'A.manager-1', { ...NODE, skewMs: 20_000 })
          .turn(40_001, TIMER, overdue(40_001, 20_000), { skewMs: 20_000 }),
      'by a clock that ran too fast for a part of its life': {
        facts: { epsilonMs: 1_000 },
        told: () =>
          accepted()
            .at(1, 'A.manager-1', { ...NODE, skewMs: 0 })
            .at(10_001, 'A.manager-1', { ...NODE, change: 'skewed', skewMs: 0, driftPpm: 500_000 })
            .at(30_001, 'A.manager-1', { ...NODE, change: 'skewed', skewMs: 0 })
            .turn(50_001, TIMER, overdue(50_001, 10_000), { skewMs: 10_000 }),
      },
    },
  });
});

describe('lack of progress', () => {
  const progressed = (atMs: number, sinceProgressMs = 0) =>
    [atMs, { type: 'workflow.progressed', workflowId: 'w1', sinceProgressMs }] as const;
  const running = (more: Parameters<typeof input>[0] = {}) =>
    accepted({ timeoutMs: 3_600_000, ...more });

  testVerdicts(stuckMeansNoProgress, {
    good: {
      'after the threshold': () => running().turn(120_001, TIMER, stuck(120_001)),
      'after the threshold since the last progress': () =>
        running()
          .turn(...progressed(50_000, 10_000), { lastProgressAt: moment(40_000) })
          .turn(160_001, TIMER, stuck(160_001)),
      'after the grace of a new leader': () =>
        running()
          .turn(150_000, ACQUIRED, takenOver(moment(150_000), 2), { node: 'A.manager-2' })
          .turn(170_001, TIMER, stuck(170_001)),
      'the clock of a new leader is behind': {
        facts: { epsilonMs: 40_000 },
        told: () =>
          running()
            .turn(90_000, { type: 'ack.received' }, { seenAt: moment(90_000) })
            // It shows 60 s when the clock before it had shown 90 s already.
            .turn(100_000, ACQUIRED, takenOver(moment(60_000), 2), { skewMs: -40_000 })
            .turn(130_001, TIMER, ended(moment(90_001), 'timedOut', 'stuck'), { skewMs: -40_000 }),
      },
    },
    bad: {
      'at the threshold': () => running().turn(120_000, TIMER, stuck(120_000)),
      'progress is not remembered': () =>
        running()
          .turn(...progressed(50_000))
          .turn(120_001, TIMER, stuck(120_001)),
      'an extension is no progress to it': () =>
        running().turn(50_000, credited('c1', 1_000), {}).turn(120_001, TIMER, stuck(120_001)),
      'while nothing is out': () =>
        accepted({ timeoutMs: 3_600_000 }, { standing: 'a' }).turn(120_001, TIMER, stuck(120_001)),
      'within the grace': () =>
        running()
          .turn(118_000, ACQUIRED, takenOver(moment(118_000), 2), { node: 'A.manager-2' })
          .turn(120_001, TIMER, stuck(120_001)),
    },
  });
});

describe('the reason of an end', () => {
  const changed = (state: string, more: object = {}) => ({
    type: 'workflow.changed',
    workflowId: 'w1',
    state,
    final: true,
    cause: null,
    ...more,
  });
  const done = (standing: string, end: Partial<JobContext>) => (context: JobContext) => ({
    table: standingAt(context.table, standing),
    ...end,
  });
  const at = moment(10_000);
  const atGate = () => accepted({ gateId: 'gate-1' });
  const reported = () =>
    atGate().turn(60_001, TIMER, { timeoutReportedAt: moment(60_001), localReason: 'overall' });
  const declared = { type: 'timeout.declared', reason: 'overall' };
  const global = (gateReason: JobContext['gateReason']) =>
    ended(moment(70_000), 'timedOut', 'global', { gateReason });

  testVerdicts(reasonIsTrue, {
    good: {
      completed: () =>
        accepted().turn(10_000, changed('COMPLETED'), done('s', ended(at, 'completed'))),
      failed: () =>
        accepted().turn(
          10_000,
          changed('FAILED'),
          done('f', ended(at, 'failed', 'workflowFailed')),
        ),
      'nobody took it': () =>
        accepted().turn(
          10_000,
          changed('FAILED', { cause: 'dispatch' }),
          done('f', ended(at, 'failed', 'dispatchExhausted')),
        ),
      cancelled: () =>
        accepted().turn(10_000, { type: 'cancel.requested' }, ended(at, 'cancelled')),
      'obeyed its gate': () => reported().turn(70_000, declared, global('overall')),
      'fell back': () =>
        reported().turn(400_000, TIMER, ended(moment(400_000), 'timedOut', 'fallback')),
    },
    bad: {
      'completed with work left': () =>
        accepted().turn(10_000, changed('RUNNING'), done('r', ended(at, 'completed'))),
      'failed for another reason': () =>
        accepted().turn(
          10_000,
          changed('FAILED'),
          done('f', ended(at, 'failed', 'dispatchExhausted')),
        ),
      'completed by its table alone': () =>
        accepted().turn(10_000, TIMER, done('s', ended(at, 'completed'))),
      'overdue by its record alone': () =>
        accepted({ timeoutMs: 3_600_000 })
          .turn(10_000, TIMER, { timeoutMs: 60_000 })
          .turn(130_000, TIMER, overdue(130_000)),
      'cancelled by nobody': () => accepted().turn(10_000, TIMER, ended(at, 'cancelled')),
      'fell back without a report': () =>
        atGate().turn(10_000, TIMER, ended(at, 'timedOut', 'fallback')),
      'ended by itself though a gate decides': () => atGate().turn(60_001, TIMER, overdue(60_001)),
      'obeyed what its gate did not say': () =>
        reported().turn(70_000, declared, global('datacenterTimeout')),
      'stuck though its time was used up': () => accepted().turn(130_000, TIMER, stuck(130_000)),
      'ended though its timeouts only watch': () =>
        accepted({ enforce: false }).turn(60_001, TIMER, overdue(60_001)),
    },
  });
});

describe('the time budget at a gate', () => {
  const running = (extensionsMs: number, holdMs = 0) =>
    gate(60_000).turn(1_000, said('progress.reported', {}, { extensionsMs, holdMs }), {}, G1);
  const declared = (atMs: number) => decided([1, 1], 'overall', atMs);

  testVerdicts(gateNeverOverdueEarly, {
    good: {
      'after the timeout': () => running(0).turn(60_001, TIMER, declared(60_001), G1),
      'after the largest extension': () =>
        running(30_000).turn(90_001, TIMER, declared(90_001), G1),
      'of a job whose birth nobody has seen': () =>
        gate(60_000, {}, { ...G1, isUnseen: true })
          .turn(20_000, said('progress.reported'), {}, G1)
          .turn(25_000, said('progress.reported'), {}, G1)
          .turn(60_001, TIMER, declared(60_001), G1),
    },
    bad: {
      'at the deadline': () => running(0).turn(60_000, TIMER, declared(60_000), G1),
      'a hold does not count': () => running(0, 80_000).turn(60_001, TIMER, declared(60_001), G1),
      'the extension does not count': () =>
        running(30_000).turn(60_001, TIMER, declared(60_001), G1),
    },
  });

  const waits = (dueAtMs: number): TimersFact => ({
    ...{ type: 'timers', place: 'gate-1', address: GATE_JOB },
    timers: [{ id: 'xstate.after.overallLimit.gateJob.tracking', dueAt: moment(dueAtMs) }],
  });
  testVerdicts(gateWaitsForWhatItWasTold, {
    good: {
      'for the timeout': () => running(0).add(waits(60_001)),
      'for the largest extension': () => running(30_000).add(waits(90_001)),
      'for the end of a hold': () => running(0, 80_000).add(waits(81_001)),
    },
    bad: {
      'an extension is left out': () => running(30_000).add(waits(60_001)),
      'a hold is reckoned from another moment': () => running(0, 80_000).add(waits(80_001)),
      'a hold is kept for ever': () =>
        running(0, 80_000).turn(2_000, said('progress.reported'), {}, G1).add(waits(81_001)),
    },
  });
});
