/** Pauses between tries: doubling up to a limit, spread by half so that many do not come back at once. */

import type { RuntimeLimits } from './options.ts';
import type { Random } from './random.ts';

/** The pause after the given failed attempt (1 for the first), in whole milliseconds. */
export function jittered(attempt: number, limits: RuntimeLimits, random: Random): number {
  const full = Math.min(limits.retryMaxMs, limits.retryMinMs * 2 ** Math.min(attempt - 1, 20));
  return Math.ceil(full * (0.5 + random.next() / 2));
}
