/** Ends of jobs: once, in time, and nothing after it. */

import { describe } from 'vitest';
import type { JobContext } from '../../../machines/jobs/job.ts';
import {
  doneIsNeverTooLate,
  everyJobEnds,
  oneEnd,
} from '../../../simulator/jobs/invariants/ends.ts';
import { overdueIsFound, stuckIsFound } from '../../../simulator/jobs/invariants/time-limits.ts';
import { fault, turn } from './builders.ts';
import { decided, G1, gate, said } from './gate-tale.ts';
import { standingAt } from './standing-at.ts';
import { ACQUIRED, accepted, EPOCH, ended, moment, TIMER, takenOver } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const overdue = (atMs: number) => ended(moment(atMs), 'timedOut', 'overall');
const timedOut = () => accepted().turn(60_001, TIMER, overdue(60_001), { state: 'ending' });
const changed = (more: object = {}) => ({
  type: 'workflow.changed',
  workflowId: 'w1',
  lateEvent: null,
  ...more,
});

/** As if it had never been. */
const SPAWNED_AGAIN = { status: 'submitted', endedAt: null, isAbandoned: undefined } as never;

describe('one end', () => {
  testVerdicts(oneEnd, {
    good: {
      'and then its final state': () =>
        timedOut().turn(60_500, changed(), {}, { state: 'timedOut' }),
      'after turns that nobody saw': () =>
        accepted()
          .turn(60_001, TIMER, overdue(60_001), { state: 'ending', isUnseen: true })
          .turn(70_000, ACQUIRED, { leaderFence: 2, term: 2 }, { node: 'A.manager-2' }),
      'given up, and submitted again': () =>
        accepted()
          .turn(60_000, TIMER, { ...ended(moment(60_000), 'cancelled'), isAbandoned: true })
          .turn(70_000, { type: 'escapement.spawn' }, SPAWNED_AGAIN)
          .turn(80_000, TIMER, ended(moment(80_000), 'completed')),
      'a disk is lost, and what was on it': () =>
        timedOut()
          .add(fault('diskLost', { place: 'A' }))
          .turn(
            70_000,
            { type: 'escapement.spawn' },
            { status: 'running', reason: null, endedAt: null },
          ),
    },
    bad: {
      'two ends': () => timedOut().turn(61_000, changed(), ended(moment(61_000), 'completed')),
      'another reason': () => timedOut().turn(61_000, TIMER, { reason: 'stuck' }),
      'another moment': () => timedOut().turn(61_000, TIMER, { endedAt: moment(61_000) }),
      'it runs again': () =>
        timedOut().turn(61_000, TIMER, { status: 'running', reason: null, endedAt: null }),
      'the first was seen by nobody': () =>
        accepted()
          .turn(60_001, TIMER, overdue(60_001), { isUnseen: true })
          .turn(70_000, TIMER, ended(moment(70_000), 'completed')),
      'its state is not its status': () =>
        timedOut().turn(61_000, TIMER, {}, { state: 'completed' }),
    },
  });

  const HEALED = { isFaultFree: false, healedAtMs: 10_000 };

  testVerdicts(everyJobEnds, {
    good: {
      'it has ended': { told: timedOut, facts: HEALED, endedAtMs: 9_000_000 },
      'there is time left': { told: () => accepted(), facts: HEALED, endedAtMs: 100_000 },
    },
    bad: {
      'it runs for ever': { told: () => accepted(), facts: HEALED, endedAtMs: 9_000_000 },
      'after a report that came to nothing': {
        told: () =>
          accepted({ gateId: 'gate-1' }).turn(60_001, TIMER, {
            timeoutReportedAt: moment(60_001),
            localReason: 'overall',
          }),
        facts: HEALED,
        endedAtMs: 9_000_000,
      },
    },
  });

  const done = ({ table }: JobContext) => ({ table: standingAt(table, 's') });

  testVerdicts(doneIsNeverTooLate, {
    good: {
      'what came too late is logged': () =>
        timedOut().turn(61_000, changed({ lateEvent: 'result.received' }), {
          lateEvents: [{ type: 'result.received', at: moment(61_000), detail: 'w1' }],
        }),
    },
    bad: {
      'all was done': () =>
        accepted().turn(59_000, changed(), done).turn(60_001, TIMER, overdue(60_001)),
      'all was done long ago, and it was not told': () =>
        accepted()
          .add(
            turn('workflow/j1/w1@A', {
              turn: 1,
              takenAt: EPOCH + 30_000,
              event: { type: 'escapement.spawn' },
              state: 'COMPLETED',
              context: { jobId: 'j1', workflowId: 'w1' },
            }),
          )
          .turn(60_001, TIMER, overdue(60_001)),
      'what came too late is not noted': () =>
        timedOut().turn(61_000, changed({ lateEvent: 'result.received' })),
    },
  });
});

describe('in time', () => {
  testVerdicts(overdueIsFound, {
    good: {
      'at once': timedOut,
      'after a takeover': () =>
        accepted()
          .turn(90_000, ACQUIRED, takenOver(moment(90_000), 2), { node: 'A.manager-2' })
          .turn(90_001, TIMER, overdue(90_001)),
    },
    bad: {
      'two seconds late': () => accepted().turn(62_001, TIMER, overdue(62_001)),
      never: { told: () => accepted(), endedAtMs: 300_000 },
      'not after the faults either': {
        told: () => accepted(),
        facts: { isFaultFree: false, healedAtMs: 100_000 },
        endedAtMs: 300_000,
      },
    },
  });

  const TRACKING = { ...G1, state: '{"tracking":{}}' };
  const DECLARING = { ...G1, state: '{"declaring":"overall"}' };
  /** Ten seconds after the time of the job is over its datacenter takes back the credit for which the gate waits. */
  const heardLate = (declaredMs: number) =>
    gate(60_000)
      .turn(59_000, said('progress.reported', {}, { extensionsMs: 30_000 }), {}, TRACKING)
      .turn(70_000, said('progress.reported'), {}, TRACKING)
      .turn(declaredMs, TIMER, decided([1, 1], 'overall', declaredMs), DECLARING);

  testVerdicts(overdueIsFound, {
    good: {
      'a gate hears that it is over, and asks once more': () => heardLate(70_300),
    },
    bad: {
      'a gate hears that it is over, and waits': () => heardLate(71_100),
      'a gate declares late what it has known all along': () =>
        gate(60_000)
          .turn(59_000, said('progress.reported'), {}, TRACKING)
          .turn(60_500, said('progress.reported'), {}, TRACKING)
          .turn(61_200, TIMER, decided([1, 1], 'overall', 61_200), DECLARING),
    },
  });

  const running = () => accepted({ timeoutMs: 3_600_000 });

  testVerdicts(stuckIsFound, {
    good: {
      'at once': () => running().turn(120_001, TIMER, ended(moment(120_001), 'timedOut', 'stuck')),
    },
    bad: {
      'two seconds late': () =>
        running().turn(122_001, TIMER, ended(moment(122_001), 'timedOut', 'stuck')),
      never: { told: running, endedAtMs: 500_000 },
    },
  });
});
