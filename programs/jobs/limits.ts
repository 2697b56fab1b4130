/**
 * Limits of the runtimes under the programs of the jobs system.
 *
 * Messages that nobody acknowledges are sent again after 1, 2, 4 and then every 5 seconds, exactly.
 * A job of ten thousand workflows speaks to each of them in one turn, and has a large record.
 */

import { DEFAULT_LIMITS, type RuntimeLimits } from '../../runtime/base/limits.ts';
import type { JobsConfiguration } from './configuration.ts';

export const JOBS_LIMITS = {
  retryMinMs: 1_000,
  retryMaxMs: 5_000,
  retryJitterPercent: 0,
  mailboxMax: 50_000,
  outboxMax: 25_000,
  sendersMax: 25_000,
  recordBytesMax: 4 * 1024 * 1024,
} satisfies Partial<RuntimeLimits>;

interface OwnLimits {
  readonly clientRequestsPerMinute?: number;
  readonly limits?: Partial<RuntimeLimits>;
}

/** Limits of a manager or a gate. */
export function jobsLimits(
  config: JobsConfiguration,
  { clientRequestsPerMinute, limits }: OwnLimits,
): Partial<RuntimeLimits> {
  return {
    ...JOBS_LIMITS,
    endedRetentionMs: config.jobRetentionMs,
    dedupRetentionMs: dedupRetentionMs(config),
    fenceStepMax: config.fenceStepMax,
    ...(clientRequestsPerMinute !== undefined && {
      clientMessagesPerMinute: clientRequestsPerMinute,
    }),
    ...limits,
  };
}

/**
 * Time for which a receiver knows a message again. Its sender is kept at least as long, so
 * it is never longer than jobs are kept: they would be kept for it.
 */
export function dedupRetentionMs({
  dedupRetentionMs: given,
  jobRetentionMs,
}: Pick<JobsConfiguration, 'dedupRetentionMs' | 'jobRetentionMs'>): number {
  return given ?? Math.min(jobRetentionMs, DEFAULT_LIMITS.dedupRetentionMs);
}
