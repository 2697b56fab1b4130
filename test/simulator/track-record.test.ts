/**
 * Runs that once broke something, see docs/track-record.md: they must stay clean.
 *
 * A seed means what it meant then only as long as plans are drawn as they were; the shrunk plans in
 * `record/` are what they are, and the test that stands beside each mended fault is of neither.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { play } from '../../simulator/jobs/run.ts';
import { readPlan } from '../../simulator/report/plan-file.ts';
import { drawPlan, type SwarmOptions } from '../../simulator/swarm/draw-plan.ts';

const RECORD = join(import.meta.dirname, 'record');
const LARGE = { managers: 3, workers: 1 };

const SEEDS: ReadonlyArray<{
  readonly was: string;
  readonly seed: number;
  readonly options?: SwarmOptions;
}> = [
  { was: 'a cancel while a job was being taken in was answered by nobody', seed: 1011 },
  {
    was: 'a submission that came again while its job ended gave birth to a workflow for ever',
    seed: 24,
    options: {
      topology: { gates: 1, datacenters: { A: LARGE, B: LARGE, C: LARGE } },
      jobs: 2,
      untilMs: 3_600_000,
    },
  },
];

test.each(SEEDS)('seed $seed is clean: $was', { timeout: 60_000 }, async ({ seed, options }) => {
  const { judgement, history } = await play(drawPlan(seed, options));
  expect(judgement.violations).toEqual([]);
  const errors = history.records.filter((one) => one.type === 'log' && one.level === 'error');
  expect(errors).toEqual([]);
});

test.each(readdirSync(RECORD))('%s is clean', { timeout: 60_000 }, async (name) => {
  const plan = readPlan(readFileSync(join(RECORD, name), 'utf8'), name);
  expect((await play(plan)).judgement.violations).toEqual([]);
});
