/**
 * Timetable of the faults: when each happens, and where; the same for the same seed.
 *
 * Each round has every fault once, in an order that lets one be over before the next begins. A round
 * is a minute, or all of a run that is shorter: then everything follows quicker.
 */

import type { Random } from '../runtime/ports/random.ts';
import type { FaultKind } from './faults.ts';
import { DATACENTERS, type Datacenter } from './topology.ts';

export interface PlannedFault {
  /** Time since the load began. */
  readonly atMs: number;
  readonly kind: FaultKind;
  readonly datacenter: Datacenter;
  /** Time that it lasts, or for which the node stays away. */
  readonly lengthMs: number;
}

const ROUND_MS = 60_000;
/** Parts of a round: when it begins, how long it lasts, and the longest that makes sense. */
const ROUND: ReadonlyArray<readonly [FaultKind, number, number, number]> = [
  ['workerPaused', 0.1, 0.4, 9_000],
  ['managerKilled', 0.3, 0.15, 3_000],
  ['gateRestarted', 0.5, 0, 0],
  ['partition', 0.65, 0.2, 6_000],
];

/** Endless, unless there is a `durationMs`. */
export function* timetable(random: Random, durationMs?: number): Generator<PlannedFault> {
  const roundMs = Math.min(ROUND_MS, durationMs ?? ROUND_MS);
  for (let round = 0; ; round += 1) {
    const first = Math.floor(random.next() * DATACENTERS.length);
    for (const [index, [kind, begins, lasts, longestMs]] of ROUND.entries()) {
      const lengthMs = Math.round(Math.min(longestMs, lasts * roundMs));
      const atMs = Math.round((round + begins) * roundMs);
      if (durationMs !== undefined && atMs + lengthMs > durationMs) return;
      const datacenter = DATACENTERS[(first + index) % DATACENTERS.length] ?? 'A';
      yield { atMs, kind, datacenter, lengthMs };
    }
  }
}
