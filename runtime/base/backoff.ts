/** Pauses between tries: doubling up to a limit, and spread, if wanted, so that many do not come back at once. */

import type { Random } from '../ports/random.ts';
import type { RuntimeLimits } from './limits.ts';

/** The pause after the given failed attempt (1 for the first). */
export function pauseMs(attempt: number, limits: RuntimeLimits): number {
  return Math.min(limits.retryMaxMs, limits.retryMinMs * 2 ** Math.min(attempt - 1, 20));
}

/** The same, shortened at random by up to `retryJitterPercent`. */
export function jitteredPauseMs(attempt: number, limits: RuntimeLimits, random: Random): number {
  const taken = (limits.retryJitterPercent / 100) * (1 - random.next());
  return Math.ceil(pauseMs(attempt, limits) * (1 - taken));
}
