/**
 * Rules of the jobs system's machines: the numbers and choices that they go by.
 *
 * They come from the configuration when an actor is created and stay in its record: a job keeps the
 * rules it was accepted under, whichever manager leads later. `programs/jobs/configuration.ts` has the
 * options, their ranges and their defaults.
 */

import type { Quorum } from './words.ts';

/** Rules by which `job` treats its deadlines. */
export interface JobRules {
  readonly gateFallbackMs: number;
  readonly reportIntervalMs: number;
  readonly allStuckThresholdMs: number;
  readonly extensionAggregation: 'sum' | 'max';
  /** null: the job's own timeout. */
  readonly extensionJobCapMs: number | null;
  readonly stuckWhileQueued: boolean;
  /** Workflows of a lane that may wait for their first run at a time; left out by jobs of earlier releases. */
  readonly readyMax?: number;
  /** Time in which nothing fires after a worker's credit was taken away. */
  readonly checkIntervalMs: number;
}

/** Rules by which `workflow` makes its attempts. */
export interface WorkflowRules {
  readonly maxRetries: number;
  readonly maxDispatchAttempts: number;
  readonly dispatchBackoffMinMs: number;
  readonly dispatchBackoffMaxMs: number;
  readonly dispatchAckTimeoutMs: number;
  readonly cancelGraceMs: number;
}

/** Rules by which `worker-health` judges a worker. */
export interface HealthRules {
  readonly baseDeadlineMs: number;
  readonly minGrantMs: number;
  readonly maxExtensions: number;
  readonly suspectGraceMs: number;
  /** 0: denials evict nobody. */
  readonly evictAfterDenials: number;
  readonly extensionWarningRemaining: number;
  /** Time for which an evicted worker that does not come back is remembered. */
  readonly retentionMs: number;
}

/** Rules by which `gate-job` decides. */
export interface GateRules {
  readonly allStuckThresholdMs: number;
  readonly silentAfterMs: number;
  readonly quorum: Quorum;
  readonly settleLimitMs: number;
  readonly gateDispatchLimitMs: number;
  readonly reportIntervalMs: number;
}

/** Rules of `worker` and `attempt`. */
export interface WorkerRules {
  readonly heartbeatIntervalMs: number;
  readonly managerLostMs: number;
  readonly orphanGraceMs: number;
  readonly cancelGraceMs: number;
}
