/**
 * Messages between managers and gates about a job, from `job` to `gate-job` and back.
 *
 * All but progress reports, most of which may be lost, are kept by the sender's outbox until they are taken.
 * Receivers answer with `ack.received`: that a message was taken says nothing of whether it was obeyed.
 */

import { z } from 'zod';
import type { GateRules } from '../rules.ts';
import { GATE_REASONS, JOB_STATUSES, LOCAL_REASONS, OUTCOMES, REASONS } from '../words.ts';
import { jobTerms } from './client.ts';
import {
  count,
  decisionEpoch,
  durationMs,
  fence,
  figures,
  id,
  origin,
  payload,
  replyTo,
  requestId,
  tally,
  term,
  text,
  timeoutMs,
} from './fields.ts';

/**
 * JobProgressReport. It may be lost or overtaken, but for the first, one that announces changed credit, and one
 * after which nothing was acknowledged.
 */
export const progressReported = z.strictObject({
  type: z.literal('progress.reported'),
  ...origin,
  figures,
  ...tally,
  reportSeq: count,
  hasRecentProgress: z.boolean(),
});

/** JobTimeoutReport */
export const timeoutReported = z.strictObject({
  type: z.literal('timeout.reported'),
  ...origin,
  figures,
  reason: z.enum(LOCAL_REASONS),
  detail: text,
  sinceDetectedMs: durationMs,
});

/** JobLeaderTransfer */
export const leaderTransferred = z.strictObject({
  type: z.literal('leader.transferred'),
  ...origin,
  figures,
  term,
});

export const workflowResult = z
  .strictObject({
    workflowId: id,
    ok: z.boolean(),
    result: payload.optional(),
    truncated: z.boolean(),
  })
  .readonly();
export type WorkflowResultEntry = z.infer<typeof workflowResult>;

const end = {
  reason: z.enum(REASONS).nullable(),
  localReason: z.enum(LOCAL_REASONS).nullable(),
  gateReason: z.enum(GATE_REASONS).nullable(),
  sinceEndedMs: durationMs,
};

/** JobFinalStatus. Results are in it where all of them fit into one message, `resultsOmitted` says otherwise. */
export const finalReported = z.strictObject({
  type: z.literal('final.reported'),
  ...origin,
  figures,
  ...tally,
  status: z.enum(OUTCOMES),
  ...end,
  decisionEpoch: decisionEpoch.nullable(),
  results: z.array(workflowResult).max(500).readonly(),
  resultsOmitted: z.boolean(),
});

const CORRECTION_REASONS = ['staleLeaderFence', 'staleDecision', 'final', 'requested'] as const;

/** JobStatusCorrection */
export const statusCorrected = z.strictObject({
  type: z.literal('status.corrected'),
  ...origin,
  figures,
  ...tally,
  status: z.enum(JOB_STATUSES),
  correction: z.enum(CORRECTION_REASONS),
  ...end,
  rejectedDecisionEpoch: decisionEpoch.nullable(),
  highestDecisionEpoch: decisionEpoch,
  /** Nonce of the question that it answers. */
  nonce: requestId.optional(),
});

/** JobGlobalTimeout */
export const timeoutDeclared = z.strictObject({
  type: z.literal('timeout.declared'),
  jobId: id,
  datacenter: id,
  reason: z.enum(GATE_REASONS),
  detail: text,
  decisionEpoch,
  /** The gate's last known one of this datacenter. */
  leaderFence: fence,
  sinceDeclaredMs: durationMs,
  elapsedMs: durationMs,
  timeoutMs,
});

/** JobCancel: from a gate with its decision's epoch, from the jobs service of the datacenter with a question. */
export const cancelRequested = z.strictObject({
  type: z.literal('cancel.requested'),
  jobId: id,
  datacenter: id,
  decisionEpoch: decisionEpoch.optional(),
  leaderFence: fence.optional(),
  replyTo,
});

/** JobStatusRequest; answered by a correction. */
export const statusRequested = z.strictObject({
  type: z.literal('status.requested'),
  jobId: id,
  datacenter: id,
  /** Nonce of this question, where an answer to an earlier one would not do. */
  nonce: requestId.optional(),
});

/** JobExtend from a gate, or from the jobs service of a datacenter. */
export const extendRequested = z.strictObject({
  type: z.literal('job.extend'),
  requestId,
  byMs: z.int().min(1).max(5_184_000_000),
  by: text,
  /** Set when a gate asks: its own actor, which is told. */
  gateId: id.optional(),
  replyTo,
});

