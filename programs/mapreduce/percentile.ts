/** Percentile by nearest rank. */

/** The least of the values that a percentage of them does not exceed; 0 of none. */
export function nearestRank(values: readonly number[], percentile: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percentile / 100) * sorted.length) - 1)] ?? 0;
}
