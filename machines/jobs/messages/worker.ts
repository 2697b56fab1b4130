/**
 * Messages between workers and managers.
 *
 * A worker lives in memory alone, so commands to it are hints, each with a deadline of its own for
 * the answer: a worker that is gone for good leaves nothing behind in anybody's outbox. What a
 * worker has to say is sent by its process until the receiver has it on disk.
 */

import { z } from 'zod';
import {
  attemptId,
  attemptReport,
  bootEpoch,
  count,
  durationMs,
  id,
  operationId,
  paging,
  payload,
  progress,
  range,
  replyTo,
  requestId,
  term,
  text,
} from './fields.ts';

/** WorkerRegister → `worker-pool` */
export const workerRegistered = z.strictObject({
  type: z.literal('worker.registered'),
  workerId: id,
  bootEpoch,
  coresTotal: z.int().min(1).max(1_024),
  handlers: z.array(id).max(1_000).readonly(),
  attempts: z.array(attemptReport).max(500).readonly(),
  ...paging,
});

/** WorkerRegisterAck → `worker` */
export const registerAnswered = z.strictObject({
  type: z.literal('register.answered'),
  workerId: id,
  bootEpoch,
  accepted: z.boolean(),
  reason: z.enum(['duplicateNode', 'invalid']).nullable(),
  term,
  deadlineInMs: durationMs,
  stopAttempts: z.array(operationId).max(500).readonly(),
});

/** WorkerHeartbeat → `worker-health` */
export const heartbeatReceived = z.strictObject({
  type: z.literal('heartbeat.received'),
  workerId: id,
  bootEpoch,
  term,
  heartbeatSeq: count,
  coresTotal: z.int().min(1).max(1_024),
  coresFree: count,
  /** Those of the range, and those of the others that got further; without a range all that it holds. */
  attempts: z.array(attemptReport).max(500).readonly(),
  range: range.optional(),
  ...paging,
});

/** HeartbeatAck → `worker` */
export const heartbeatAcked = z.strictObject({
  type: z.literal('heartbeat.acked'),
  workerId: id,
  term,
  heartbeatSeq: count,
  registerAgain: z.boolean(),
  stopAttempts: z.array(operationId).max(500).readonly(),
});

/** LeaderAnnounce → `worker` */
export const leaderAnnounced = z.strictObject({
  type: z.literal('leader.announced'),
  term,
  attempts: z.array(operationId).max(500).readonly(),
  ...paging,
});

/** LeaderAnnounceAck → `worker-health` */
export const announceAnswered = z.strictObject({
  type: z.literal('announce.answered'),
  workerId: id,
  bootEpoch,
  accepted: z.boolean(),
  /** The highest known. */
  term,
});

/** WorkflowDispatch → `worker` */
export const dispatchRequested = z.strictObject({
  type: z.literal('dispatch.requested'),
  jobId: id,
  attemptId,
  datacenter: id,
  term,
  handler: id,
  payload,
  cores: z.int().min(1).max(1_024),
});

export const DISPATCH_REFUSALS = [
  'noCores',
  'unknownHandler',
  'refused',
  'staleTerm',
  'stopping',
] as const;

/** WorkflowDispatchAck → `workflow` */
export const dispatchAnswered = z.strictObject({
  type: z.literal('dispatch.answered'),
  workerId: id,
  bootEpoch,
  jobId: id,
  attemptId,
  accepted: z.boolean(),
  reason: z.enum(DISPATCH_REFUSALS).nullable(),
  term,
  /** The last one sent: the heartbeats after it list the attempt. */
  heartbeatSeq: count,
});

/** WorkflowProgress → `workflow` */
export const progressReceived = z.strictObject({
  type: z.literal('progress.received'),
  workerId: id,
  jobId: id,
  attemptId,
  progress,
  completedItems: count.optional(),
  totalItems: count.optional(),
  sinceProgressMs: durationMs,
});

/** WorkflowResult → `workflow` */
export const resultReceived = z.strictObject({
  type: z.literal('result.received'),
  workerId: id,
  jobId: id,
  attemptId,
  ok: z.boolean(),
  result: payload.nullable(),
  truncated: z.boolean(),
  error: z.strictObject({ code: text, detail: text }).readonly().nullable(),
  retryable: z.boolean(),
});

/** WorkflowCancel → `worker` */
export const cancelOrdered = z.strictObject({
  type: z.literal('cancel.ordered'),
  jobId: id,
  attemptId,
  datacenter: id,
  term,
  cause: text,
});

/** WorkflowCancelAck → `workflow` */
export const cancelAnswered = z.strictObject({
  type: z.literal('cancel.answered'),
  workerId: id,
  jobId: id,
  attemptId,
  accepted: z.boolean(),
  term,
});

/** WorkflowStopped → `workflow` */
export const attemptStopped = z.strictObject({
  type: z.literal('attempt.stopped'),
  workerId: id,
  jobId: id,
  attemptId,
  killed: z.boolean(),
});

export const EXTENSION_REASONS = ['long_workflow', 'gc_pause', 'resource_contention'] as const;

/** HealthcheckExtensionRequest → `worker-health`, as a question: the answer is an ExtensionAnswer. */
export const extensionRequested = z.strictObject({
  type: z.literal('extension.requested'),
  requestId,
  workerId: id,
  operationId,
  /** Numbers the requests of one run from 1; left out by workers of earlier releases. */
  requestSeq: count.optional(),
  reason: z.enum(EXTENSION_REASONS),
  /** Anything: what is no progress is denied as `malformed`, not refused. */
  currentProgress: z.unknown(),
  completedItems: count.optional(),
  totalItems: count.optional(),
  estimatedRemainingMs: durationMs.optional(),
  activeWorkflowCount: count,
  replyTo,
});

export const DENIAL_REASONS = [
  'malformed',
  'suspect',
  'unknownOperation',
  'maxReached',
  'noProgress',
] as const;
export type DenialReason = (typeof DENIAL_REASONS)[number];

/** HealthcheckExtensionResponse */
export interface ExtensionAnswer {
  readonly requestId: string;
  readonly granted: boolean;
  readonly extensionMs: number;
  readonly deadlineInMs: number;
  readonly remainingExtensions: number;
  readonly denialReason: DenialReason | null;
  readonly exhaustionWarning: boolean;
}

export type WorkerRegistered = z.infer<typeof workerRegistered>;
export type RegisterAnswered = z.infer<typeof registerAnswered>;
export type HeartbeatReceived = z.infer<typeof heartbeatReceived>;
export type HeartbeatAcked = z.infer<typeof heartbeatAcked>;
export type LeaderAnnounced = z.infer<typeof leaderAnnounced>;
export type AnnounceAnswered = z.infer<typeof announceAnswered>;
export type DispatchRequested = z.infer<typeof dispatchRequested>;
export type DispatchRefusal = (typeof DISPATCH_REFUSALS)[number];
export type DispatchAnswered = z.infer<typeof dispatchAnswered>;
export type ProgressReceived = z.infer<typeof progressReceived>;
export type ResultReceived = z.infer<typeof resultReceived>;
export type CancelOrdered = z.infer<typeof cancelOrdered>;
export type CancelAnswered = z.infer<typeof cancelAnswered>;
export type AttemptStopped = z.infer<typeof attemptStopped>;
export type ExtensionRequested = z.infer<typeof extensionRequested>;
export type ExtensionReason = (typeof EXTENSION_REASONS)[number];
