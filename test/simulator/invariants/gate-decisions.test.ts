/** Decisions of a gate: when it decides, that it does so once, and whom it tells. */

import { describe } from 'vitest';
import {
  countsNoSilence,
  decidesByItsRules,
  decidesOnce,
  tellsEverybodyWhoRunsIt,
} from '../../../simulator/jobs/invariants/gate-decisions.ts';
import { actor } from './builders.ts';
import { decided, G1, gate, known, restarted, said } from './gate-tale.ts';
import { ACQUIRED, GATE_JOB, JOB, moment, TIMER } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const DECLARING = { ...G1, state: 'declaring' };
const TRACKING = { ...G1, state: 'tracking' };
const report = said;
const reported = report('timeout.reported', { reason: 'stuck' });

/** What the gate knows of the datacenter, and a decision in the same turn. */
const knownAnd =
  (of: object, more: object) =>
  (context: Parameters<ReturnType<typeof known>>[0]): object => ({
    ...known(of)(context),
    ...more,
  });

const told = (answer = 'sent', counter = 1) => ({
  decision: answer,
  told: { epoch: [1, counter], leaderFence: 2 },
});
const declared = (atMs = 600_001, reason = 'overall') =>
  gate().turn(atMs, TIMER, knownAnd(told(), decided([1, 1], reason, atMs)), DECLARING);
const withdrawn = { decision: null, withdrawn: 1 };
const accepts = {
  ...{ type: 'ack.received', ackOf: 'timeout.declared', datacenter: 'A' },
  ...{ accepted: true, decisionEpoch: [1, 1] },
};

describe('why a gate decides', () => {
  const stuck = { sinceProgressMs: 180_001, queued: false, lastSeenAt: moment(190_000) };
  const still = { sinceProgressMs: 180_001 };
  testVerdicts(decidesByItsRules, {
    good: {
      'the budget is used up': () => declared(),
      'a datacenter has reported': () =>
        gate().turn(
          150_000,
          reported,
          knownAnd(
            { run: 'reported', report: 'stuck' },
            decided([1, 1], 'datacenterTimeout', 150_000),
          ),
          DECLARING,
        ),
      'nothing moves anywhere': () =>
        gate().turn(
          190_000,
          report('progress.reported', {}, still),
          knownAnd(stuck, decided([1, 1], 'allDatacentersStuck', 190_000)),
          DECLARING,
        ),
    },
    bad: {
      'at the deadline, not after it': () => declared(600_000),
      'nobody has reported': () => declared(150_000, 'datacenterTimeout'),
      'the record says so and nobody did': () =>
        gate()
          .add(actor(GATE_JOB, 'born'))
          .turn(100, { type: 'escapement.spawn' }, {}, G1)
          .turn(
            150_000,
            report('progress.reported'),
            knownAnd(
              { run: 'reported', report: 'stuck' },
              decided([1, 1], 'datacenterTimeout', 150_000),
            ),
            DECLARING,
          ),
      'a credit of one millisecond is forgotten': () =>
        gate()
          .turn(100, report('progress.reported', {}, { extensionsMs: 1 }), {}, TRACKING)
          .turn(600_001, TIMER, decided([1, 1]), DECLARING),
      'a hold is forgotten': () =>
        gate()
          .turn(590_000, report('progress.reported', {}, { holdMs: 30_000 }), {}, TRACKING)
          .turn(600_001, TIMER, decided([1, 1]), DECLARING),
      'the moment is another': () =>
        gate().turn(600_005, TIMER, decided([1, 1], 'overall', 600_001), DECLARING),
      'it only waits for a worker': () =>
        gate().turn(
          190_000,
          report('progress.reported', {}, { ...still, queued: true }),
          knownAnd({ ...stuck, queued: true }, decided([1, 1], 'allDatacentersStuck', 190_000)),
          DECLARING,
        ),
      'the job is only watched': () =>
        gate().turn(
          600_001,
          TIMER,
          { ...decided([1, 1]), terms: { timeoutMs: 600_000, enforce: false } },
          DECLARING,
        ),
    },
  });
});

describe('silence', () => {
  const silent = (lastMs: number, figures: object = {}, more: object = {}) =>
    gate()
      .turn(
        lastMs,
        report('progress.reported', {}, { sinceProgressMs: 180_001, ...figures }),
        known({ sinceProgressMs: 180_001, lastSeenAt: moment(lastMs), ...more }),
        TRACKING,
      )
      .turn(200_000, TIMER, decided([1, 1], 'allDatacentersStuck', 200_000), DECLARING);
  testVerdicts(countsNoSilence, {
    good: {
      'it was heard just before': () => silent(195_000),
      'it holds back because of silence alone': () =>
        gate()
          .turn(
            160_000,
            report('progress.reported', {}, { sinceProgressMs: 180_001 }),
            {},
            TRACKING,
          )
          .turn(200_000, TIMER, {}, TRACKING),
    },
    bad: {
      'it is silent': () => silent(169_000),
      'it is silent, and the record says otherwise': () =>
        silent(169_000, {}, { lastSeenAt: moment(199_000) }),
      'it queues': () => silent(195_000, { queued: true }),
      'it has got further': () => silent(195_000, { sinceProgressMs: 0 }),
    },
  });
});

