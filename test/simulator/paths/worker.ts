/** The paths of a worker: leaders that come and go, attempts that it takes, and its own end. */

import type { WorkerContext } from '../../../machines/jobs/worker/context.ts';
import { workerMachine } from '../../../machines/jobs/worker.ts';
import type { PathPlan } from '../../paths/plan.ts';

const rules = {
  heartbeatIntervalMs: 5_000,
  managerLostMs: 8_000,
  orphanGraceMs: 500,
  cancelGraceMs: 10_000,
};

const welcome = {
  type: 'register.answered',
  workerId: 'W',
  reason: null,
  deadlineInMs: 30_000,
  stopAttempts: ['j1/w1#1'],
};
const acked = { type: 'heartbeat.acked', workerId: 'W', heartbeatSeq: 1, stopAttempts: [] };
const attempt = { jobId: 'j1', attemptId: 'w1#1', datacenter: 'A' };
const announced = { type: 'leader.announced', attempts: [], page: 1, pages: 1 };

export const workerPlan: PathPlan = {
  machine: workerMachine,
  inputs: {
    worker: {
      workerId: 'W',
      bootEpoch: 7,
      datacenter: 'A',
      coresTotal: 4,
      handlers: ['sleep'],
      rules,
    },
  },
  events: ({ term }: WorkerContext) => {
    const dispatch = { type: 'dispatch.requested', ...attempt, payload: 'p', cores: 2 };
    const cancel = { type: 'cancel.ordered', ...attempt, cause: 'cancelled' };
    const now = Math.max(term, 3);
    return [
      { ...welcome, bootEpoch: 7, accepted: true, term: now },
      { ...welcome, bootEpoch: 6, accepted: true, term: now },
      { ...welcome, bootEpoch: 7, accepted: false, reason: 'duplicateNode', term: now },
      { ...welcome, bootEpoch: 7, accepted: false, reason: 'duplicateNode', term: term - 1 },
      { ...acked, registerAgain: false, term: now },
      { ...acked, registerAgain: true, term: now },
      { ...acked, registerAgain: true, term: term - 1 },
      { ...announced, term: now },
      { ...announced, term: term - 1 },
      { ...dispatch, handler: 'sleep', term: now },
      { ...dispatch, handler: 'sleep', term: term - 1 },
      { ...dispatch, handler: 'other', term: now },
      { ...cancel, term: now },
      { ...cancel, term: term - 1 },
      { type: 'registration.composed', progress: {} },
      { type: 'heartbeat.composed', progress: {}, range: { from: '', to: null } },
      { type: 'attempt.finished', operationId: 'j1/w1#1' },
      { type: 'attempt.ended', operationId: 'j1/w1#1' },
      { type: 'manager.reachable' },
      { type: 'manager.unreachable' },
      { type: 'manager.lost' },
      { type: 'worker.stop', limitMs: 4_000 },
    ];
  },
  refusals: [['escapement.spawn', 'BIRTH_FAILED']],
  key: ({ term, attempts, past, unseen }: WorkerContext) => [
    term === 0,
    [...attempts.values()].map(({ isFinished }) => isFinished),
    past.size > 0,
    unseen.length > 0,
  ],
};
