/** Leaders and the numbers that tell them apart. */

import { describe } from 'vitest';
import type { JobContext } from '../../../machines/jobs/job.ts';
import {
  deposedLeaderIsHarmless,
  fencesAreWhole,
  leaderFenceRises,
} from '../../../simulator/jobs/invariants/fences.ts';
import { leaderIsFound, oneLeaderPerFence } from '../../../simulator/jobs/invariants/leaders.ts';
import { commit, history, node, record } from './builders.ts';
import { G1, gate, known } from './gate-tale.ts';
import { ACQUIRED, accepted, GATE_JOB, JOB, moment, TIMER, takenOver } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const M2 = { node: 'A.manager-2' };
const atGate = () => accepted({ gateId: 'gate-1', decisionEpoch: [1, 0], timeoutMs: 600_000 });
const led = (more: Partial<JobContext> = {}) =>
  atGate().turn(100_000, ACQUIRED, takenOver(moment(100_000), 2, more), M2);

const report = (leaderFence: number, type = 'timeout.reported') => ({
  type,
  datacenter: 'A',
  leaderFence,
});

describe('the fence of leaders', () => {
  testVerdicts(leaderFenceRises, {
    good: {
      'by one with each leader': () =>
        led().says(GATE_JOB, { type: 'leader.transferred', leaderFence: 2 }),
      'above what a gate knew': () =>
        led().turn(101_000, { type: 'ack.received', leaderFence: 7 }, { leaderFence: 8 }),
    },
    bad: {
      'it stays': () => led({ leaderFence: 1 }),
      'it is not what was on disk': () =>
        led().turn(200_000, ACQUIRED, { leaderFence: 2, term: 3 }),
      'it rises by itself': () => atGate().turn(100_000, TIMER, { leaderFence: 2 }),
      'it falls': () => led().turn(101_000, TIMER, { leaderFence: 1 }),
      'it is said before it is on disk': () =>
        atGate()
          .turn(100_000, TIMER)
          .says(GATE_JOB, { type: 'leader.transferred', leaderFence: 2 }),
    },
  });

  testVerdicts(oneLeaderPerFence, {
    good: { 'one after the other': () => led() },
    bad: {
      'two under one fence': () => atGate().turn(100_000, TIMER, {}, M2),
      'two terms under one fence': () => atGate().turn(100_000, TIMER, { term: 2 }),
    },
  });

  const writes = (fence: number) => commit('A', fence, { [JOB]: record(fence) });

  testVerdicts(deposedLeaderIsHarmless, {
    good: {
      'the old one is refused': () =>
        history()
          .add('A.manager-1', writes(1))
          .add('A.manager-2', writes(2))
          .add('A.manager-1', commit('A', 1, {}, { change: 'refused' })),
    },
    bad: {
      'the old one writes': () =>
        history()
          .add('A.manager-1', writes(1))
          .add('A.manager-2', writes(2))
          .add('A.manager-1', writes(1)),
      'two write under one fence': () =>
        history().add('A.manager-1', writes(1)).add('A.manager-2', writes(1)),
    },
  });

  testVerdicts(fencesAreWhole, {
    good: { 'whole numbers': () => led() },
    bad: {
      'too large': () => led({ leaderFence: 2 ** 53 }),
      'a fraction': () => led({ term: 1.5 }),
      'of a datacenter at its gate': () =>
        gate().turn(100, report(3), known({ leaderFence: Number.NaN }), G1),
    },
  });

  const lease = (change: 'acquired' | 'lost', fence: number) =>
    ({ type: 'lease', place: 'A', change, fence }) as const;
  const first = () => history().at(-1_000).add('A.manager-1', lease('acquired', 1));

  testVerdicts(leaderIsFound, {
    good: {
      'soon after a crash': () =>
        first()
          .at(50_000)
          .add('A.manager-1', node('crashed'))
          .at(57_000)
          .add('A.manager-2', lease('acquired', 2)),
    },
    bad: {
      'long after a crash': () =>
        first()
          .at(50_000)
          .add('A.manager-1', node('crashed'))
          .at(80_000)
          .add('A.manager-2', lease('acquired', 2)),
      never: () =>
        first()
          .at(50_000)
          .add('A.manager-1', node('crashed'))
          .at(80_000)
          .add('A.worker-1', node('started')),
      'that forgets a job': {
        told: () => atGate().at(10_000, 'A.manager-2', lease('acquired', 2)),
        endedAtMs: 200_000,
      },
    },
  });
});
