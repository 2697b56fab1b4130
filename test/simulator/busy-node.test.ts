/**
 * A datacenter whose node is slower than its work: its disk writes eight turns in ten milliseconds, and two thousand
 * workflows are submitted within a moment. The deadlines of jobs that began before are met all the same: TO-7 judges
 * that from records and moments alone, and TS-7 that no client waits for ever.
 */

import { expect, test } from 'vitest';
import { PLAN_VERSION, type Plan, type Step } from '../../simulator/jobs/plan.ts';
import { play } from '../../simulator/jobs/run.ts';

const FLOOD_AT_MS = 19_000;

const due: readonly Step[] = [20_000, 20_500, 21_500, 23_000].map((timeoutMs, index) => ({
  atMs: 0,
  do: 'submit',
  job: { jobId: `due${index}`, to: 'A', timeoutMs, workflows: [{ id: 'w1', runsMs: null }] },
}));

const flood: readonly Step[] = Array.from({ length: 20 }, (_, index) => {
  const workflows = Array.from({ length: 100 }, (__, number) => ({ id: `w${number}`, runsMs: 50 }));
  const job = { jobId: `f${index}`, to: 'A', timeoutMs: 600_000, workflows };
  return { atMs: FLOOD_AT_MS + index, do: 'submit', job };
});

const plan: Plan = {
  version: PLAN_VERSION,
  name: 'a node slower than its work',
  system: 'jobs',
  seed: 1,
  untilMs: 26_000,
  network: { delayMs: [1, 1], loss: 0, duplicate: 0, reorder: 0 },
  topology: { gates: 0, datacenters: { A: { managers: 1, workers: 1, cores: 16 } } },
  config: {},
  bounds: { 'limit.groupTurnsMax': 8 },
  commitMs: [10, 10],
  steps: [...due, ...flood],
  nemeses: [],
  healAtMs: null,
};

test('a node slower than its work meets its deadlines', async () => {
  const { judgement } = await play(plan);
  expect(judgement.violations).toEqual([]);
  expect(judgement.exercised['TO-7']).toBeGreaterThanOrEqual(due.length);
});
