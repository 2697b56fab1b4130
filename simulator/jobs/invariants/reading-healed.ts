/**
 * Healed clusters: the moment from which one owes what liveness promises: its faults are over, and a leader
 * had time to be found.
 */

import type { JobsFacts } from '../facts.ts';

/** Lateness allowed for one decision. */
export const LATENESS_MS = 1_000;
/** Between two sends of a message that nobody acknowledges; see programs/jobs/limits.ts. */
export const RETRY_MAX_MS = 5_000;

/** When the faults are over, true time since zero; null when they never are. */
export function healedAtMs({ healedAtMs: healed, isFaultFree }: JobsFacts): number | null {
  return healed ?? (isFaultFree ? 0 : null);
}

/** The longest time without a leader while a manager is up and reaches the lease store. */
export function electionMs({ config }: JobsFacts): number {
  const { leaseMs, leaseRenewMs, leaseJitterMs } = config;
  // A paused claim asks again after a renewal's pause, and its node has to read its store.
  return leaseMs + 2 * leaseRenewMs + leaseJitterMs + LATENESS_MS;
}

/** How long a message that is sent again and again takes at most to arrive and to be answered. */
export function roundTripMs({ deltaMs }: JobsFacts): number {
  return 2 * deltaMs + RETRY_MAX_MS + LATENESS_MS;
}

/**
 * How long gate and datacenters take to find each other after everything has healed: a leader is
 * elected, a gate that was restarted listens for two reports, connections are made again.
 */
export function reunionMs(facts: JobsFacts): number {
  return electionMs(facts) + 2 * facts.config.reportIntervalMs + 2 * roundTripMs(facts);
}

/** Whether a node of the place is up and connected from the healing on. */
export function isInCore({ core, places }: JobsFacts, place: string): boolean {
  return core.some((node) => places[node] === place);
}
