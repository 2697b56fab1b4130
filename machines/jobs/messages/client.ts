/**
 * Messages between clients and the jobs service of a datacenter or a gate: the questions, and their answers.
 *
 * All of it are questions: the client asks again until it is answered, under the same request id.
 */

import { z } from 'zod';
import type { ContactState, DecisionState } from '../datacenter/context.ts';
import {
  type Authority,
  JOB_STATUSES,
  type JobStatus,
  QUORUMS,
  type Reason,
  type WorkerState,
  type WorkflowStatus,
} from '../words.ts';
import {
  type ClockReading,
  count,
  durationMs,
  gateTerms,
  id,
  paging,
  payload,
  replyTo,
  requestId,
  text,
  timeoutMs,
} from './fields.ts';

export const CORES_MAX = 1_024;
export const WORKFLOWS_MAX = 10_000;

export const workflowSpec = z
  .strictObject({
    id,
    handler: id,
    payload: payload.default(''),
    cores: z.int().min(1).max(CORES_MAX).default(1),
    dependsOn: z.array(id).max(WORKFLOWS_MAX).readonly().default([]),
  })
  .readonly();
export type WorkflowSpec = z.infer<typeof workflowSpec>;

/** All of a submission but its workflows. */
export const jobTerms = z
  .strictObject({
    timeoutMs,
    stuckThresholdMs: z.int().min(1_000).max(5_184_000_000).optional(),
    allStuckThresholdMs: z.int().min(1_000).max(5_184_000_000).optional(),
    failFast: z.boolean().optional(),
    /** False: timeouts are evaluated and recorded, and end nothing. */
    enforce: z.boolean().optional(),
    targetDatacenters: z.array(id).min(1).max(100).readonly().optional(),
    datacenterTimeoutQuorum: z.enum(QUORUMS).optional(),
  })
  .readonly();
export type JobTerms = z.infer<typeof jobTerms>;

/** JobSubmission, a part of it. The answer to the last part that was missing is a SubmissionAnswer; to others, `null`. */
export const jobSubmitted = z.strictObject({
  type: z.literal('job.submitted'),
  /** In each of several parts: what tells them from those of another submission of the job. */
  requestId: requestId.optional(),
  jobId: id,
  terms: jobTerms,
  gate: gateTerms.optional(),
  workflows: z.array(workflowSpec).max(500).readonly(),
  /** Owner of the job: believed of gates and HTTP APIs. */
  client: text.optional(),
  ...paging,
  replyTo,
});

/** JobSubmissionAck */
export interface SubmissionAnswer {
  readonly jobId: string;
  readonly accepted: boolean;
  readonly created: boolean;
  readonly status: JobStatus | null;
  readonly reason: 'invalid' | 'conflict' | 'notLeader' | 'jobFinal' | 'overloaded' | null;
  /** For `invalid` what is wrong, or is right and too much; for `overloaded` when to try again. */
  readonly field?: string;
  readonly detail?: string;
  readonly isTooLarge?: true;
  readonly retryAfterMs?: number;
  readonly leaderFence?: number;
  readonly managerId?: string;
  readonly clock?: ClockReading;
}

/** JobGet → JobView */
export const jobAsked = z.strictObject({
  type: z.literal('job.asked'),
  requestId,
  jobId: id,
  /** Part of the workflows, first is 1. */
  page: z.int().min(1).default(1),
  replyTo,
});

/** JobList → JobPage */
export const jobsAsked = z.strictObject({
  type: z.literal('jobs.asked'),
  requestId,
  status: z.enum(JOB_STATUSES).optional(),
  stuckForMs: durationMs.optional(),
  /** Only jobs that are due sooner than that. */
  deadlineBeforeMs: durationMs.optional(),
  limit: z.int().min(1).max(500),
  cursor: z.string().max(1_024).optional(),
  replyTo,
});

/** JobWatch: answered as soon as the job's view has another `seq` than the client has seen. */
export const jobWatched = z.strictObject({
  type: z.literal('job.watched'),
  requestId,
  jobId: id,
  seenSeq: count,
  replyTo,
});

/** JobCancel of a client */
export const clientCancelRequested = z.strictObject({
  type: z.literal('jobCancel.requested'),
  requestId,
  jobId: id,
  replyTo,
});

export interface CancelAnswer {
  readonly accepted: boolean;
  readonly reason:
    | 'alreadyCancelled'
    | Exclude<ExtendRefusal, 'alreadyReported' | 'invalid'>
    | null;
}

/** JobExtend of an operator */
export const clientExtendRequested = z.strictObject({
  type: z.literal('jobExtend.requested'),
  requestId,
  jobId: id,
  byMs: z.number(),
  by: text,
  datacenter: id.optional(),
  replyTo,
});

export type ExtendRefusal =
  | 'alreadyReported'
  | 'alreadyFinal'
  | 'unknown'
  | 'invalid'
  | 'notLeader'
  | 'notAllowed';

