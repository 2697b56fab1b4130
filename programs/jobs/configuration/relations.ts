/** Relations between options of the jobs system: what has to hold of several together, and in which words. */

import type { OptionRelation } from '../../../runtime/base/option.ts';
import type { JobsConfiguration } from './options.ts';

export const JOBS_RELATIONS: ReadonlyArray<OptionRelation<JobsConfiguration>> = [
  {
    names: ['reportIntervalMs', 'stuckThresholdMs'],
    text: '"reportIntervalMs" must not be above "stuckThresholdMs"',
    holds: (given) => given.reportIntervalMs <= given.stuckThresholdMs,
  },
  {
    names: ['gateFallbackMs', 'checkIntervalMs'],
    text: '"gateFallbackMs" must not be below "checkIntervalMs"',
    holds: (given) => given.gateFallbackMs >= given.checkIntervalMs,
  },
  {
    names: ['gateFallbackMs', 'gateCheckIntervalMs'],
    text: '"gateFallbackMs" must not be below "gateCheckIntervalMs"',
    holds: (given) => given.gateFallbackMs >= given.gateCheckIntervalMs,
  },
  {
    names: ['minGrantMs', 'baseDeadlineMs'],
    text: '"minGrantMs" must not be above "baseDeadlineMs"',
    holds: (given) => given.minGrantMs <= given.baseDeadlineMs,
  },
  {
    names: ['heartbeatIntervalMs', 'baseDeadlineMs'],
    text: 'twice "heartbeatIntervalMs" must not be above "baseDeadlineMs"',
    holds: (given) => 2 * given.heartbeatIntervalMs <= given.baseDeadlineMs,
  },
  {
    names: ['silentAfterMs', 'reportIntervalMs'],
    text: '"silentAfterMs" must not be below twice "reportIntervalMs"',
    holds: (given) => given.silentAfterMs >= 2 * given.reportIntervalMs,
  },
  {
    names: ['leaseRenewMs', 'leaseMarginMs', 'leaseMs'],
    text: 'twice "leaseRenewMs" and "leaseMarginMs" together must be below "leaseMs"',
    holds: (given) => 2 * given.leaseRenewMs + given.leaseMarginMs < given.leaseMs,
  },
  {
    names: ['dispatchBackoffMinMs', 'dispatchBackoffMaxMs'],
    text: '"dispatchBackoffMinMs" must not be above "dispatchBackoffMaxMs"',
    holds: (given) => given.dispatchBackoffMinMs <= given.dispatchBackoffMaxMs,
  },
  {
    names: ['dedupRetentionMs', 'jobRetentionMs'],
    text: '"dedupRetentionMs" must not be above "jobRetentionMs"',
    holds: (given) => (given.dedupRetentionMs ?? 0) <= given.jobRetentionMs,
  },
];
