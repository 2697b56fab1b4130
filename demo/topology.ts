/**
 * Topology of the demo: a gate, and three datacenters of two managers and two workers each.
 */

import type { JobsConfiguration } from '../programs/jobs/configuration.ts';

export const GATE = 'gate';
export const DATACENTERS = ['A', 'B', 'C'] as const;
export type Datacenter = (typeof DATACENTERS)[number];

export type NodeRole = 'gate' | 'manager' | 'worker';

export interface NodePlan {
  readonly name: string;
  readonly role: NodeRole;
  /** The gate is in none. */
  readonly datacenter: Datacenter | undefined;
}

const EACH = [1, 2] as const;

const GATE_NODE: NodePlan = { name: GATE, role: 'gate', datacenter: undefined };
export const MANAGERS: readonly NodePlan[] = DATACENTERS.flatMap((datacenter) =>
  EACH.map((n): NodePlan => ({ name: `${datacenter}.manager-${n}`, role: 'manager', datacenter })),
);
const WORKERS: readonly NodePlan[] = DATACENTERS.flatMap((datacenter) =>
  EACH.map((n): NodePlan => ({ name: `${datacenter}.worker-${n}`, role: 'worker', datacenter })),
);
export const NODES: readonly NodePlan[] = [GATE_NODE, ...MANAGERS, ...WORKERS];

export const WORKER_CORES = 8;
/** Time that a worker that is told to stop waits for what runs: what is left is run again later. */
export const STOP_LIMIT_MS = 1_500;

/** Minutes of the defaults are seconds here, so that everything can be seen within one minute. */
export const JOBS_SETTINGS = {
  checkIntervalMs: 2_000,
  gateCheckIntervalMs: 2_000,
  gateFallbackMs: 15_000,
  gateDispatchLimitMs: 20_000,
  stuckThresholdMs: 25_000,
  allStuckThresholdMs: 30_000,
  reportIntervalMs: 1_000,
  silentAfterMs: 3_000,
  settleLimitMs: 8_000,
  heartbeatIntervalMs: 1_000,
  baseDeadlineMs: 4_000,
  suspectGraceMs: 3_000,
  managerLostMs: 4_000,
  orphanGraceMs: 60_000,
  cancelGraceMs: 1_000,
  dispatchAckTimeoutMs: 2_000,
  dispatchBackoffMinMs: 200,
  dispatchBackoffMaxMs: 2_000,
  maxDispatchAttempts: 50,
  maxRetries: 5,
  jobRetentionMs: 1_800_000,
} as const satisfies Partial<JobsConfiguration>;

/** `A.manager-2` of datacenter A is `manager-2`, because the line says A already. */
export function shortName(node: string): string {
  return node.slice(node.indexOf('.') + 1);
}
