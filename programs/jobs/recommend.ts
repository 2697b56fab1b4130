/**
 * Recommended timeouts for jobs like those that were observed: sums over how long they took.
 *
 * Completed jobs say how much time work needs; the longest pause between two signs of progress
 * says how long to wait for one. A recommendation is a percentile of those with a margin, rounded
 * up to whole seconds. It is a starting point for people and changes nothing by itself.
 */

import { RuntimeError } from '../../runtime/base/errors.ts';

/** A job that was completed, with timeouts enforced or not. */
export interface ObservedJob {
  readonly elapsedMs: number;
  /** The longest time without progress while an attempt was out. */
  readonly longestGapMs: number;
}

export interface RecommendOptions {
  /** Share of the observed jobs that the value should cover before the margin. Default 0.99. */
  readonly percentile?: number;
  /** Factor of the percentile. Default 1.5. */
  readonly margin?: number;
}

export interface RecommendedLimit {
  readonly p50Ms: number;
  readonly percentileMs: number;
  readonly maxMs: number;
  readonly recommendedMs: number;
}

export interface Recommendation {
  readonly samples: number;
  /** False with fewer samples than a percentile needs to mean something. */
  readonly isReliable: boolean;
  readonly timeoutMs: RecommendedLimit;
  readonly stuckThresholdMs: RecommendedLimit;
}

const STUCK_THRESHOLD_MIN_MS = 1_000;
/** Ten samples are enough for 0.9, although 10 × (1 − 0.9) is a little below 1. */
const ROUNDING = 1e-9;

/** @throws {RuntimeError} OPTION_INVALID; undefined without any sample. */
export function recommend(
  observed: readonly ObservedJob[],
  { percentile = 0.99, margin = 1.5 }: RecommendOptions = {},
): Recommendation | undefined {
  if (!(percentile > 0 && percentile <= 1))
    throw new RuntimeError(
      'OPTION_INVALID',
      `"percentile" is above 0 and at most 1, got ${percentile}.`,
    );
  if (!(margin >= 1 && margin <= 100))
    throw new RuntimeError('OPTION_INVALID', `"margin" is from 1 to 100, got ${margin}.`);
  if (observed.length === 0) return undefined;
  const elapsed = observed.map(({ elapsedMs }) => elapsedMs);
  const gaps = observed.map(({ longestGapMs }) => longestGapMs);
  return {
    samples: observed.length,
    // Below this the percentile is the maximum, whatever it is called.
    isReliable: observed.length * (1 - percentile) >= 1 - ROUNDING || observed.length >= 1_000,
    timeoutMs: limitOf(elapsed, percentile, margin, 1_000),
    stuckThresholdMs: limitOf(gaps, percentile, margin, STUCK_THRESHOLD_MIN_MS),
  };
}

function limitOf(
  values: readonly number[],
  percentile: number,
  margin: number,
  leastMs: number,
): RecommendedLimit {
  const sorted = [...values].sort((one, other) => one - other);
  const percentileMs = valueAt(sorted, percentile);
  const recommendedMs = Math.max(leastMs, Math.ceil((percentileMs * margin) / 1_000) * 1_000);
  return {
    p50Ms: valueAt(sorted, 0.5),
    percentileMs,
    maxMs: sorted.at(-1) as number,
    recommendedMs,
  };
}

/** The smallest value that at least this share of all is not above. */
function valueAt(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] as number;
}
