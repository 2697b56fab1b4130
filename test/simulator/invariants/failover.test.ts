/** Takeover: a new leader finds what the one before left. */

import { describe } from 'vitest';
import type { JobContext } from '../../../machines/jobs/job.ts';
import {
  elapsedNeverFalls,
  leaderlessTimeCounts,
  takeoverHappensOnce,
  takeoverKeepsAll,
} from '../../../simulator/jobs/invariants/failover.ts';
import { G1, gate, restarted } from './gate-tale.ts';
import { ACQUIRED, accepted, ended, moment, TIMER, takenOver } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const M2 = { node: 'A.manager-2' };
const NODE = { type: 'node', life: 1, skewMs: 0 } as const;
const atGate = () => accepted({ gateId: 'gate-1', decisionEpoch: [1, 0], timeoutMs: 600_000 });

describe('a takeover', () => {
  const reported = () =>
    atGate()
      .turn(
        50_000,
        { type: 'extension.credited' },
        { creditByWorker: { W: 30_000 }, seenAt: moment(50_000) },
      )
      .turn(90_000, TIMER, {
        timeoutReportedAt: moment(90_000),
        localReason: 'stuck',
        seenAt: moment(90_000),
        lastGateContactAt: moment(80_000),
      });
  const over = (more: Partial<JobContext> = {}) =>
    reported().turn(100_000, ACQUIRED, takenOver(moment(100_000), 2, more), M2);
  const wrong = (more: Partial<JobContext>) => () => over(more);

  testVerdicts(takeoverKeepsAll, {
    good: {
      'by a clock that is right': () => over(),
      'by a clock that is behind': () =>
        reported().turn(100_000, ACQUIRED, takenOver(moment(70_000), 2), {
          ...M2,
          skewMs: -30_000,
        }),
      'by the gate': () => gate().turn(100_000, ACQUIRED, restarted(2), G1),
      'behind a turn that nobody saw': () =>
        reported()
          .turn(
            95_000,
            { type: 'ack.received' },
            { lastGateContactAt: moment(95_000) },
            { isUnseen: true },
          )
          .turn(100_000, ACQUIRED, takenOver(moment(100_000), 2), M2),
    },
    bad: {
      'another start': wrong({ startedAt: moment(100_000) }),
      'another report': wrong({ timeoutReportedAt: moment(100_000) }),
      'no report': wrong({ timeoutReportedAt: null }),
      'another contact': wrong({ lastGateContactAt: moment(100_000) }),
      'no credit': wrong({ creditByWorker: {} }),
      'no progress': wrong({ lastProgressAt: moment(-1_000) }),
      'another authority': wrong({ gateId: null }),
      'the fence as it was': wrong({ leaderFence: 1 }),
      'what nobody saw is lost': () =>
        reported()
          .turn(
            95_000,
            { type: 'ack.received' },
            { lastGateContactAt: moment(95_000) },
            { isUnseen: true },
          )
          .turn(
            100_000,
            ACQUIRED,
            takenOver(moment(100_000), 2, { lastGateContactAt: moment(80_000) }),
            M2,
          ),
      'by the gate, which moves the start': () =>
        gate().turn(100_000, ACQUIRED, restarted(2, { submittedAt: moment(100_000) }), G1),
    },
  });

  testVerdicts(takeoverHappensOnce, {
    good: { 'told twice': () => over().turn(100_001, ACQUIRED, {}, M2) },
    bad: { 'changed twice': () => over().turn(100_001, ACQUIRED, { leaderFence: 3 }, M2) },
  });

  testVerdicts(elapsedNeverFalls, {
    good: {
      'by a clock that is right': () => over(),
      'by a clock that is behind': {
        facts: { epsilonMs: 30_000 },
        told: () =>
          reported().turn(100_000, ACQUIRED, takenOver(moment(70_000), 2), {
            ...M2,
            skewMs: -30_000,
          }),
      },
      'by a clock that drifted for ten seconds of its life': {
        facts: { epsilonMs: 100 },
        told: () =>
          accepted()
            .at(1, 'A.manager-2', { ...NODE, change: 'started', driftPpm: 10_000 })
            .at(10_001, 'A.manager-2', { ...NODE, change: 'skewed', driftPpm: 0 })
            .turn(100_000, ACQUIRED, takenOver(moment(100_100), 2), { ...M2, skewMs: 100 }),
      },
    },
    bad: {
      'it begins again': wrong({ startedAt: moment(100_000), baseAt: moment(100_000) }),
      'it falls behind': wrong({ baseAt: moment(20_000) }),
      'it runs ahead': wrong({ baseAt: moment(-60_000) }),
    },
  });

  const stuck = (atMs: number) => ended(moment(atMs), 'timedOut', 'stuck');
  const local = () =>
    accepted({ timeoutMs: 3_600_000 }).turn(118_000, ACQUIRED, takenOver(moment(118_000), 2), M2);

  testVerdicts(leaderlessTimeCounts, {
    good: { 'after the grace': () => local().turn(138_001, TIMER, stuck(138_001)) },
    bad: {
      'within the grace': () => local().turn(125_000, TIMER, stuck(125_000)),
      'without a grace': wrong({ stuckGraceUntil: 0 }),
      'as if no time had passed': wrong({ baseAt: moment(40_000) }),
    },
  });
});
