/**
 * Configuration of the jobs system: checked once where a process starts, then trusted.
 *
 * Guarantees: what `resolveConfiguration` returns is complete and keeps every range and every
 * relation between options, and cannot be changed. The rules that machines go by are made of it
 * here and nowhere else. It reads no file and no environment: the code that starts a process does.
 */

import type { JobTerms } from '../../machines/jobs/messages/client.ts';
import type {
  GateRules,
  HealthRules,
  JobRules,
  WorkerRules,
  WorkflowRules,
} from '../../machines/jobs/rules.ts';
import type { LeaseRules } from '../../machines/lease-rules.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { resolveOptions } from '../../runtime/base/option.ts';
import { JOBS_OPTIONS, type JobsConfiguration } from './configuration/options.ts';
import { JOBS_RELATIONS } from './configuration/relations.ts';

export type { JobsConfiguration } from './configuration/options.ts';

/**
 * Fills in the defaults. An option that is given as `undefined` counts as left out.
 *
 * @throws {RuntimeError} OPTION_INVALID, with every issue in its message, at most ten of them.
 */
export function resolveConfiguration(given: Partial<JobsConfiguration> = {}): JobsConfiguration {
  // Typed, but it comes from files.
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new RuntimeError('OPTION_INVALID', 'A configuration of jobs is an object of options.');
  }
  return Object.freeze(resolveOptions<JobsConfiguration>(given, JOBS_OPTIONS, JOBS_RELATIONS));
}

/** Rules for a job's deadlines; what its terms say comes before the configuration. */
export function jobRules(config: JobsConfiguration, terms: JobTerms): JobRules {
  return {
    gateFallbackMs: config.gateFallbackMs,
    reportIntervalMs: config.reportIntervalMs,
    allStuckThresholdMs: terms.allStuckThresholdMs ?? config.allStuckThresholdMs,
    extensionAggregation: config.extensionAggregation,
    extensionJobCapMs: config.extensionJobCapMs,
    stuckWhileQueued: config.stuckWhileQueued,
    readyMax: config.readyMax,
    checkIntervalMs: config.checkIntervalMs,
  };
}

export function workflowRules(config: JobsConfiguration): WorkflowRules {
  return {
    maxRetries: config.maxRetries,
    maxDispatchAttempts: config.maxDispatchAttempts,
    dispatchBackoffMinMs: config.dispatchBackoffMinMs,
    dispatchBackoffMaxMs: config.dispatchBackoffMaxMs,
    dispatchAckTimeoutMs: config.dispatchAckTimeoutMs,
    cancelGraceMs: config.cancelGraceMs,
  };
}

export function healthRules(config: JobsConfiguration): HealthRules {
  return {
    baseDeadlineMs: config.baseDeadlineMs,
    minGrantMs: config.minGrantMs,
    maxExtensions: config.maxExtensions,
    suspectGraceMs: config.suspectGraceMs,
    evictAfterDenials: config.evictAfterDenials,
    extensionWarningRemaining: config.extensionWarningRemaining,
    retentionMs: config.jobRetentionMs,
  };
}

/** Rules by which a gate decides about a job; what its terms say comes before the configuration. */
export function gateRules(config: JobsConfiguration, terms: JobTerms): GateRules {
  return {
    allStuckThresholdMs: terms.allStuckThresholdMs ?? config.allStuckThresholdMs,
    silentAfterMs: config.silentAfterMs,
    quorum: terms.datacenterTimeoutQuorum ?? config.datacenterTimeoutQuorum,
    settleLimitMs: config.settleLimitMs,
    gateDispatchLimitMs: config.gateDispatchLimitMs,
    reportIntervalMs: config.reportIntervalMs,
  };
}

export function workerRules(config: JobsConfiguration): WorkerRules {
  return {
    heartbeatIntervalMs: config.heartbeatIntervalMs,
    managerLostMs: config.managerLostMs,
    orphanGraceMs: config.orphanGraceMs,
    cancelGraceMs: config.cancelGraceMs,
  };
}

export function leaseRules(config: JobsConfiguration): LeaseRules {
  return {
    leaseMs: config.leaseMs,
    leaseRenewMs: config.leaseRenewMs,
    leaseMarginMs: config.leaseMarginMs,
    leaseJitterMs: config.leaseJitterMs,
  };
}
