/**
 * A duration: always the same, or drawn again each time from a distribution.
 *
 * Guarantees: whole milliseconds, never below 0 and never above `maxMs`. Exponential is what many
 * small independent causes make; Pareto is what a few very bad ones make, its tail is as long as the
 * cap allows.
 */

import type { Random } from '../../runtime/ports/random.ts';

export type Delay =
  | { readonly shape: 'fixed'; readonly ms: number }
  | { readonly shape: 'uniform'; readonly minMs: number; readonly maxMs: number }
  | {
      readonly shape: 'exponential';
      readonly minMs: number;
      /** Above the least. */
      readonly meanMs: number;
      readonly maxMs: number;
    }
  | {
      readonly shape: 'pareto';
      /** The least, and the scale of all others: half of them are below `minMs * 2 ** (1 / tail)`. */
      readonly minMs: number;
      /** The smaller, the longer the tail; from 1 downwards only the cap gives it a mean. */
      readonly tail: number;
      readonly maxMs: number;
    };

export function drawDelay(delay: Delay, random: Random): number {
  if (delay.shape === 'fixed') return delay.ms;
  const { minMs, maxMs } = delay;
  return Math.min(maxMs, Math.round(exactDelay(delay, minMs, maxMs, random.next())));
}

function exactDelay(
  delay: Exclude<Delay, { shape: 'fixed' }>,
  minMs: number,
  maxMs: number,
  drawn: number,
): number {
  switch (delay.shape) {
    case 'uniform':
      return minMs + drawn * (maxMs - minMs);
    case 'exponential':
      return minMs - delay.meanMs * Math.log1p(-drawn);
    case 'pareto':
      return minMs / (1 - drawn) ** (1 / delay.tail);
  }
}

/** @throws {RangeError} when it could be negative, without an end, or no number. */
export function checkDelay(delay: Delay): void {
  const { shape, ...parts } = delay;
  for (const [name, value] of Object.entries(parts))
    if (!(value >= 0 && Number.isFinite(value)))
      throw new RangeError(`${name} of a delay is 0 or more, not ${value}.`);
  if (delay.shape === 'pareto' && !(delay.tail > 0 && delay.minMs > 0))
    throw new RangeError('A Pareto delay needs a tail and a least delay above 0.');
  if (shape !== 'fixed' && delay.minMs > delay.maxMs)
    throw new RangeError(
      `A delay goes from ${delay.minMs} to as much or more, not ${delay.maxMs}.`,
    );
  if (shape === 'fixed' && !Number.isSafeInteger(delay.ms))
    throw new RangeError(`A fixed delay is in whole milliseconds, not ${delay.ms}.`);
}
