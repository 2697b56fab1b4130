/** A datacenter without its gate. */

import { describe } from 'vitest';
import type { JobContext } from '../../../machines/jobs/job.ts';
import {
  endsOnce,
  fallsBackAtLast,
  fallsBackLate,
  fallsBackOnlyWhenDue,
} from '../../../simulator/jobs/invariants/fallback.ts';
import {
  ACQUIRED,
  accepted,
  type Circumstances,
  ended,
  input,
  moment,
  TIMER,
  takenOver,
} from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const REPORTED = {
  state: '{"active":{"authority":{"leading":{"gateCoordinated":{"reported":"armed"}}}}}',
};
const FALLBACK = { type: 'xstate.after.fallbackLimit' };

const reports = (atMs: number): Partial<JobContext> => ({
  timeoutReportedAt: moment(atMs),
  localReason: 'overall',
  lastGateContactAt: moment(50_000),
});
const reported = (how: Circumstances = REPORTED) =>
  accepted({ gateId: 'gate-1' })
    .turn(50_000, { type: 'ack.received' }, { lastGateContactAt: moment(50_000) })
    .turn(60_001, TIMER, reports(60_001), how);
const fallsBack = (atMs: number) =>
  ended(moment(atMs), 'timedOut', 'fallback', { localReason: 'overall' });
const heard = (atMs: number) => ({ lastGateContactAt: moment(atMs) });

describe('not too early', () => {
  testVerdicts(fallsBackLate, {
    good: {
      'after the fallback time': () => reported().turn(360_002, FALLBACK, fallsBack(360_002)),
      'after the last word of the gate': () =>
        reported()
          .turn(100_000, { type: 'ack.received' }, heard(100_000))
          .turn(400_001, FALLBACK, fallsBack(400_001)),
      'a leader whose clock is ahead': {
        told: () =>
          reported()
            .turn(100_000, ACQUIRED, takenOver(moment(105_000), 2), {
              node: 'A.manager-2',
              skewMs: 5_000,
            })
            .turn(355_002, FALLBACK, ended(moment(360_002), 'timedOut', 'fallback'), {
              skewMs: 5_000,
            }),
        facts: { epsilonMs: 5_000 },
      },
    },
    bad: {
      'a millisecond too early': () => reported().turn(360_001, FALLBACK, fallsBack(360_001)),
      'the gate answers': () =>
        reported()
          .turn(200_000, { type: 'ack.received' }, heard(200_000))
          .turn(360_002, FALLBACK, fallsBack(360_002)),
      'the gate answers, and that is not kept': () =>
        reported()
          .turn(200_000, { type: 'ack.received' })
          .turn(360_002, FALLBACK, fallsBack(360_002)),
      'the record has an earlier report': () =>
        accepted({ gateId: 'gate-1' })
          .turn(50_000, { type: 'ack.received' }, { lastGateContactAt: moment(50_000) })
          .turn(60_001, TIMER, { ...reports(60_001), timeoutReportedAt: moment(30_000) }, REPORTED)
          .turn(350_001, FALLBACK, fallsBack(350_001)),
      'the record has another fallback time than is configured': () =>
        accepted({
          gateId: 'gate-1',
          rules: { ...input().rules, gateFallbackMs: 100_000 },
        })
          .turn(60_001, TIMER, { ...reports(60_001), lastGateContactAt: moment(0) }, REPORTED)
          .turn(160_002, FALLBACK, fallsBack(160_002)),
      'the report is not durable yet': () =>
        accepted({ gateId: 'gate-1' }).turn(360_002, FALLBACK, {
          ...reports(60_001),
          ...fallsBack(360_002),
        }),
    },
  });
});

describe('not for ever', () => {
  const waited = (endedAtMs: number, told = reported) => ({ told, endedAtMs });
  testVerdicts(fallsBackAtLast, {
    good: {
      'it ends': () => reported().turn(360_002, FALLBACK, fallsBack(360_002)),
      'over two failovers': () =>
        reported()
          .turn(100_000, ACQUIRED, takenOver(moment(100_000), 2))
          .turn(200_000, ACQUIRED, takenOver(moment(200_000), 3))
          .turn(360_002, FALLBACK, fallsBack(360_002)),
    },
    bad: {
      'it waits on': waited(500_000),
      'each failover begins again': () =>
        reported()
          .turn(200_000, ACQUIRED, takenOver(moment(200_000), 2))
          .turn(500_001, FALLBACK, fallsBack(500_001)),
      'a failover passes for a word of the gate': () =>
        reported()
          .turn(200_000, ACQUIRED, takenOver(moment(200_000), 2, heard(200_000)))
          .turn(500_001, FALLBACK, fallsBack(500_001)),
      'it waits after a word of the gate': waited(900_000, () =>
        reported().turn(200_000, { type: 'ack.received' }, heard(200_000)),
      ),
    },
  });
});

describe('only when due', () => {
  testVerdicts(fallsBackOnlyWhenDue, {
    good: { 'it had reported': () => reported().turn(360_002, FALLBACK, fallsBack(360_002)) },
    bad: {
      'it has no gate': () => accepted().turn(360_002, FALLBACK, fallsBack(360_002), REPORTED),
      'it was never due': () =>
        accepted({ gateId: 'gate-1' }).turn(
          360_002,
          FALLBACK,
          ended(moment(360_002), 'timedOut', 'fallback'),
        ),
      'it is tracked': () => reported({}).turn(360_002, FALLBACK, fallsBack(360_002)),
      'the reason changes': () =>
        reported().turn(360_002, FALLBACK, { ...fallsBack(360_002), localReason: 'stuck' }),
    },
  });
});

describe('one end', () => {
  const decision = { type: 'timeout.declared', decisionEpoch: [1, 1], leaderFence: 1 };
  const over = () => reported().turn(360_002, FALLBACK, fallsBack(360_002), { state: 'ending' });
  const noted = {
    lateEvents: [{ type: 'timeout.declared', at: moment(400_000), detail: 'final' }],
  };
  testVerdicts(endsOnce, {
    good: {
      'the decision comes too late': () => over().turn(400_000, decision, noted),
      'of a leader to come': () => over().turn(400_000, { ...decision, leaderFence: 2 }),
      'it was obeyed and comes again': () =>
        reported()
          .turn(70_000, decision, {
            ...ended(moment(70_000), 'timedOut', 'global'),
            obeyedDecisionEpoch: [1, 1],
          })
          .turn(71_000, decision),
    },
    bad: {
      'the end changes': () => over().turn(400_000, decision, { ...noted, reason: 'global' }),
      'it is not noted': () => over().turn(400_000, decision),
    },
  });
});
