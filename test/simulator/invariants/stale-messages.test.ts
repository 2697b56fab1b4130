/** Decisions and messages that are not what they were: never obeyed, always answered. */

import { describe } from 'vitest';
import type { GateJobContext } from '../../../machines/jobs/gate-job/context.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { DecisionEpoch } from '../../../machines/jobs/messages/fields.ts';
import { Table } from '../../../runtime/machine.ts';
import { decisionEpochRises } from '../../../simulator/jobs/invariants/fences.ts';
import {
  staleIsAnsweredOnce,
  staleIsMadeGood,
  staleIsNeverObeyed,
} from '../../../simulator/jobs/invariants/stale-messages.ts';
import { history, sent, turn } from './builders.ts';
import { decided, G1, gate, known, restarted } from './gate-tale.ts';
import {
  ACQUIRED,
  accepted,
  ended,
  GATE_JOB,
  JOB,
  moment,
  type Tale,
  TIMER,
  takenOver,
} from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const M2 = { node: 'A.manager-2' };
const atGate = () => accepted({ gateId: 'gate-1', decisionEpoch: [1, 0], timeoutMs: 600_000 });
const led = (more: Partial<JobContext> = {}) =>
  atGate().turn(100_000, ACQUIRED, takenOver(moment(100_000), 2, more), M2);

const declared = (leaderFence: number, decisionEpoch: DecisionEpoch = [1, 1]) => ({
  type: 'timeout.declared',
  reason: 'overall',
  leaderFence,
  decisionEpoch,
});
const obeyed = (atMs: number, epoch: DecisionEpoch = [1, 1]): Partial<JobContext> => ({
  ...ended(moment(atMs), 'timedOut', 'global', { gateReason: 'overall' }),
  obeyedDecisionEpoch: epoch,
  highestDecisionEpoch: epoch,
});
const corrected = (leaderFence: number) => ({ type: 'status.corrected', leaderFence });

const report = (leaderFence: number, type = 'timeout.reported') => ({
  type,
  datacenter: 'A',
  leaderFence,
});

