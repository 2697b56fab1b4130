/** The paths of a worker pool: workers that come, change and go, and workflows that want them. */

import { orderOf } from '../../../machines/jobs/ranks.ts';
import type { WorkerPoolContext } from '../../../machines/jobs/worker-pool.ts';
import { workerPoolMachine } from '../../../machines/jobs/worker-pool.ts';
import type { PathPlan } from '../../paths/plan.ts';

const rules = {
  baseDeadlineMs: 30_000,
  minGrantMs: 1_000,
  maxExtensions: 5,
  suspectGraceMs: 30_000,
  evictAfterDenials: 0,
  extensionWarningRemaining: 1,
  retentionMs: 3_600_000,
};

const registered = {
  type: 'worker.registered',
  workerId: 'W',
  coresTotal: 4,
  handlers: ['sleep'],
  attempts: [],
  pages: 2,
};
const request = {
  type: 'slot.requested',
  jobId: 'j1',
  cores: 2,
  handler: 'sleep',
  avoid: [],
  avoidWorkers: [],
  acceptedAt: 1,
  index: 0,
};

const LANE = 'sleep 2 first';
const found = {
  jobId: 'j1',
  attemptId: 'w3#1',
  order: orderOf({ acceptedAt: 9, jobId: 'j1', index: 3 }),
};

export const workerPoolPlan: PathPlan = {
  machine: workerPoolMachine,
  inputs: { pool: { datacenter: 'A', term: 1, rules, queueMax: 1 } },
  events: ({ term, registrations: registration, search }: WorkerPoolContext) => [
    { type: 'lanes.found', search: search?.number ?? 0, lanes: [LANE] },
    {
      type: 'waiting.found',
      search: search?.number ?? 0,
      found: [found],
      upTo: found.order,
      isAll: true,
    },
    { type: 'limits.told', queueMax: 2 },
    { ...registered, bootEpoch: 7, page: 1 },
    { ...registered, bootEpoch: 6, page: 1 },
    { ...registered, bootEpoch: 7, page: 2 },
    { ...request, attemptId: 'w1#1' },
    { ...request, attemptId: 'w2#1', cores: 4 },
    { type: 'slot.withdrawn', jobId: 'j1', attemptId: 'w2#1' },
    { type: 'slot.released', workerId: 'W', registration, cores: 2 },
    { type: 'worker.changed', workerId: 'W', registration, state: 'healthy', heard: true, term },
    { type: 'worker.changed', workerId: 'W', registration, state: 'suspect', heard: true, term },
    { type: 'worker.lost', workerId: 'W', registration, cause: 'evicted' },
  ],
  refusals: [['slot.granted', 'ACTOR_ENDED']],
  key: ({ workers: { W }, lanes, search, unexplored, queueMax }: WorkerPoolContext) => [
    W && [W.state, W.heard, W.coresReserved],
    Object.values(lanes).map(({ waiting, upTo }) => [
      waiting.map(({ attemptId }) => attemptId),
      upTo,
    ]),
    [search?.what, search?.isOutrun, search?.withdrawn?.length, unexplored, queueMax],
  ],
  stepsMax: 6,
};
