/** Messages that are right in every field: from the wrong speaker they are wrong all the same. */

import { FIGURES as BEGUN } from '../figures.ts';

const FIGURES = { ...BEGUN, elapsedMs: 5_000 };
const ORIGIN = { jobId: 'j1', datacenter: 'A', managerId: 'A.manager-1', leaderFence: 1 };
export const DECLARED = {
  type: 'timeout.declared',
  jobId: 'j1',
  datacenter: 'A',
  reason: 'overall',
  detail: '',
  decisionEpoch: [9, 1],
  leaderFence: 1,
  sinceDeclaredMs: 0,
  elapsedMs: 1,
  timeoutMs: 600_000,
};
export const CANCEL = {
  type: 'cancel.requested',
  jobId: 'j1',
  datacenter: 'A',
  decisionEpoch: [9, 1],
  leaderFence: 1,
};
export const FINAL = {
  type: 'final.reported',
  ...ORIGIN,
  figures: FIGURES,
  workflowsTotal: 1,
  workflowsCompleted: 1,
  workflowsFailed: 0,
  status: 'completed',
  reason: null,
  localReason: null,
  gateReason: null,
  sinceEndedMs: 0,
  decisionEpoch: null,
  results: [],
  resultsOmitted: true,
};
export const PROGRESS_OF_WORKER = {
  type: 'progress.received',
  workerId: 'A.worker-1',
  jobId: 'j1',
  attemptId: 'w1#1',
  progress: 0.9,
  sinceProgressMs: 0,
};
export const RESULT = {
  type: 'result.received',
  workerId: 'A.worker-1',
  jobId: 'j1',
  attemptId: 'w1#1',
  ok: true,
  result: 'forged',
  truncated: false,
  error: null,
  retryable: true,
};
export const HEARTBEAT = {
  type: 'heartbeat.received',
  workerId: 'A.worker-1',
  bootEpoch: 1,
  term: 1,
  heartbeatSeq: 99,
  coresTotal: 4,
  coresFree: 4,
  attempts: [],
  page: 1,
  pages: 1,
};
const EXTENSION = {
  type: 'extension.requested',
  requestId: 'r1',
  workerId: 'A.worker-1',
  operationId: 'j1/w1#1',
  reason: 'long_workflow',
  currentProgress: 0.5,
  activeWorkflowCount: 1,
};

export const JOB = 'job/j1@A';
export const WORKFLOW = 'workflow/j1/w1@A';
export const HEALTH = 'worker-health/A.worker-1@A';
const POOL = 'worker-pool/main@A';
export const GATE_JOB = 'gate-job/j1@gate-1';

/** `code`: SENDER_REFUSED where nothing else is said. */
export type Case = readonly [what: string, from: string, to: string, event: object, code?: string];

/** What the node `evil`, which is nobody, may not say. */
export const FROM_NOBODY: readonly Case[] = [
  ['a decision of somebody who is no gate', 'gate-job/j1@evil', JOB, DECLARED],
  ['a cancel of a client that goes past the jobs service', 'session:1@evil', JOB, CANCEL],
  [
    'a cancel without a decision',
    'session:1@evil',
    JOB,
    { type: 'cancel.requested', jobId: 'j1', datacenter: 'A' },
  ],
  [
    'a question for status',
    'gate-job/j1@evil',
    JOB,
    { type: 'status.requested', jobId: 'j1', datacenter: 'A' },
  ],
  [
    'an extension that goes past the jobs service',
    'session:1@evil',
    JOB,
    { type: 'job.extend', requestId: 'r', byMs: 1, by: 'x' },
  ],
  [
    'a change of a workflow from elsewhere',
    'workflow/j1/w1@evil',
    JOB,
    {
      type: 'workflow.changed',
      workflowId: 'w1',
      state: 'COMPLETED',
      run: 1,
      final: true,
      workerId: null,
      cause: null,
      lateEvent: null,
    },
  ],
  [
    'credit from elsewhere',
    'worker-health/A.worker-1@evil',
    JOB,
    {
      type: 'extension.credited',
      creditId: 'c',
      workerId: 'A.worker-1',
      registration: 1,
      grantMs: 1_000_000,
      operationId: 'j1/w1#1',
    },
  ],
  [
    'the loss of a worker from elsewhere',
    'worker-health/A.worker-1@evil',
    JOB,
    { type: 'worker.lost', workerId: 'A.worker-1', registration: 1, cause: 'evicted' },
  ],
  [
    'leadership from elsewhere',
    'session:1@evil',
    JOB,
    { type: 'leadership.acquired', fence: 99 },
    'EVENT_RESERVED',
  ],
  [
    'a refusal from elsewhere',
    'session:1@evil',
    JOB,
    { type: 'message.refused', to: WORKFLOW, event: { type: 'x' }, code: 'ACTOR_ENDED' },
    'EVENT_RESERVED',
  ],
  ['a result for another worker', 'attempt/j1/w1/1@evil', WORKFLOW, RESULT],
  ['progress for another worker', 'worker/1@evil', WORKFLOW, PROGRESS_OF_WORKER],
  [
    'progress of somebody else',
    'worker/1@evil',
    WORKFLOW,
    { ...PROGRESS_OF_WORKER, workerId: 'evil', extra: 1 },
  ],
  [
    'a slot from elsewhere',
    'worker-pool/main@evil',
    WORKFLOW,
    {
      type: 'slot.granted',
      attemptId: 'w1#1',
      workerId: 'evil',
      registration: 1,
      bootEpoch: 1,
      cores: 1,
      term: 1,
    },
  ],
  ['a cancel of a workflow', 'job/j1@evil', WORKFLOW, { type: 'workflow.cancel', cause: 'x' }],
  ['a heartbeat for another worker', 'worker/1@evil', HEALTH, HEARTBEAT],
  ['a request for another worker', 'session:1@evil', HEALTH, EXTENSION],
  [
    'an attempt from elsewhere',
    'workflow/j1/w1@evil',
    HEALTH,
    { type: 'attempt.placed', jobId: 'j9', attemptId: 'w1#1', registration: 1 },
  ],
  [
    'a registration for another worker',
    'worker/1@evil',
    POOL,
    {
      type: 'worker.registered',
      workerId: 'A.worker-1',
      bootEpoch: 9_999_999_999_999,
      coresTotal: 4,
      handlers: [],
      attempts: [],
      page: 1,
      pages: 1,
    },
  ],
  [
    'a request for cores',
    'workflow/j1/w1@evil',
    POOL,
    {
      type: 'slot.requested',
      jobId: 'j9',
      attemptId: 'w1#1',
      cores: 1,
      handler: 'scripted',
      avoid: [],
      avoidWorkers: [],
      acceptedAt: 0,
      index: 0,
    },
  ],
  ['a final of no datacenter', 'job/j1@evil', GATE_JOB, FINAL],
  ['a final of a client', 'session:1@evil', GATE_JOB, FINAL],
  [
    'an answer to a submission',
    'desk/main@evil',
    GATE_JOB,
    {
      type: 'submission.answered',
      jobId: 'j1',
      datacenter: 'A',
      accepted: false,
      created: false,
      reason: null,
      leaderFence: 1,
      managerId: 'x',
    },
  ],
  [
    'a cancel at the gate that goes past its jobs service',
    'session:1@evil',
    GATE_JOB,
    { type: 'cancel.requested', jobId: 'j1', datacenter: 'gate-1' },
  ],
  ['rules for a job', 'session:1@evil', GATE_JOB, { type: 'rules.given', rules: {}, fence: 9 }],
];
