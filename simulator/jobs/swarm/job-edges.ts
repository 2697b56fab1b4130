/** Moments at which something is due about a job, reckoned as if nothing went wrong with it. */

import type { JobsConfiguration } from '../../../programs/jobs/configuration.ts';
import type { Edges } from '../../faults.ts';
import type { PlannedJob } from '../plan.ts';

/** Adds those of a job that is submitted then. */
export function addJob(
  edges: Edges,
  config: JobsConfiguration,
  job: PlannedJob,
  atMs: number,
): void {
  const { timeoutMs, stuckThresholdMs } = job;
  const { gateFallbackMs, allStuckThresholdMs, heartbeatIntervalMs } = config;
  const stuckMs = stuckThresholdMs ?? config.stuckThresholdMs;
  const dueAt = atMs + timeoutMs;
  edges.addMoments(dueAt, dueAt + gateFallbackMs, atMs + stuckMs, atMs + heartbeatIntervalMs);
  for (const { runsMs, stopsProgressAtMs } of job.workflows) {
    if (typeof runsMs === 'number') edges.addMoments(atMs + runsMs);
    if (stopsProgressAtMs === undefined) continue;
    const stuckAt = atMs + stopsProgressAtMs + stuckMs;
    edges.addMoments(stuckAt, stuckAt + gateFallbackMs);
    edges.addMoments(atMs + stopsProgressAtMs + allStuckThresholdMs);
  }
}
