/**
 * A worker's health, what the worker says to it, and the attempts it is given.
 */

import {
  type WorkerHealthContext,
  workerHealthMachine,
} from '../../../machines/jobs/worker-health.ts';
import { type Noted, type Saying, Stepper } from './stepper.ts';

export const rules = {
  baseDeadlineMs: 30_000,
  minGrantMs: 1_000,
  maxExtensions: 5,
  suspectGraceMs: 30_000,
  evictAfterDenials: 0,
  extensionWarningRemaining: 1,
  retentionMs: 3_600_000,
};

export type Health = Stepper<WorkerHealthContext>;

export const POOL = 'worker-pool/main@A';
export const WORKER = 'worker/7@W';
export const TERM = 3;

export const told = (more: object = {}) => ({
  type: 'registration.told',
  registration: 1,
  bootEpoch: 7,
  coresTotal: 4,
  handlers: ['sleep'],
  term: TERM,
  attempts: [],
  ...more,
});

export const newHealth = (more: Partial<typeof rules> = {}): Health =>
  new Stepper(workerHealthMachine, {
    workerId: 'W',
    datacenter: 'A',
    rules: { ...rules, ...more },
  });

/** Registered at 0: its deadline is 30 s. */
export function healthy(more: Partial<typeof rules> = {}): Health {
  const health = newHealth(more);
  health.take(told());
  return fresh(health);
}

export function fresh(health: Health): Health {
  health.said();
  health.notes();
  return health;
}

export const report = (attempt: string, more: object = {}) => {
  const [jobId, attemptId] = attempt.split('/');
  return { jobId, attemptId, progress: 0, sinceProgressMs: 0, finished: false, ...more };
};

let heartbeats = 0;

/** Each has a higher number than all before, unless it is given one. */
export const heartbeat = (attempts: readonly object[] = [], more: object = {}) => {
  heartbeats += 1;
  return {
    type: 'heartbeat.received',
    workerId: 'W',
    bootEpoch: 7,
    term: TERM,
    heartbeatSeq: heartbeats,
    coresTotal: 4,
    coresFree: 4,
    attempts,
    page: 1,
    pages: 1,
    ...more,
  };
};

const named = (attempt: string, registration: number) => {
  const [jobId, attemptId] = attempt.split('/');
  return { jobId, attemptId, registration };
};

export const placed = (attempt: string, registration = 1) => ({
  type: 'attempt.placed',
  ...named(attempt, registration),
});

export const running = (attempt: string, heartbeatSeq = 0) => ({
  type: 'attempt.running',
  ...named(attempt, 1),
  heartbeatSeq,
});

/** By the worker's own word, or given up without one. */
export const ended = (attempt: string, heard = true) => ({
  type: 'attempt.ended',
  ...named(attempt, 1),
  heard,
});

/** One that runs these attempts, `job/workflow#n`. */
export function holding(attempts: readonly string[], more: Partial<typeof rules> = {}): Health {
  const health = healthy(more);
  for (const attempt of attempts) {
    health.take(placed(attempt));
    health.take(running(attempt));
  }
  return fresh(health);
}

let requests = 0;

export const asked = (attempt: string, currentProgress: unknown, more: object = {}) => {
  requests += 1;
  return {
    type: 'extension.requested',
    requestId: `r${requests}`,
    workerId: 'W',
    operationId: attempt,
    reason: 'long_workflow',
    currentProgress,
    activeWorkflowCount: 1,
    replyTo: 'session/s1@W',
    ...more,
  };
};

export const credited = (creditId: string, jobId: string, answer = 'applied') => ({
  type: 'credit.answered',
  creditId,
  jobId,
  answer,
});

export interface Answer {
  readonly granted: boolean;
  readonly extensionMs: number;
  readonly deadlineInMs: number;
  readonly remainingExtensions: number;
  readonly denialReason: string | null;
  readonly exhaustionWarning: boolean;
}

/** Asks, lets every job take its credit, and gives the answer. */
export function ask(health: Health, attempt: string, progress: unknown, more: object = {}): Answer {
  const request = asked(attempt, progress, more);
  health.take(request);
  for (const { to } of health.said('extension.credited'))
    health.take(credited(request.requestId, to.slice('job/'.length, to.lastIndexOf('@'))));
  const answers = answersOf(health.all);
  return answers.at(-1) as Answer;
}

export const answersOf = (said: readonly Saying[]): Answer[] =>
  said.filter(({ type }) => type === 'escapement.reply').map(({ value }) => value as Answer);

export const deadlineOf = (health: Health): number => health.context.deadline - 1_000_000;

export const namesOf = (notes: readonly Noted[]): string[] => notes.map(({ event }) => event);
