/**
 * The paths of a workflow: everything a worker, its job and the pool can say of the attempt that
 * counts, and of one before it.
 */

import type { WorkflowContext } from '../../../machines/jobs/workflow/context.ts';
import { workflowMachine } from '../../../machines/jobs/workflow.ts';
import type { PathPlan } from '../../paths/plan.ts';

const rules = {
  maxRetries: 1,
  maxDispatchAttempts: 2,
  dispatchBackoffMinMs: 1_000,
  dispatchBackoffMaxMs: 60_000,
  dispatchAckTimeoutMs: 5_000,
  cancelGraceMs: 10_000,
};

const told = { truncated: false, retryable: true };
const succeeded = { ...told, ok: true, result: 'r', error: null };
const failed = { ...told, ok: false, result: null, error: { code: 'X', detail: 'd' } };

function ofAttempt({ term, progress }: WorkflowContext, attemptId: string) {
  const from = { workerId: 'W', jobId: 'j1', attemptId };
  const slot = { workerId: 'W', registration: 1, bootEpoch: 7, cores: 2, term: 3 };
  const dispatch = { type: 'dispatch.answered', ...from, bootEpoch: 7, heartbeatSeq: 4 };
  const yes = { accepted: true, reason: null, term };
  const no = { accepted: false, reason: 'refused', term };
  const stale = { accepted: false, reason: 'staleTerm', term: term + 1 };
  const report = { sinceProgressMs: 0 };
  return [
    { type: 'slot.granted', attemptId, ...slot },
    { ...dispatch, ...yes },
    { ...dispatch, ...no },
    { ...dispatch, ...stale },
    { type: 'progress.received', ...from, ...report, progress: progress + 0.25 },
    { type: 'progress.received', ...from, ...report, progress: 0 },
    { type: 'attempt.progressed', attemptId, ...report, progress: progress + 0.25 },
    { type: 'attempt.progressed', attemptId, ...report, progress: 0 },
    { type: 'result.received', ...from, ...succeeded },
    { type: 'result.received', ...from, ...failed },
    { type: 'cancel.answered', ...from, accepted: true, term },
    { type: 'cancel.answered', ...from, accepted: false, term },
    { type: 'cancel.answered', ...from, accepted: false, term: term + 1 },
    { type: 'attempt.stopped', ...from, killed: false },
    { type: 'attempt.lost', attemptId },
  ];
}

export const workflowPlan: PathPlan = {
  machine: workflowMachine,
  inputs: {
    workflow: {
      jobId: 'j1',
      workflowId: 'w1',
      datacenter: 'A',
      index: 0,
      handler: 'sleep',
      payload: 'p',
      cores: 2,
      acceptedAt: 1,
      rules,
    },
    'ready when it is born': {
      ...{ jobId: 'j1', workflowId: 'w1', datacenter: 'A', index: 0, handler: 'sleep' },
      ...{ payload: 'p', cores: 2, acceptedAt: 1, rules, isReady: true },
    },
  },
  events: (context: WorkflowContext) => [
    { type: 'workflow.ready' },
    { type: 'workflow.held' },
    { type: 'workflow.cancel', cause: 'cancelled' },
    { type: 'parent.failed', workflowId: 'w0' },
    { type: 'slot.renew' },
    { type: 'shards.merged' },
    { type: 'clock.wentBack' },
    { type: 'worker.lost', workerId: 'W', registration: 1, cause: 'evicted' },
    { type: 'worker.lost', workerId: 'W', registration: 2, cause: 'evicted' },
    ...ofAttempt(context, `w1#${context.run}`),
    ...ofAttempt(context, `w1#${context.run - 1}`),
  ],
  key: ({ slot, run, failures, dispatchFailures, cancelsSent, progress }: WorkflowContext) => [
    slot !== null,
    [run, failures, dispatchFailures, cancelsSent],
    progress > 0,
  ],
  unreachable: {
    'workflow.FAILED on workflow.cancel': 'It is left in the step in which it is entered.',
    'workflow.FAILED_CANCELING_DEPENDENTS on workflow.cancel':
      'It is left in the step in which it is entered.',
  },
};
