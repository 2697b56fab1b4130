/**
 * A job as a scenario file submits it.
 *
 * Guarantees: it goes to places that exist, its workflows depend on each other without a circle, and
 * in every datacenter that gets it every workflow has its work. What the file says of one workflow
 * in several entries is put together by datacenter here.
 */

import { QUORUMS } from '../../../machines/jobs/words.ts';
import type { Field } from '../../../reading/field.ts';
import type { PlannedJob, PlannedWorkflow } from '../plan.ts';
import type { Places } from './places.ts';
import { readWorkflows } from './workflows.ts';

const SIXTY_DAYS_MS = 5_184_000_000;
const TIMEOUT = { min: 1, max: SIXTY_DAYS_MS };
const THRESHOLD = { min: 1_000, max: SIXTY_DAYS_MS };

const KEYS = {
  job: true,
  to: true,
  datacenters: false,
  timeout: true,
  failFast: false,
  stuckThresholdMs: false,
  allStuckThresholdMs: false,
  datacenterTimeoutQuorum: false,
  workflows: true,
} as const;

/** The job so far as it makes sense; the mistakes say what does not. */
export function readSubmission(field: Field, places: Places): PlannedJob | undefined {
  const keys = field.record(KEYS);
  if (keys === undefined) return undefined;
  const jobId = keys.job?.id();
  const to = places.jobsService(keys.to);
  const isForGate = to !== undefined && places.isGate(to);
  const datacenters = readTargets(keys.datacenters, places, isForGate);
  const timeoutMs = keys.timeout?.duration(TIMEOUT);
  const failFast = keys.failFast?.flag();
  const stuckThresholdMs = keys.stuckThresholdMs?.duration(THRESHOLD);
  const allStuckThresholdMs = keys.allStuckThresholdMs?.duration(THRESHOLD);
  const datacenterTimeoutQuorum = keys.datacenterTimeoutQuorum?.word(QUORUMS);
  const targets = isForGate ? (datacenters ?? places.datacenters) : to === undefined ? [] : [to];
  const workflows: readonly PlannedWorkflow[] =
    keys.workflows === undefined ? [] : readWorkflows(keys.workflows, targets, places);
  if (jobId === undefined || to === undefined || timeoutMs === undefined) return undefined;
  return {
    jobId,
    to,
    timeoutMs,
    ...(datacenters !== undefined && { datacenters }),
    ...(failFast !== undefined && { failFast }),
    ...(stuckThresholdMs !== undefined && { stuckThresholdMs }),
    ...(allStuckThresholdMs !== undefined && { allStuckThresholdMs }),
    ...(datacenterTimeoutQuorum !== undefined && { datacenterTimeoutQuorum }),
    workflows,
  };
}

function readTargets(
  field: Field | undefined,
  places: Places,
  isForGate: boolean,
): readonly string[] | undefined {
  if (field === undefined) return undefined;
  const named = field.items().flatMap((item) => places.datacenter(item) ?? []);
  if (!isForGate) return field.wrong('is only for jobs that are submitted to a gate');
  if (field.isList && field.items().length === 0) return field.wrong('must name a datacenter');
  return [...new Set(named)];
}
