/**
 * Options of the jobs system, all in one table: the default of each, what is legal, what it does.
 *
 * Types, checks and suggestions follow from the table, and docs/jobs-configuration.md is held
 * equal to it by a test. Nothing else writes a default down.
 */

import { QUORUMS } from '../../../machines/jobs/words.ts';
import type { Option } from '../../../runtime/base/option.ts';

export type JobsOption = Option & { readonly meaning: string };

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const SIXTY_DAYS_MS = 60 * DAY_MS;

export const JOBS_OPTIONS = {
  checkIntervalMs: {
    ...whole(30_000, 100, HOUR_MS),
    meaning:
      "period of a manager's repair sweep; how long nothing fires after a worker's credit was taken away",
    sourceName: 'JOB_TIMEOUT_CHECK_INTERVAL',
  },
  stuckThresholdMs: {
    ...whole(120_000, 1_000, SIXTY_DAYS_MS),
    meaning: 'a job without progress for longer is stuck (also per job)',
    sourceName: 'JOB_STUCK_THRESHOLD',
  },
  gateCheckIntervalMs: {
    ...whole(15_000, 100, HOUR_MS),
    meaning: "period of a gate's repair sweep",
    sourceName: 'GATE_TIMEOUT_CHECK_INTERVAL',
  },
  gateFallbackMs: {
    ...whole(300_000, 1_000, DAY_MS),
    meaning: 'how long a datacenter that reported a timeout waits for a gate it does not hear',
    sourceName: 'GATE_TIMEOUT_FALLBACK',
  },
  reportIntervalMs: {
    ...whole(10_000, 100, 600_000),
    meaning: 'how often a datacenter reports progress to the gate of a job',
  },
  allStuckThresholdMs: {
    ...whole(180_000, 1_000, SIXTY_DAYS_MS),
    meaning:
      'the gate ends a job of which every datacenter says that it has no progress for longer (also per job)',
  },
  silentAfterMs: {
    ...whole(30_000, 1_000, HOUR_MS),
    meaning: 'a datacenter that the gate has not heard for longer is silent',
  },
  datacenterTimeoutQuorum: {
    ...choice('any', QUORUMS),
    meaning: 'how many datacenters must report a timeout for the gate to end a job (also per job)',
  },
  settleLimitMs: {
    ...whole(60_000, 1_000, HOUR_MS),
    meaning: 'how long the gate waits for the ends it ordered before it presumes them',
  },
  gateDispatchLimitMs: {
    ...whole(10_000, 100, 600_000),
    meaning:
      'how long a datacenter has to accept a job that a gate sends it, since it was last full, or the gate away',
  },
  extensionAggregation: {
    ...choice('sum', ['sum', 'max']),
    meaning: "how the credit of several workers counts for a job: all of it, or the greatest one's",
  },
  extensionJobCapMs: {
    ...nullable(null, 0, SIXTY_DAYS_MS),
    meaning:
      "how far workers' extensions can move the deadline of a job; null: by its own timeout, 0: not at all",
  },
  stuckWhileQueued: {
    ...flag(false),
    meaning: 'whether a job can be stuck while all it does is wait for a worker',
  },
  jobRetentionMs: {
    ...whole(7 * DAY_MS, 1_000, 30 * DAY_MS),
    meaning:
      'how long a job that has ended can be looked up, and its id means that job; then its records go',
  },
  failFast: {
    ...flag(false),
    meaning: 'whether one failed workflow ends the job at once (also per job)',
  },
  baseDeadlineMs: {
    ...whole(30_000, 1_000, HOUR_MS),
    meaning: 'a worker that is silent for longer is suspect; the base of extensions',
    sourceName: 'base_deadline',
  },
  minGrantMs: {
    ...whole(1_000, 1, HOUR_MS),
    meaning: 'the least that one extension grants',
    sourceName: 'min_grant',
  },
  maxExtensions: {
    ...whole(5, 0, 100),
    meaning: 'how many extensions one attempt can have',
    sourceName: 'max_extensions',
  },
  suspectGraceMs: {
    ...whole(30_000, 0, HOUR_MS),
    meaning: 'how long a suspect worker has to be heard again before it is evicted',
  },
  evictAfterDenials: {
    ...whole(0, 0, 100),
    meaning: 'a worker that was denied that many extensions in a row is evicted; 0: never',
    sourceName: 'eviction_threshold',
  },
  extensionWarningRemaining: {
    ...whole(1, 0, 100),
    meaning: 'a grant that leaves at most that many extensions carries a warning',
  },
  maxRetries: {
    ...whole(3, 0, 10),
    meaning: 'how often a workflow is run again after it failed or its worker was lost',
    sourceName: 'max_workflow_retries',
  },
  maxDispatchAttempts: {
    ...whole(5, 1, 100),
    meaning: 'how often a workflow is offered to workers that do not take it',
    sourceName: 'max_dispatch_attempts',
  },
  queueMax: {
    ...whole(256, 1, 10_000),
    meaning:
      'how many waiting workflows the worker pool of a datacenter has in memory; the others are read from the index when half of them are gone',
  },
  readyMax: {
    ...whole(16, 1, 10_000),
    meaning:
      'how many workflows of a job that want the same handler and cores may wait for a worker at a time before their first run',
  },
  dependenciesMax: {
    ...whole(50_000, 0, 1_000_000),
    meaning:
      'dependencies that the workflows of a job may have together; a submission with more is refused',
  },
  jobTableBytesMax: {
    ...whole(2_097_152, 1_000, 16_777_216),
    meaning:
      'bytes that the ids and dependencies of the workflows may take in the record of a job, which is written with each of its steps; a submission with more is refused',
  },
  dispatchBackoffMinMs: {
    ...whole(1_000, 10, HOUR_MS),
    meaning: 'how long the second offer waits; doubled for each further one',
  },
  dispatchBackoffMaxMs: {
    ...whole(60_000, 10, HOUR_MS),
    meaning: 'the longest that an offer waits',
  },
  dispatchAckTimeoutMs: {
    ...whole(5_000, 100, 60_000),
    meaning: 'how long a worker has to answer an offer',
  },
  heartbeatIntervalMs: {
    ...whole(5_000, 100, 600_000),
    meaning: 'how often a worker says that it lives',
  },
  managerLostMs: {
    ...whole(15_000, 1_000, HOUR_MS),
    meaning: 'a worker whose heartbeats are not answered for longer has lost its manager',
  },
  cancelGraceMs: {
    ...whole(10_000, 0, HOUR_MS),
    meaning: 'how long a handler may go on after its abort signal',
  },
  orphanGraceMs: {
    ...whole(60_000, 0, HOUR_MS),
    meaning: 'how long a worker that has lost its manager goes on with its attempts',
  },
  leaseMs: {
    ...whole(6_000, 100, 600_000),
    meaning: 'how long the lease of a leader holds without being renewed',
  },
  leaseRenewMs: {
    ...whole(2_000, 100, 600_000),
    meaning: 'how often a leader renews its lease',
  },
  leaseMarginMs: {
    ...whole(500, 0, 60_000),
    meaning: 'how much earlier than it ends a leader counts its lease as over',
  },
  leaseJitterMs: {
    ...whole(1_000, 0, 60_000),
    meaning: 'the longest that a follower waits at random before it asks for a free lease',
  },
  // New ones come last: the simulator draws in this order, and one more then moves no other.
  dedupRetentionMs: {
    ...nullable(null, 1_000, 30 * DAY_MS),
    meaning:
      'how long its receiver knows a message again; null: as long as `jobRetentionMs`, 7 days at most',
  },
  backlogWorkflowsMax: {
    ...whole(200_000, 1, 10_000_000),
    meaning:
      'workflows that may wait to begin in a datacenter; with as many, further jobs are refused as overload',
  },
  backlogWaitMaxMs: {
    ...nullable(null, 1, SIXTY_DAYS_MS),
    meaning:
      'jobs are refused as overload where the work ahead of them would take longer; null: a tenth of their own timeout',
  },
  backlogFreeWorkflows: {
    ...whole(100, 0, 10_000_000),
    meaning: 'workflows that may wait whatever `backlogWaitMaxMs` says',
  },
  fenceStepMax: {
    ...whole(10_000, 1, 1_000_000_000),
    meaning: 'how far above the number on disk a term, fence or epoch may be that a peer tells of',
  },
  bootAheadMaxMs: {
    ...whole(DAY_MS, 1_000, SIXTY_DAYS_MS),
    meaning: 'how far ahead of the clock the start of a worker may be',
  },
} as const satisfies Record<string, JobsOption>;

function whole(defaultValue: number, min: number, max: number) {
  return { kind: 'whole', default: defaultValue, min, max } as const;
}

function nullable(defaultValue: number | null, min: number, max: number) {
  return { kind: 'nullable', default: defaultValue, min, max } as const;
}

function choice<const TChoice extends string>(
  defaultValue: NoInfer<TChoice>,
  choices: readonly TChoice[],
) {
  return { kind: 'choice', default: defaultValue, choices } as const;
}

function flag(defaultValue: boolean) {
  return { kind: 'flag', default: defaultValue } as const;
}

export type JobsOptionName = keyof typeof JOBS_OPTIONS;

type ValueOf<TOption> = TOption extends { readonly choices: ReadonlyArray<infer TChoice> }
  ? TChoice
  : TOption extends { readonly kind: 'flag' }
    ? boolean
    : TOption extends { readonly kind: 'nullable' }
      ? number | null
      : number;

/** All options of the jobs system. Each process of it is given the ones that differ from their defaults. */
export type JobsConfiguration = {
  readonly [name in JobsOptionName]: ValueOf<(typeof JOBS_OPTIONS)[name]>;
};
