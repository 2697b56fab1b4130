/** Messages of others to the workflow under test, and a workflow in each state that events lead to. */

import { type WorkflowContext, workflowMachine } from '../../../machines/jobs/workflow.ts';
import { type Saying, Stepper } from './stepper.ts';

export const rules = {
  maxRetries: 3,
  maxDispatchAttempts: 5,
  dispatchBackoffMinMs: 1_000,
  dispatchBackoffMaxMs: 60_000,
  dispatchAckTimeoutMs: 5_000,
  cancelGraceMs: 10_000,
};

export const JOB = 'job/j1@A';
export const POOL = 'worker-pool/main@A';
export const WORKER = 'worker/7@W';

export type Workflow = Stepper<WorkflowContext>;

export const newWorkflow = (more: Partial<typeof rules> = {}): Workflow =>
  new Stepper(workflowMachine, {
    jobId: 'j1',
    workflowId: 'w1',
    datacenter: 'A',
    index: 0,
    handler: 'sleep',
    payload: 'p',
    cores: 2,
    acceptedAt: 1,
    rules: { ...rules, ...more },
  });

const attemptNow = ({ context }: Workflow): string => `w1#${context.run}`;

export const granted = (workflow: Workflow, more: object = {}) => ({
  type: 'slot.granted',
  attemptId: attemptNow(workflow),
  workerId: 'W',
  registration: 1,
  bootEpoch: 7,
  cores: 2,
  term: 3,
  ...more,
});

/** The worker that has the attempt, if one has it. */
const fromWorker = (workflow: Workflow) => ({
  workerId: workflow.context.slot?.workerId ?? 'W',
  jobId: 'j1',
  attemptId: attemptNow(workflow),
});

export const answered = (workflow: Workflow, more: object = {}) => ({
  type: 'dispatch.answered',
  ...fromWorker(workflow),
  bootEpoch: 7,
  accepted: true,
  reason: null,
  term: 3,
  heartbeatSeq: 4,
  ...more,
});

export const rejected = (workflow: Workflow) =>
  answered(workflow, { accepted: false, reason: 'refused' });

export const result = (workflow: Workflow, more: object = {}) => ({
  type: 'result.received',
  ...fromWorker(workflow),
  ok: true,
  result: 'r',
  truncated: false,
  error: null,
  retryable: true,
  ...more,
});

export const failure = (workflow: Workflow, more: object = {}) =>
  result(workflow, { ok: false, result: null, error: { code: 'X', detail: 'd' }, ...more });

export const progress = (workflow: Workflow, more: object = {}) => ({
  type: 'progress.received',
  ...fromWorker(workflow),
  progress: 0.5,
  sinceProgressMs: 0,
  ...more,
});

export const stopped = (workflow: Workflow, more: object = {}) => ({
  type: 'attempt.stopped',
  ...fromWorker(workflow),
  killed: false,
  ...more,
});

export const cancelAnswered = (workflow: Workflow, more: object = {}) => ({
  type: 'cancel.answered',
  ...fromWorker(workflow),
  accepted: true,
  term: 3,
  ...more,
});

export const workerLost = (registration = 1) => ({
  type: 'worker.lost',
  workerId: 'W',
  registration,
  cause: 'evicted',
});

export const attemptLost = (workflow: Workflow, more: object = {}) => ({
  type: 'attempt.lost',
  attemptId: attemptNow(workflow),
  ...more,
});

export const CANCEL = { type: 'workflow.cancel', cause: 'cancelled' };
export const READY = { type: 'workflow.ready' };
export const PARENT_FAILED = { type: 'parent.failed', workflowId: 'w0' };

export function asking(more: Partial<typeof rules> = {}): Workflow {
  const workflow = newWorkflow(more);
  workflow.take(READY);
  return workflow;
}

export function dispatched(more: Partial<typeof rules> = {}): Workflow {
  const workflow = asking(more);
  workflow.take(granted(workflow));
  return workflow;
}

export function running(more: Partial<typeof rules> = {}): Workflow {
  const workflow = dispatched(more);
  workflow.take(answered(workflow));
  return workflow;
}

export function cancelling(): Workflow {
  const workflow = running();
  workflow.take(CANCEL);
  return workflow;
}

/** Waits out the pause after a dispatch that came to nothing. */
export function pausing(): Workflow {
  const workflow = dispatched();
  workflow.take(rejected(workflow));
  return workflow;
}

/** Forgets what it took to get there. */
export function fresh(workflow: Workflow): Workflow {
  workflow.said();
  workflow.notes();
  return workflow;
}

/** `FROM→TO` of every transition since the last look. */
export const moves = (workflow: Workflow): string[] =>
  workflow.notes('workflow.transition').map(({ from, to }) => `${from}→${to}`);

/** What the job was told last. */
export const told = (workflow: Workflow): Saying | undefined =>
  workflow.all.findLast(({ type }) => type === 'workflow.changed');
