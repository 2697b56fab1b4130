/** Reports of datacenters: what a gate takes from them, and what it does not. */

import { describe } from 'vitest';
import {
  goesForward,
  ignoresStrangers,
  inventsNothing,
} from '../../../simulator/jobs/invariants/gate-reports.ts';
import { actor } from './builders.ts';
import { decided, G1, gate, known, said } from './gate-tale.ts';
import { GATE_JOB } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const says = said;
const isReported = { run: 'reported', report: 'stuck' };
const hasEnded = { run: 'final', final: { status: 'completed' } };
const stuck = says('timeout.reported', { reason: 'stuck' });
const completed = says('final.reported', { status: 'completed' });

describe('what was told', () => {
  testVerdicts(inventsNothing, {
    good: {
      'a timeout and an end': () =>
        gate().turn(200, stuck, known(isReported), G1).turn(300, completed, known(hasEnded), G1),
      'a correction brings a timeout': () => {
        const corrected = says(
          'status.corrected',
          { status: 'running', localReason: 'stuck' },
          { locallyTimedOut: true },
        );
        return gate().turn(200, corrected, known(isReported), G1);
      },
      'what was found at the jobs service': () =>
        gate().turn(
          200,
          says('status.found', { found: { status: 'completed' } }),
          known(hasEnded),
          G1,
        ),
    },
    bad: {
      'an end out of nothing': () =>
        gate().turn(200, says('progress.reported'), known(hasEnded), G1),
      'another end than was told': () =>
        gate().turn(200, says('final.reported', { status: 'failed' }), known(hasEnded), G1),
      'another reason than was told': () =>
        gate().turn(
          200,
          says('final.reported', { status: 'timedOut', reason: 'fallback' }),
          known({ run: 'final', final: { status: 'timedOut', reason: 'global' } }),
          G1,
        ),
      'a reason of the jobs service that is lost': () =>
        gate().turn(
          200,
          says('status.found', { found: { status: 'failed', reason: 'workflowFailed' } }),
          known({ run: 'final', final: { status: 'failed', reason: null } }),
          G1,
        ),
      'a report that counts for nothing': () =>
        gate().turn(200, stuck, known({ run: 'running', report: 'stuck' }), G1),
      'a timeout out of nothing': () =>
        gate().turn(200, says('progress.reported'), known(isReported), G1),
      'of another datacenter': () =>
        gate().turn(200, { ...stuck, datacenter: 'B' }, known(isReported), G1),
      'an end that is forgotten': () => gate().turn(200, completed, known({ lastSeenAt: 1 }), G1),
      'a timeout that is forgotten': () => gate().turn(200, stuck, known({ lastSeenAt: 1 }), G1),
      'it is born with an end': () =>
        gate(600_000, hasEnded)
          .add(actor(GATE_JOB, 'born'))
          .turn(100, { type: 'escapement.spawn' }, {}, G1),
    },
  });
});

describe('strangers', () => {
  const stranger = { ...stuck, datacenter: 'Z' };
  const rebuilt = (more: object = {}) =>
    gate()
      .add(actor(GATE_JOB, 'born'))
      .turn(100, { type: 'escapement.spawn' }, { isRebuilt: true, ...more }, G1);
  testVerdicts(ignoresStrangers, {
    good: {
      'nothing follows': () => gate().turn(200, stranger, {}, G1),
      'the budget has run out meanwhile': () => gate().turn(600_001, stranger, decided([1, 1]), G1),
      'a job that is learnt of': () => rebuilt(),
    },
    bad: {
      'it decides': () => gate().turn(200, stranger, decided([1, 1], 'datacenterTimeout'), G1),
      'it is taken for another': () => gate().turn(200, stranger, known(isReported), G1),
      'it becomes a target': () =>
        gate().turn(
          200,
          stranger,
          ({ datacenters }) => ({ datacenters: { ...datacenters, Z: datacenters['A'] as never } }),
          G1,
        ),
      'an outcome follows': () =>
        gate().turn(200, stranger, { outcome: { status: 'timedOut' } as never }, G1),
      'a job that is learnt of is decided': () => rebuilt(decided([1, 1])),
    },
  });
});

describe('forward', () => {
  const at = (more: object) =>
    gate().turn(200, stuck, known({ reportSeq: 5, elapsedMs: 150, ...more }), G1);
  const late = says('progress.reported', { leaderFence: 1 });
  const absent = { type: 'status.found', datacenter: 'A', found: null };
  testVerdicts(goesForward, {
    good: {
      'a newer leader takes a report back': () =>
        at(isReported).turn(
          300,
          says('progress.reported', { leaderFence: 3 }),
          known({ run: 'running', report: null, leaderFence: 3, reportSeq: 1, elapsedMs: 100 }),
          G1,
        ),
      'an old message': () => at(isReported).turn(300, late, {}, G1),
      'who was never heard has no such job': () =>
        gate().turn(200, absent, known({ run: 'refused' }), G1),
    },
    bad: {
      'a report is gone': () => at(isReported).turn(300, stuck, known({ run: 'running' }), G1),
      'an end is gone': () =>
        at(hasEnded).turn(300, stuck, known({ run: 'reported', leaderFence: 3 }), G1),
      'a smaller fence': () => at({}).turn(300, stuck, known({ leaderFence: 1 }), G1),
      'an earlier report': () => at({}).turn(300, stuck, known({ reportSeq: 4 }), G1),
      'earlier figures': () => at({}).turn(300, stuck, known({ elapsedMs: 149 }), G1),
      'an old message counts as heard': () => at({}).turn(300, late, known({ lastSeenAt: 7 }), G1),
      'who was heard is found to have no such job': () =>
        at({}).turn(300, absent, known({ run: 'refused' }), G1),
      'who was never heard is given up without asking': () =>
        gate().turn(200, stuck, known({ run: 'refused' }), G1),
      'who refused takes part': () =>
        at({ run: 'refused' }).turn(300, stuck, known({ run: 'running' }), G1),
    },
  });
});