/** JobExtendAck to a gate */
export const extendAnswered = z.strictObject({
  type: z.literal('extend.answered'),
  requestId,
  jobId: id,
  datacenter: id,
  accepted: z.boolean(),
  reason: z.enum(['alreadyReported', 'alreadyFinal', 'unknown', 'invalid']).nullable(),
  extensionsMs: durationMs,
});

const ACK_REFUSALS = [
  'notLeader',
  'staleFence',
  'staleGate',
  'jobFinal',
  'notTarget',
  'unknown',
] as const;

const ACKED = [
  'progress.reported',
  'timeout.reported',
  'leader.transferred',
  'final.reported',
  'status.corrected',
  'timeout.declared',
  'cancel.requested',
] as const;

/** The …Ack of each. From a gate with `gateBoot`, from a manager with `highestDecisionEpoch`. */
export const ackReceived = z.strictObject({
  type: z.literal('ack.received'),
  jobId: id,
  datacenter: id,
  ackOf: z.enum(ACKED),
  accepted: z.boolean(),
  duplicate: z.boolean(),
  reason: z.enum(ACK_REFUSALS).nullable(),
  leaderFence: fence,
  gateBoot: term.nullable(),
  highestDecisionEpoch: decisionEpoch.nullable(),
  /** Epoch of an acknowledged `timeout.declared` or `cancel.requested`. */
  decisionEpoch: decisionEpoch.nullable(),
  /** Number of an acknowledged `progress.reported`. */
  reportSeq: count.nullable(),
});

/** JobSubmissionAck of a datacenter to a gate. */
export const submissionAnswered = z.strictObject({
  type: z.literal('submission.answered'),
  jobId: id,
  datacenter: id,
  accepted: z.boolean(),
  created: z.boolean(),
  /** It had the job before, of a gate that has lost it, and has ended it. */
  hasEnded: z.literal(true).optional(),
  reason: text.nullable(),
  leaderFence: fence,
  managerId: z.string(),
});

/**
 * Answer of a datacenter that has too much to do to a gate: the gate's program tries again, and tells
 * the job.
 */
export interface SubmissionDeferred {
  readonly type: 'submission.deferred';
  readonly jobId: string;
  readonly datacenter: string;
  readonly retryAfterMs: number;
}

/** Spawn of a `gate-job` at a gate that has no record of it, by the job of a datacenter that has. */
export const gateJobRebuilt = z
  .strictObject({
    jobId: id,
    gateId: id,
    rebuiltFrom: z
      .strictObject({
        ...origin,
        figures,
        terms: jobTerms,
        /** Digest of the submission's body. */
        digest: text,
        workflowsTotal: count,
        highestDecisionEpoch: decisionEpoch,
      })
      .readonly(),
  })
  .readonly();
export type GateJobRebuilt = z.infer<typeof gateJobRebuilt>;

/**
 * Notice from a gate's program before it asks for a job again that it may have left unasked for a
 * while.
 */
export interface SubmissionResumed {
  readonly type: 'submission.resumed';
  readonly jobId: string;
}

/**
 * Answer that a gate's program found at a datacenter's jobs service, about a job that takes no messages any
 * more.
 */
export interface StatusFound {
  readonly type: 'status.found';
  readonly datacenter: string;
  /** null: the datacenter does not know the job. */
  readonly found: {
    readonly status: (typeof JOB_STATUSES)[number];
    readonly reason: (typeof REASONS)[number] | null;
    readonly localReason: (typeof LOCAL_REASONS)[number] | null;
    readonly gateReason: (typeof GATE_REASONS)[number] | null;
  } | null;
}

/** Rules that a gate's program gives a rebuilt `gate-job`. */
export interface RulesGiven {
  readonly type: 'rules.given';
  readonly rules: GateRules;
  readonly fence: number;
}

export type ProgressReported = z.infer<typeof progressReported>;
export type TimeoutReported = z.infer<typeof timeoutReported>;
export type LeaderTransferred = z.infer<typeof leaderTransferred>;
export type FinalReported = z.infer<typeof finalReported>;
export type StatusCorrected = z.infer<typeof statusCorrected>;
export type TimeoutDeclared = z.infer<typeof timeoutDeclared>;
export type CancelRequested = z.infer<typeof cancelRequested>;
export type StatusRequested = z.infer<typeof statusRequested>;
export type ExtendRequested = z.infer<typeof extendRequested>;
export type ExtendAnswered = z.infer<typeof extendAnswered>;
export type AckReceived = z.infer<typeof ackReceived>;
export type SubmissionAnswered = z.infer<typeof submissionAnswered>;
