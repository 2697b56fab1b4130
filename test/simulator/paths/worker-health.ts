/** The paths of a worker's health: what it says, what it is granted, and how long it is silent. */

import type { WorkerHealthContext } from '../../../machines/jobs/worker-health.ts';
import { workerHealthMachine } from '../../../machines/jobs/worker-health.ts';
import type { PathPlan } from '../../paths/plan.ts';

const rules = {
  baseDeadlineMs: 30_000,
  minGrantMs: 1_000,
  maxExtensions: 2,
  suspectGraceMs: 30_000,
  evictAfterDenials: 2,
  extensionWarningRemaining: 1,
  retentionMs: 3_600_000,
};

const registration = {
  type: 'registration.told',
  bootEpoch: 7,
  coresTotal: 4,
  handlers: ['sleep'],
  attempts: [],
};
const report = { jobId: 'j1', attemptId: 'w1#1', sinceProgressMs: 0, finished: false };
const request = {
  type: 'extension.requested',
  workerId: 'W',
  operationId: 'j1/w1#1',
  reason: 'long_workflow',
  activeWorkflowCount: 1,
  replyTo: 'client/c1@far',
};

export const workerHealthPlan: PathPlan = {
  machine: workerHealthMachine,
  inputs: {
    worker: { workerId: 'W', datacenter: 'A', rules },
    'worker with one extension': {
      workerId: 'W',
      datacenter: 'A',
      rules: { ...rules, maxExtensions: 1, evictAfterDenials: 0 },
    },
    'worker without extensions': {
      workerId: 'W',
      datacenter: 'A',
      rules: { ...rules, maxExtensions: 0, evictAfterDenials: 0 },
    },
  },
  events: ({ term, grantCount, denials }: WorkerHealthContext) => {
    const attempt = { jobId: 'j1', attemptId: 'w1#1' };
    const heartbeat = {
      type: 'heartbeat.received',
      workerId: 'W',
      term,
      heartbeatSeq: 2,
      coresTotal: 4,
      coresFree: 4,
      page: 1,
      pages: 1,
    };
    return [
      { ...registration, registration: 1, term },
      { ...registration, registration: 2, bootEpoch: 8, term },
      { ...heartbeat, bootEpoch: 7, attempts: [{ ...report, progress: 0.5 }] },
      { ...heartbeat, bootEpoch: 7, attempts: [] },
      { ...heartbeat, bootEpoch: 1, attempts: [] },
      { type: 'announce.answered', workerId: 'W', bootEpoch: 7, accepted: true, term },
      { type: 'announce.answered', workerId: 'W', bootEpoch: 1, accepted: true, term },
      {
        ...request,
        requestId: `r${grantCount}`,
        requestSeq: grantCount + 1,
        currentProgress: (grantCount + 1) / 8,
      },
      { ...request, requestId: 'copy', requestSeq: grantCount, currentProgress: 1 },
      { ...request, requestId: `o${grantCount}`, operationId: 'j1/w2#1', currentProgress: 0.5 },
      { ...request, requestId: `d${denials}`, currentProgress: 0 },
      { ...request, requestId: 'malformed', currentProgress: null },
      { ...request, requestId: `r${grantCount - 1}`, currentProgress: 1 },
      { type: 'attempt.placed', jobId: 'j1', attemptId: 'w2#1', registration: 1 },
      { type: 'attempt.placed', ...attempt, registration: 1 },
      { type: 'attempt.placed', ...attempt, registration: 9 },
      { type: 'attempt.running', ...attempt, registration: 1, heartbeatSeq: 1 },
      { type: 'attempt.running', ...attempt, registration: 9, heartbeatSeq: 1 },
      { type: 'attempt.ended', ...attempt, registration: 1 },
      { type: 'attempt.ended', ...attempt, registration: 9 },
      { type: 'credit.answered', creditId: 'r0', jobId: 'j1', answer: 'applied' },
      { type: 'credit.answered', creditId: 'r0', jobId: 'j1', answer: 'void' },
      { type: 'credit.closed', jobId: 'j1' },
    ];
  },
  late: ({ grantCount }: WorkerHealthContext) => [
    {
      event: { ...request, requestId: `l${grantCount}`, currentProgress: 1 } as never,
      lateMs: 100_000,
    },
  ],
  unreachable: {
    'workerHealth.trusted.standing.healthy on extension.requested (8)':
      'an attempt that was granted anything makes its worker extended or exhausted',
  },
  refusals: [
    ['extension.credited', 'ACTOR_ENDED'],
    ['worker.lost', 'ACTOR_UNKNOWN'],
    ['worker.changed', 'ACTOR_UNKNOWN'],
  ],
  key: (context: WorkerHealthContext) => {
    const { operations, denials, registration: number, pending, creditedJobs } = context;
    const grants = Array.from(operations.values(), (operation) => operation.grants ?? 0);
    return [number, grants, denials, pending.length > 0, creditedJobs.length > 0];
  },
};
