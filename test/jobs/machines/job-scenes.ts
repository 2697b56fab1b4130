/**
 * A job, what its workflows, its workers and its gate say to it, and how it stands.
 */

import { viewOf } from '../../../machines/jobs/job/table.ts';
import { type JobContext, jobMachine } from '../../../machines/jobs/job.ts';
import type { JobRules } from '../../../machines/jobs/rules.ts';
import { type Saying, SPAWNED_AT, Stepper } from './stepper.ts';

export const rules: JobRules = {
  gateFallbackMs: 300_000,
  reportIntervalMs: 10_000,
  allStuckThresholdMs: 180_000,
  extensionAggregation: 'sum',
  extensionJobCapMs: null,
  stuckWhileQueued: false,
  checkIntervalMs: 30_000,
};

export type Job = Stepper<JobContext>;

export const GATE = 'gate-job/j1@gate-1';

interface Terms {
  readonly rules?: object;
  readonly ids?: readonly string[];
  readonly [field: string]: unknown;
}

const terms = {
  jobId: 'j1',
  datacenter: 'A',
  managerId: 'A.manager-1',
  term: 3,
  gateId: null,
  digest: 'd',
  timeoutMs: 60_000,
  stuckThresholdMs: 120_000,
  failFast: false,
  enforce: true,
  targetDatacenters: ['A'],
  decisionEpoch: [0, 0],
  ids: ['w1'],
  dependsOn: {},
};

export const inputOf = (more: Terms = {}) => ({
  ...terms,
  ...more,
  rules: { ...rules, ...more.rules },
});

export const assembling = (more: Terms = {}): Job => new Stepper(jobMachine, inputOf(more));

/** Accepted at 0. */
export function accepted(more: Terms = {}): Job {
  const job = assembling(more);
  job.take({ type: 'job.assembled' });
  return job;
}

/** One whose first workflow runs, since 0. */
export function running(more: Terms = {}): Job {
  const job = accepted(more);
  const [first = 'w1'] = viewOf(job.context.table).ids;
  job.take(changed(first, 'DISPATCHED'));
  job.take(changed(first, 'RUNNING'));
  return fresh(job);
}

export const atGate = (more: Terms = {}): Job =>
  running({
    gateId: 'gate-1',
    decisionEpoch: [1, 0],
    targetDatacenters: ['A', 'B'],
    timeoutMs: 600_000,
    ...more,
  });

/** One that has reported `stuck` to its gate, at 120.001 s. */
export const reported = (more: Terms = {}): Job => fresh(atGate(more).until(120_001));

export function fresh(job: Job): Job {
  job.said();
  job.notes();
  return job;
}

export const changed = (workflowId: string, state: string, more: object = {}) => ({
  type: 'workflow.changed',
  workflowId,
  state,
  run: 1,
  final: ['COMPLETED', 'AGGREGATED', 'CANCELLED'].includes(state),
  workerId: 'W',
  cause: null,
  lateEvent: null,
  ...more,
});

export const failed = (workflowId: string, cause = 'failed') =>
  changed(workflowId, 'FAILED', { final: true, cause });

export const progressed = (sinceProgressMs = 0) => ({
  type: 'workflow.progressed',
  workflowId: 'w1',
  sinceProgressMs,
});

let credits = 0;

export const granted = (workerId: string, grantMs: number, more: object = {}) => {
  credits += 1;
  return {
    type: 'extension.credited',
    creditId: `c${credits}`,
    workerId,
    registration: 1,
    grantMs,
    operationId: 'j1/w1#1',
    ...more,
  };
};

export const lost = (workerId: string) => ({
  type: 'worker.lost',
  workerId,
  registration: 1,
  cause: 'evicted',
});

let requests = 0;

export const extend = (byMs: number, more: object = {}) => {
  requests += 1;
  return {
    type: 'job.extend',
    requestId: `e${requests}`,
    byMs,
    by: 'ann',
    replyTo: 'session/s1@A',
    ...more,
  };
};

export const declared = (more: object = {}) => ({
  type: 'timeout.declared',
  jobId: 'j1',
  datacenter: 'A',
  reason: 'datacenterTimeout',
  detail: '',
  decisionEpoch: [1, 1],
  leaderFence: 1,
  sinceDeclaredMs: 0,
  elapsedMs: 0,
  timeoutMs: 600_000,
  ...more,
});

/** From the jobs service of the datacenter. */
export const cancel = (replyTo = 'session/s1@A') => ({
  type: 'cancel.requested',
  jobId: 'j1',
  datacenter: 'A',
  replyTo,
});

/** From the gate. */
export const gateCancel = (more: object = {}) => ({
  type: 'cancel.requested',
  jobId: 'j1',
  datacenter: 'A',
  decisionEpoch: [1, 1],
  leaderFence: 1,
  ...more,
});

export const acked = (ackOf: string, more: object = {}) => ({
  type: 'ack.received',
  jobId: 'j1',
  datacenter: 'A',
  ackOf,
  accepted: true,
  duplicate: false,
  reason: null,
  leaderFence: 1,
  gateBoot: 1,
  highestDecisionEpoch: null,
  decisionEpoch: null,
  reportSeq: null,
  ...more,
});

export const acquired = (fence: number, node = 'A.manager-2') => ({
  type: 'leadership.acquired',
  fence,
  node,
});

/** `[status, reason]` as others see it. */
export const standing = ({ context }: Job) => [context.status, context.reason];

/** When it ended, in ms after its spawn; null while it has not. */
export const endedMs = ({ context }: Job): number | null =>
  context.endedAt === null ? null : context.endedAt - SPAWNED_AT;

export const answersOf = (said: readonly Saying[]): unknown[] =>
  said.filter(({ type }) => type === 'escapement.reply').map(({ value }) => value);

export const toGate = (said: readonly Saying[]): Saying[] => said.filter(({ to }) => to === GATE);

/** The workflows that were told `type` since the last look. */
export const toldWorkflows = (job: Job, type: string): string[] =>
  job.said(type).map(({ to }) => to.slice('workflow/j1/'.length, -'@A'.length));
