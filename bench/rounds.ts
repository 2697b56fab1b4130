/**
 * Rounds: the cases take turns, so that whatever disturbs the machine disturbs all of them.
 *
 * Every case runs once to warm up. In each round after it all cases run once, in an order
 * that rotates from round to round, with a garbage collection before each. Cases are
 * compared round by round, and the median of these ratios counts.
 */

import type { MeasureOptions, Range } from './suite.ts';

export interface Case {
  readonly name: string;
  /** One sample, for example operations per second. */
  run(): Promise<number> | number;
}

const CONFIDENCE = 0.95;

export type Samples = Readonly<Record<string, readonly number[]>>;

export async function interleave(
  cases: readonly Case[],
  options: MeasureOptions,
): Promise<Samples> {
  const samples: Record<string, number[]> = {};
  for (const { name, run } of cases) {
    collectGarbage();
    options.progress(`  warm-up ${name}: ${format(await run())}`);
    samples[name] = [];
  }
  for (let round = 0; round < options.rounds; round += 1) {
    for (let turn = 0; turn < cases.length; turn += 1) {
      const { name, run } = cases[(round + turn) % cases.length] as Case;
      collectGarbage();
      const sample = await run();
      samples[name]?.push(sample);
      options.progress(`  round ${round + 1} ${name}: ${format(sample)}`);
    }
  }
  return samples;
}

/** Two cases compared round by round. */
export function ratios(samples: Samples, numerator: string, denominator: string): number[] {
  const above = samples[numerator] ?? [];
  const below = samples[denominator] ?? [];
  return above.map((sample, round) => sample / (below[round] as number));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value that the share `q` of all lies below, interpolated. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = Float64Array.from(values).sort();
  const position = (sorted.length - 1) * q;
  const below = sorted[Math.floor(position)] as number;
  return below + ((sorted[Math.ceil(position)] as number) - below) * (position % 1);
}

/**
 * Between which two of the values, counted from both ends, the median lies with at least that
 * confidence, whatever the distribution. Too few values: all of them.
 */
export function medianInterval(values: readonly number[]): Range {
  const sorted = Float64Array.from(values).sort();
  const count = sorted.length;
  // The share of samples in which fewer than `rank` of `count` values lie below the median.
  let rank = 0;
  let share = 0.5 ** count;
  let below = share;
  while (below <= (1 - CONFIDENCE) / 2) {
    rank += 1;
    share = (share * (count - rank + 1)) / rank;
    below += share;
  }
  const from = Math.max(rank, 1) - 1;
  return [sorted[from] as number, sorted[count - 1 - from] as number];
}

export function rangeOf(values: readonly number[]): Range {
  const sorted = Float64Array.from(values).sort();
  return [sorted[0] as number, sorted.at(-1) as number];
}

/** Median and range, for details. */
export function summary(values: readonly number[]): { median: number; range: Range } {
  return {
    median: rounded(median(values)),
    range: rangeOf(values).map(rounded) as unknown as Range,
  };
}

export function rounded(value: number): number {
  return Number(value.toPrecision(5));
}

/** The process is started with `--expose-gc`; without a collection the next case pays for the last one. */
export function collectGarbage(): void {
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) throw new Error('Measurements need node --expose-gc.');
  gc();
}

function format(sample: number): string {
  return sample >= 1_000 ? Math.round(sample).toLocaleString('en') : sample.toPrecision(4);
}
