/** Messages of a datacenter to the worker under test, and a worker that has heard them already. */

import { workerMachine } from '../../../machines/jobs/worker.ts';
import { WorkerStepper } from './worker-stepper.ts';

const rules = {
  heartbeatIntervalMs: 5_000,
  managerLostMs: 15_000,
  orphanGraceMs: 60_000,
  cancelGraceMs: 10_000,
};
export const input = {
  workerId: 'W',
  bootEpoch: 7,
  datacenter: 'A',
  coresTotal: 4,
  handlers: ['sleep'],
  rules,
};
export const POOL = 'worker-pool/main@A';
export const HEALTH = 'worker-health/W@A';

export const welcome = (more: object = {}) => ({
  type: 'register.answered',
  workerId: 'W',
  bootEpoch: 7,
  accepted: true,
  reason: null,
  term: 3,
  deadlineInMs: 30_000,
  stopAttempts: [],
  ...more,
});
export const acked = (more: object = {}) => ({
  type: 'heartbeat.acked',
  workerId: 'W',
  term: 3,
  heartbeatSeq: 1,
  registerAgain: false,
  stopAttempts: [],
  ...more,
});
export const announced = (more: object = {}) => ({
  type: 'leader.announced',
  term: 4,
  attempts: [],
  page: 1,
  pages: 1,
  ...more,
});
export const dispatch = (more: object = {}) => ({
  type: 'dispatch.requested',
  jobId: 'j1',
  attemptId: 'w1#1',
  datacenter: 'A',
  term: 3,
  handler: 'sleep',
  payload: '1',
  cores: 1,
  ...more,
});
export const cancel = (more: object = {}) => ({
  type: 'cancel.ordered',
  jobId: 'j1',
  attemptId: 'w1#1',
  datacenter: 'A',
  term: 3,
  cause: 'cancelled',
  ...more,
});
export const composed = (
  what: 'registration' | 'heartbeat',
  progress: object = {},
  range: unknown = { from: '', to: null },
) => ({ type: `${what}.composed`, progress, ...(what === 'heartbeat' && { range }) });
export const over = (what: 'finished' | 'ended', operationId = 'j1/w1#1') => ({
  type: `attempt.${what}`,
  operationId,
});

/** A worker that its datacenter knows. */
export function serving(given: object = {}): WorkerStepper {
  const worker = new WorkerStepper(workerMachine, { ...input, ...given }).take(welcome());
  worker.asked();
  return worker;
}

/** One that holds attempts `w1#1`, `w2#1`, … of `j1`, with a core each. */
export function holding(count: number, given: object = {}): WorkerStepper {
  const worker = serving(given);
  for (let number = 1; number <= count; number += 1)
    worker.take(dispatch({ attemptId: `w${number}#1` }));
  worker.sent();
  return worker;
}

export const region = (worker: WorkerStepper, name: string): unknown =>
  (worker.value as { active: Record<string, unknown> }).active[name];

/** The answers and stops of the last steps, short. */
export const heard = (worker: WorkerStepper) =>
  worker.sent().flatMap(({ to, event }) => {
    const { type, accepted, reason, cause, term } = event as unknown as Record<string, unknown>;
    // The first stop of an attempt comes with the spawn of what sees to it.
    if (type === 'escapement.spawn') return [];
    if (type === 'attempt.stop') return [[to, cause]];
    return [[to, type, accepted, ...(reason === undefined ? [] : [reason]), term]];
  });
export const WORKFLOW = 'workflow/j1/w1@A';
export const ATTEMPT = 'attempt/j1/w1/1@W';
