import { expect, test } from 'vitest';
import { FAULT_KINDS } from '../../demo/faults.ts';
import { drawKind, JOB_KINDS } from '../../demo/job-kinds.ts';
import { timetable } from '../../demo/timetable.ts';
import { SeededRandom } from '../../simulator/world/random.ts';

const plan = (seed: number, durationMs: number) => [
  ...timetable(new SeededRandom(seed), durationMs),
];

test('every fault of a run is over before the run is, and comes once in a short one', () => {
  for (const durationMs of [10_000, 20_000, 60_000]) {
    const faults = plan(1, durationMs);
    expect(faults.map(({ kind }) => kind).sort()).toEqual([...FAULT_KINDS].sort());
    for (const { atMs, lengthMs } of faults)
      expect(atMs + lengthMs).toBeLessThanOrEqual(durationMs);
  }
  expect(plan(1, 180_000)).toHaveLength(3 * FAULT_KINDS.length);
});

test('the same seed makes the same faults and the same jobs', () => {
  expect(plan(7, 120_000)).toEqual(plan(7, 120_000));
  const jobs = (seed: number) => {
    const random = new SeededRandom(seed);
    return Array.from({ length: 200 }, () => drawKind(random, 60_000)?.make(random));
  };
  expect(jobs(7)).toEqual(jobs(7));
  expect(jobs(7)).not.toEqual(jobs(8));
});

test('every kind of job comes, and near the end of a run only those that can still end', () => {
  const random = new SeededRandom(1);
  const drawn = new Set(Array.from({ length: 1_000 }, () => drawKind(random, 60_000)));
  expect(drawn.size).toBe(JOB_KINDS.filter(({ weight }) => weight > 0).length);
  for (let n = 0; n < 200; n += 1)
    expect(drawKind(random, 3_000)?.usualMs ?? 0).toBeLessThanOrEqual(3_000);
  expect(drawKind(random, 100)).toBeUndefined();
});