describe('one decision', () => {
  testVerdicts(decidesOnce, {
    good: {
      'it stands': () => declared().turn(600_100, accepts, known(told('accepted')), DECLARING),
      'it is issued again after a restart': () =>
        declared()
          .turn(600_200, ACQUIRED, restarted(2), { ...G1, state: 'recovering' })
          .turn(620_300, TIMER, { ...decided([2, 1], 'overall', 600_001) }, DECLARING),
      'it is withdrawn because nobody has obeyed and nothing is due': () =>
        declared(150_000).turn(
          150_100,
          report('status.corrected'),
          knownAnd({ told: null }, withdrawn),
          TRACKING,
        ),
    },
    bad: {
      'it is withdrawn although it was accepted': () =>
        declared(150_000)
          .turn(150_100, accepts, known(told('accepted')), DECLARING)
          .turn(150_200, report('status.corrected'), knownAnd({ told: null }, withdrawn), TRACKING),
      'it was accepted, and the record has lost that': () =>
        declared(150_000)
          .turn(150_100, accepts, known(told()), DECLARING)
          .turn(150_200, report('status.corrected'), knownAnd({ told: null }, withdrawn), TRACKING),
      'a rule is due, and the record says that it has ended': () =>
        declared().turn(
          600_100,
          report('status.corrected'),
          knownAnd({ run: 'final', told: null }, withdrawn),
          TRACKING,
        ),
      'it is withdrawn by what accepts it': () =>
        declared(150_000).turn(
          150_100,
          {
            type: 'ack.received',
            ackOf: 'timeout.declared',
            accepted: true,
            decisionEpoch: [1, 1],
          },
          knownAnd({ told: null }, withdrawn),
          TRACKING,
        ),
      'it is withdrawn although a rule is due': () =>
        declared().turn(
          600_100,
          report('status.corrected'),
          knownAnd({ told: null }, withdrawn),
          TRACKING,
        ),
      'it is declared a second time': () =>
        declared().turn(620_000, TIMER, { ...decided([2, 1]), declared: 2 }, DECLARING),
      'its reason changes': () =>
        declared().turn(620_000, TIMER, decided([1, 2], 'datacenterTimeout'), DECLARING),
      'it is dropped': () => declared().turn(620_000, TIMER, { decision: null }, TRACKING),
      'the outcome changes': () => {
        const outcome = { status: 'timedOut', reason: 'overall' } as never;
        return declared()
          .turn(600_300, report('final.reported'), { outcome }, { ...G1, state: 'settled' })
          .turn(600_400, report('final.reported'), {
            outcome: { ...(outcome as object), status: 'failed' } as never,
          });
      },
    },
  });
});

describe('who is told', () => {
  const order = { type: 'timeout.declared', datacenter: 'A' };
  testVerdicts(tellsEverybodyWhoRunsIt, {
    good: {
      'everybody once': () => declared().says(JOB, order),
      'again under a new epoch': () =>
        declared()
          .says(JOB, order)
          .turn(
            600_300,
            report('status.corrected'),
            knownAnd(told('sent', 2), decided([1, 2])),
            DECLARING,
          )
          .says(JOB, order),
      'who came too late is told to drop it': () =>
        gate()
          .turn(600_001, TIMER, knownAnd({ run: 'late', ...told() }, decided([1, 1])), DECLARING)
          .says(JOB, { ...order, type: 'cancel.requested' }),
    },
    bad: {
      'it counts as told and was not': () => declared(),
      'it was left out': () => gate().turn(600_001, TIMER, decided([1, 1]), DECLARING),
      'somebody else is told': () =>
        declared()
          .says(JOB, order)
          .says('job/j1@B', { ...order, datacenter: 'B' }),
      'it has ended already': () =>
        gate()
          .turn(500_000, report('final.reported', { status: 'completed' }), {}, G1)
          .turn(600_001, TIMER, knownAnd({ run: 'final', ...told() }, decided([1, 1])), DECLARING)
          .says(JOB, order),
      'it has ended already, and the record has lost that': () =>
        gate()
          .turn(500_000, report('final.reported', { status: 'completed' }), {}, G1)
          .turn(600_001, TIMER, knownAnd(told(), decided([1, 1])), DECLARING)
          .says(JOB, order),
      'the record counts it as one that came too late': () =>
        gate().turn(600_001, TIMER, knownAnd({ run: 'late' }, decided([1, 1])), DECLARING),
      'it has accepted, and the record has lost that': () =>
        declared()
          .says(JOB, order)
          .turn(600_100, accepts, known(told()), DECLARING)
          .turn(600_300, TIMER, knownAnd(told('sent', 2), decided([1, 2])), DECLARING)
          .says(JOB, order),
      'it has accepted already': () =>
        declared()
          .says(JOB, order)
          .turn(600_100, accepts, known(told('accepted')), DECLARING)
          .turn(600_300, TIMER, knownAnd(told('sent', 2), decided([1, 2])), DECLARING)
          .says(JOB, order),
    },
  });
});
