/** The recommendation: a percentile of what was observed, with a margin, in whole seconds. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ObservedJob, recommend } from '../../programs/jobs/recommend.ts';

const took = (elapsedMs: number, longestGapMs = 0): ObservedJob => ({ elapsedMs, longestGapMs });
const hundred = Array.from({ length: 100 }, (_, index) => took((index + 1) * 1_000, index + 1));

describe('a recommendation', () => {
  test('is the percentile with the margin, rounded up to whole seconds', () => {
    expect(recommend(hundred)?.timeoutMs).toEqual({
      p50Ms: 50_000,
      percentileMs: 99_000,
      maxMs: 100_000,
      recommendedMs: 149_000,
    });
    expect(recommend(hundred, { percentile: 0.9, margin: 1 })?.timeoutMs.recommendedMs).toBe(
      90_000,
    );
  });

  test('has a threshold of at least a second, which is the least that is legal', () => {
    expect(recommend(hundred)?.stuckThresholdMs.recommendedMs).toBe(1_000);
    expect(recommend([took(5_000, 4_000)])?.stuckThresholdMs.recommendedMs).toBe(6_000);
    expect(recommend([took(0)])?.timeoutMs.recommendedMs).toBe(1_000);
  });

  test('does not depend on the order of the jobs, and leaves them as they were', () => {
    const backwards = [...hundred].reverse();
    expect(recommend(backwards)).toEqual(recommend(hundred));
    expect(backwards).toEqual([...hundred].reverse());
  });

  test('says when there are too few jobs for the percentile to mean something', () => {
    expect(recommend(hundred.slice(0, 99))?.isReliable).toBe(false);
    expect(recommend(hundred)).toMatchObject({ isReliable: true, samples: 100 });
    expect(recommend(hundred, { percentile: 0.999 })?.isReliable).toBe(false);
    const thousand = Array.from({ length: 1_000 }, () => took(1));
    expect(recommend(thousand, { percentile: 1 })?.isReliable).toBe(true);
  });

  test('is none where nothing was observed', () => {
    expect(recommend([])).toBeUndefined();
  });

  test.each([
    { percentile: 0 },
    { percentile: 1.01 },
    { percentile: Number.NaN },
    { margin: 0.99 },
    { margin: 101 },
    { margin: Number.NaN },
  ])('refuses %o', (options) => {
    const [name] = Object.keys(options);
    const refusal = expect.objectContaining({
      code: 'OPTION_INVALID',
      message: expect.stringContaining(`"${name}"`),
    });
    expect(() => recommend(hundred, options)).toThrow(refusal);
    expect(() => recommend([], options)).toThrow(refusal);
  });

  test('covers the share of jobs that it was asked for, whatever they are', () => {
    const jobs = fc.array(
      fc.record({ elapsedMs: fc.nat(10_000_000), longestGapMs: fc.nat(1_000_000) }),
      { minLength: 1, maxLength: 200 },
    );
    const share = fc.integer({ min: 1, max: 100 }).map((percent) => percent / 100);
    fc.assert(
      fc.property(jobs, share, (observed, percentile) => {
        const found = recommend(observed, { percentile, margin: 1 });
        const covered = observed.filter(
          ({ elapsedMs }) => elapsedMs <= (found?.timeoutMs.recommendedMs as number),
        );
        expect(covered.length).toBeGreaterThanOrEqual(Math.ceil(observed.length * percentile));
        expect((found?.timeoutMs.recommendedMs as number) % 1_000).toBe(0);
      }),
    );
  });
});
