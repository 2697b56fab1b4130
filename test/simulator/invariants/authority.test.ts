/** Authority to say that a job has ended, and the ways by which it gets there. */

import { describe } from 'vitest';
import {
  authorityNeverChanges,
  onlyLeaderDecides,
  queueingIsNotStuck,
} from '../../../simulator/jobs/invariants/authority.ts';
import { chartsAreKept } from '../../../simulator/jobs/invariants/charts.ts';
import { commit, record, turn } from './builders.ts';
import { ACQUIRED, accepted, ended, JOB, moment, TIMER } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const overdue = (atMs: number) => ended(moment(atMs), 'timedOut', 'overall');
const timedOut = () => accepted().turn(60_001, TIMER, overdue(60_001), { state: 'ending' });
const changed = (more: object = {}) => ({
  type: 'workflow.changed',
  workflowId: 'w1',
  lateEvent: null,
  ...more,
});

describe('authority', () => {
  testVerdicts(authorityNeverChanges, {
    good: { local: () => accepted(), 'of a gate': () => accepted({ gateId: 'gate-1' }) },
    bad: {
      'it finds a gate': () => accepted().turn(10_000, TIMER, { gateId: 'gate-1' }),
      'it forgets its gate': () =>
        accepted({ gateId: 'gate-1' }).turn(10_000, TIMER, { gateId: null }),
      'it decides though it has a gate': () =>
        accepted({ gateId: 'gate-1' }).turn(
          10_000,
          ACQUIRED,
          {},
          { state: '{"localAuthority":"tracking"}' },
        ),
    },
  });

  testVerdicts(onlyLeaderDecides, {
    good: {
      'its writer': timedOut,
      'a worker that shows late what it wrote in time': () => {
        const tale = accepted().turn(60_001, TIMER, overdue(60_001), { isUnseen: true });
        const late = turn(JOB, {
          turn: 4,
          takenAt: moment(60_001),
          event: TIMER,
          context: tale.context,
        });
        return tale.at(60_002, 'A.manager-2', commit('A', 2)).at(70_000, 'A.manager-1', late);
      },
    },
    bad: {
      'one that did not write it': () => {
        const tale = accepted();
        const context = { ...tale.context, ...overdue(60_001) };
        const text = record(4, { snapshot: { value: 'ending', context } });
        const told = turn(JOB, { turn: 4, takenAt: moment(60_001), event: TIMER, context });
        return tale
          .at(60_001, 'A.manager-2', commit('A', 2, { [JOB]: text }))
          .at(60_001, 'A.manager-1', told);
      },
      'two under one fence': () =>
        accepted({ gateId: 'gate-1' })
          .turn(60_001, TIMER, { timeoutReportedAt: moment(60_001), localReason: 'overall' })
          .turn(400_000, TIMER, ended(moment(400_000), 'timedOut', 'fallback'), {
            node: 'A.manager-2',
          }),
    },
  });

  testVerdicts(queueingIsNotStuck, {
    good: {
      'it waits for its time budget only': () =>
        accepted({}, { standing: 'a' }).waits('overallLimit.job'),
    },
    bad: {
      'it waits to be stuck': () =>
        accepted({}, { standing: 'a' }).waits('overallLimit.job', 'stuckLimit.job'),
    },
  });
});

describe('charts', () => {
  const workflow = (...states: readonly string[]) => ({
    endsAtMs: 0,
    records: states.map((state, index) => ({
      index,
      atMs: 0,
      node: 'A.manager-1',
      ...turn('workflow/j1/w1@A', {
        turn: index + 1,
        state,
        ...(index === 0 && { event: { type: 'escapement.spawn' } }),
      }),
    })),
  });

  testVerdicts(chartsAreKept, {
    good: {
      'a job to its end': () => timedOut().turn(61_000, changed(), {}, { state: 'timedOut' }),
      'a workflow that is tried again': () =>
        workflow(
          '{"PENDING":"asking"}',
          '{"DISPATCHED":{}}',
          'RUNNING',
          '{"PENDING":"asking"}',
          '{"DISPATCHED":{}}',
          'COMPLETED',
        ),
    },
    bad: {
      'an end that is left': () => timedOut().turn(61_000, TIMER, {}, { state: '{"active":{}}' }),
      'a job that has not begun any more': () =>
        accepted().turn(10_000, TIMER, { status: 'submitted' }),
      'a report that is forgotten': () =>
        accepted({ gateId: 'gate-1' })
          .turn(60_001, TIMER, { timeoutReportedAt: moment(60_001), localReason: 'overall' })
          .turn(60_002, ACQUIRED, { timeoutReportedAt: null }),
      'a workflow that runs without a worker': () => workflow('{"PENDING":"asking"}', 'RUNNING'),
      'a workflow that comes back': () =>
        workflow('{"PENDING":"asking"}', 'CANCELLED', '{"PENDING":"asking"}'),
    },
  });
});