export interface ExtendAnswer {
  readonly accepted: boolean;
  readonly reason: ExtendRefusal | null;
  readonly extensionsMs: number;
  readonly datacenters?: ReadonlyArray<
    Omit<ExtendAnswer, 'datacenters'> & { readonly datacenter: string }
  >;
}

/** TimeSinceProgress and StuckWorkflows */
export const stuckAsked = z.strictObject({
  type: z.literal('stuckWorkflows.asked'),
  requestId,
  thresholdMs: durationMs,
  limit: z.int().min(1).max(500),
  replyTo,
});

export const sinceProgressAsked = z.strictObject({
  type: z.literal('sinceProgress.asked'),
  requestId,
  jobId: id,
  workflowId: id.optional(),
  replyTo,
});

/** Workers in the order of their names; the cursor is the last name of the page before. */
export const workersAsked = z.strictObject({
  type: z.literal('workers.asked'),
  requestId,
  limit: z.int().min(1).max(500),
  cursor: id.optional(),
  replyTo,
});

/** A worker as its datacenter sees it. */
export interface WorkerView {
  readonly workerId: string;
  readonly datacenter: string;
  readonly state: WorkerState;
  /** It has been heard since the leader took over. */
  readonly heard: boolean;
  readonly cores: number;
  readonly freeCores: number;
  /** Runs that it has, as far as the datacenter knows. */
  readonly attempts: number;
  /** Number of handlers that it offers. */
  readonly handlers: number;
  /** Time until it is suspected when nothing is heard of it, 0 when it is. */
  readonly deadlineInMs: number;
}

export interface WorkerPage {
  readonly workers: readonly WorkerView[];
  readonly cursor: string | null;
  /** Datacenters that did not answer: their workers are missing. */
  readonly unanswered: readonly string[];
}

export interface StuckWorkflow {
  readonly jobId: string;
  readonly workflowId: string;
  readonly workerId: string;
  readonly sinceProgressMs: number;
}

export interface WorkflowView {
  readonly workflowId: string;
  readonly status: WorkflowStatus;
  /** Runs dispatched so far. */
  readonly attempts: number;
  readonly workerId: string | null;
  readonly result: string | null;
  readonly truncated: boolean;
  readonly error: { readonly code: string; readonly detail: string } | null;
}

/** A job as one datacenter, or its gate, sees it. */
export interface JobView {
  readonly jobId: string;
  readonly status: JobStatus;
  readonly reason: Reason | null;
  readonly localReason: Reason | null;
  readonly gateReason: Reason | null;
  readonly authority: Authority;
  readonly enforce: boolean;
  readonly elapsedMs: number;
  readonly timeoutMs: number;
  readonly extensionsMs: number;
  /** Time until the overall deadline; null once the job has ended. */
  readonly dueInMs: number | null;
  readonly sinceProgressMs: number;
  readonly queued: boolean;
  /** The manager that leads, or the gate. */
  readonly leader: string;
  readonly leaderFence: number;
  /** Deadline that would have ended it first, where its timeouts only watch. */
  readonly shadow: { readonly reason: Reason; readonly atMs: number } | null;
  /** Rises with each change of status. */
  readonly seq: number;
  readonly workflowsTotal: number;
  readonly workflowsCompleted: number;
  readonly workflowsFailed: number;
  readonly workflows: readonly WorkflowView[];
  readonly page: number;
  readonly pages: number;
  /** State of the job in each datacenter, at a gate. */
  readonly datacenters?: readonly DatacenterView[];
}

export interface DatacenterView {
  readonly datacenter: string;
  readonly status: JobStatus | 'reported' | 'silent' | 'unheard' | 'full';
  readonly reason: Reason | null;
  /** State of the gate's decision there. */
  readonly decision: DecisionState;
  /** Contact: whether the gate knows how things are there now. */
  readonly contact: ContactState;
  readonly leaderFence: number;
  readonly extensionsMs: number;
  readonly sinceProgressMs: number;
  readonly queued: boolean;
  /** The gate had to presume the end. */
  readonly unconfirmed: boolean;
}

export interface JobPage {
  readonly jobs: readonly JobView[];
  readonly cursor: string | null;
}

export type JobSubmitted = z.infer<typeof jobSubmitted>;
export type JobAsked = z.infer<typeof jobAsked>;
export type JobsAsked = z.infer<typeof jobsAsked>;
export type JobWatched = z.infer<typeof jobWatched>;
export type ClientCancelRequested = z.infer<typeof clientCancelRequested>;
export type ClientExtendRequested = z.infer<typeof clientExtendRequested>;
export type StuckAsked = z.infer<typeof stuckAsked>;
export type SinceProgressAsked = z.infer<typeof sinceProgressAsked>;
export type WorkersAsked = z.infer<typeof workersAsked>;
