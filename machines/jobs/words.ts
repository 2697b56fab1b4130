/**
 * Vocabulary used outside: the states of jobs, workflows and workers, and the reasons of their ends.
 */

export const JOB_STATUSES = [
  'submitted',
  'running',
  'completed',
  'failed',
  'cancelled',
  'timedOut',
] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** Outcomes of a job. */
export const OUTCOMES = ['completed', 'failed', 'cancelled', 'timedOut'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Reasons for a timeout that a manager finds by itself. */
export const LOCAL_REASONS = ['overall', 'stuck'] as const;
export type LocalReason = (typeof LOCAL_REASONS)[number];

/** Reasons for a timeout that a gate declares. */
export const GATE_REASONS = ['overall', 'datacenterTimeout', 'allDatacentersStuck'] as const;
export type GateReason = (typeof GATE_REASONS)[number];

/** Reasons for a timeout of a job, as far as one datacenter knows. */
export const TIMEOUT_REASONS = [
  'overall',
  'stuck',
  'fallback',
  'global',
  'datacenterTimeout',
  'allDatacentersStuck',
] as const;
export type TimeoutReason = (typeof TIMEOUT_REASONS)[number];

export const FAILURE_REASONS = ['workflowFailed', 'dispatchExhausted', 'noDatacenter'] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

export type Reason = TimeoutReason | FailureReason;
export const REASONS = [...TIMEOUT_REASONS, ...FAILURE_REASONS] as const;

/** The ten states of AD-33, as the sources write them. */
export const WORKFLOW_STATES = [
  'PENDING',
  'DISPATCHED',
  'RUNNING',
  'COMPLETED',
  'AGGREGATED',
  'FAILED',
  'FAILED_CANCELING_DEPENDENTS',
  'FAILED_READY_FOR_RETRY',
  'CANCELLING',
  'CANCELLED',
] as const;
export type WorkflowState = (typeof WORKFLOW_STATES)[number];

/** A workflow's state as clients see it. */
export type WorkflowStatus =
  | 'pending'
  | 'running'
  | 'completed'
  | 'aggregated'
  | 'failed'
  | 'cancelled';

export function statusOfWorkflow(state: WorkflowState): WorkflowStatus {
  switch (state) {
    case 'PENDING':
    case 'DISPATCHED':
    case 'FAILED_READY_FOR_RETRY':
      return 'pending';
    case 'FAILED':
    case 'FAILED_CANCELING_DEPENDENTS':
      return 'failed';
    case 'CANCELLING':
    case 'CANCELLED':
      return 'cancelled';
    case 'RUNNING':
      return 'running';
    case 'COMPLETED':
      return 'completed';
    case 'AGGREGATED':
      return 'aggregated';
  }
}

export const WORKER_STATES = ['healthy', 'extended', 'exhausted', 'suspect', 'evicted'] as const;
export type WorkerState = (typeof WORKER_STATES)[number];

export const QUORUMS = ['any', 'majority', 'all'] as const;
export type Quorum = (typeof QUORUMS)[number];

export type Authority = 'localAuthority' | 'gateCoordinated';