describe('decisions', () => {
  testVerdicts(decisionEpochRises, {
    good: {
      'made again': () =>
        gate()
          .turn(600_001, TIMER, decided([1, 1]), G1)
          .turn(600_100, corrected(3), decided([1, 2]), G1),
      'taken over': () =>
        gate()
          .turn(600_001, TIMER, decided([1, 1]), G1)
          .turn(
            600_050,
            ACQUIRED,
            restarted(2, { decision: { ...decided([1, 1]).decision } as never }),
            G1,
          )
          .turn(600_100, corrected(3), decided([2, 2]), G1),
    },
    bad: {
      'two under one epoch': () =>
        gate()
          .turn(600_001, TIMER, decided([1, 1]), G1)
          .turn(600_100, TIMER, decided([1, 1], 'datacenterTimeout'), G1),
      'made again under the same epoch': () =>
        gate()
          .turn(600_001, TIMER, decided([1, 1]), G1)
          .says(JOB, declared(1))
          .turn(600_100, corrected(3), decided([1, 1]), G1)
          .says(JOB, declared(2)),
      'an epoch below': () =>
        gate()
          .turn(600_001, TIMER, decided([1, 2]), G1)
          .turn(600_100, TIMER, decided([1, 1]), G1),
      'decided twice after a restart': () =>
        gate()
          .turn(600_001, TIMER, decided([1, 1]), G1)
          .turn(600_050, ACQUIRED, { decision: null, counter: 0 }, G1)
          .turn(600_100, TIMER, decided([1, 1], 'datacenterTimeout'), G1),
      'the boot number stays': () => gate().turn(600_050, ACQUIRED, { fence: 2 }, G1),
    },
  });

  const dispatched = (term: number) => ({ type: 'dispatch.requested', term });
  const worker = (
    number: number,
    term: number,
    attempts: Record<string, object>,
    event = dispatched(term),
  ) =>
    turn('worker/1@w-1', {
      turn: number,
      event,
      context: { term, attempts: Table.of(attempts), announcement: null },
    });
  const cancelled = (term: number) => ({ type: 'cancel.ordered', term });
  const stop = sent('worker/1@w-1', 1, 'attempt/j1/w1/1@w-1', { type: 'attempt.stop' });
  const held = {};

  testVerdicts(staleIsNeverObeyed, {
    good: {
      'by a job': () =>
        led()
          .turn(600_100, declared(1), {})
          .turn(600_200, declared(2, [1, 2]), obeyed(600_200, [1, 2])),
      'by a gate': () => gate().turn(100, report(1), {}, G1),
      'by a worker': () =>
        history().add('w-1', worker(1, 2, held), worker(2, 2, held, dispatched(1))),
      'by a worker that is to cancel': () =>
        history().add('w-1', worker(1, 2, held), worker(2, 2, held, cancelled(1))),
      'by a worker that then cancels for its present leader': () =>
        history()
          .add('w-1', worker(1, 2, held), worker(2, 2, held, cancelled(1)))
          .add('w-1', worker(3, 2, held, cancelled(2)), stop),
    },
    bad: {
      'an old fence': () => led().turn(600_100, declared(1), obeyed(600_100)),
      'an old epoch': () =>
        atGate()
          .turn(100_000, { type: 'ack.received', gateBoot: 3 }, { highestDecisionEpoch: [3, 0] })
          .turn(600_100, declared(1, [2, 5]), obeyed(600_100, [2, 5])),
      'an old epoch, once the higher one is forgotten': () =>
        atGate()
          .turn(100_000, { type: 'ack.received', gateBoot: 3 }, { highestDecisionEpoch: [3, 0] })
          .turn(
            200_000,
            ACQUIRED,
            takenOver(moment(200_000), 2, { highestDecisionEpoch: [1, 0] }),
            M2,
          ),
      'at a gate': () => gate().turn(100, report(1), known({ report: 'stuck' }), G1),
      'at a gate, which forgets the fence': () =>
        gate().turn(100, report(1), known({ leaderFence: 1 }), G1),
      'at a worker': () =>
        history().add('w-1', worker(1, 2, held), worker(2, 2, { a: {} }, dispatched(1))),
      'at a worker, which cancels': () =>
        history().add('w-1', worker(1, 2, held), worker(2, 2, held, cancelled(1)), stop),
      'at a worker, which forgets the term': () =>
        history().add('w-1', worker(1, 2, held), worker(2, 1, held)),
    },
  });

  const refusedDecision = () => led().turn(600_100, declared(1), {});
  const refusal = (leaderFence: number) => ({
    type: 'ack.received',
    reason: 'staleFence',
    leaderFence,
  });

  testVerdicts(staleIsAnsweredOnce, {
    good: {
      'by a job': () => refusedDecision().says(GATE_JOB, corrected(2)).turn(600_200, TIMER),
      'by a gate': () =>
        gate().turn(100, report(1), {}, G1).says(JOB, refusal(2)).turn(200, TIMER, {}, G1),
      'by a gate, with a hint to a correction': () =>
        gate()
          .turn(100, report(1, 'status.corrected'), {}, G1)
          .turn(150, report(1), {}, G1)
          .says(JOB, refusal(2)),
    },
    bad: {
      'not at all': () => refusedDecision().turn(600_200, TIMER),
      twice: () => refusedDecision().says(GATE_JOB, corrected(2)).says(GATE_JOB, corrected(2)),
      'with an old fence': () => refusedDecision().says(GATE_JOB, corrected(1)),
      'with nothing, by a gate': () => gate().turn(100, report(1), {}, G1),
      'with nothing, to an end': () => gate().turn(100, report(1, 'final.reported'), {}, G1),
    },
  });

  /** The gate has decided, and its decision is refused because a new leader is there. */
  const contradicted = (isMadeAnew = false) => {
    const decision = gate().turn(600_001, TIMER, decided([1, 1]), G1);
    // It has heard of the new leader before the datacenter took what was on its way.
    if (isMadeAnew) decision.turn(600_050, report(2), decided([1, 2]), G1);
    return { decision, job: led().turn(600_100, declared(1), {}) };
  };
  const merged = (
    ...tales: ReadonlyArray<Tale<never> | Tale<JobContext> | Tale<GateJobContext>>
  ) => {
    const records = tales.flatMap((tale) => tale.records).sort((a, b) => a.atMs - b.atMs);
    return {
      records: records.map((one, index) => ({ ...one, index })),
      endsAtMs: records.at(-1)?.atMs ?? 0,
    };
  };

  testVerdicts(staleIsMadeGood, {
    good: {
      'it is made again and obeyed': {
        told: () => {
          const { decision, job } = contradicted();
          return merged(
            decision.turn(600_150, corrected(2), decided([1, 2]), G1),
            job.turn(600_200, declared(2, [1, 2]), obeyed(600_200, [1, 2])),
          );
        },
        endedAtMs: 900_000,
      },
      'it was made again before that, and is obeyed': {
        told: () => {
          const { decision, job } = contradicted(true);
          return merged(decision, job.turn(600_200, declared(2, [1, 2]), obeyed(600_200, [1, 2])));
        },
        endedAtMs: 900_000,
      },
      'it is taken back': {
        told: () => {
          const { decision, job } = contradicted();
          return merged(decision.turn(600_150, corrected(2), { decision: null }, G1), job);
        },
        endedAtMs: 900_000,
      },
    },
    bad: {
      'nothing follows': {
        told: () => {
          const { decision, job } = contradicted();
          return merged(decision, job);
        },
        endedAtMs: 900_000,
      },
      'it was made again before that, and nothing follows': {
        told: () => {
          const { decision, job } = contradicted(true);
          return merged(decision, job);
        },
        endedAtMs: 900_000,
      },
      'it is refused for ever': () => {
        const { decision, job } = contradicted();
        for (let atMs = 605_000; atMs < 900_000; atMs += 5_000) job.turn(atMs, declared(1), {});
        return merged(decision, job);
      },
    },
  });
});
