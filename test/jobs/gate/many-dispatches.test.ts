/** A gate that carries many jobs at once to a datacenter that does not answer. */

import { expect, test } from 'vitest';
import type { Plan, Step } from '../../../simulator/jobs/plan.ts';
import { play } from '../../../simulator/jobs/run.ts';

const submit = (_: unknown, index: number): Step => ({
  atMs: 2_000,
  do: 'submit',
  job: {
    jobId: `j${index}`,
    to: 'gate-1',
    timeoutMs: 60_000,
    workflows: [{ id: 'w1', runsMs: 10 }],
  },
});

const plan: Plan = {
  version: 1,
  name: 'many dispatches',
  system: 'jobs',
  seed: 1,
  untilMs: 30_000,
  network: { delayMs: [1, 1], loss: 0, duplicate: 0, reorder: 0 },
  topology: { gates: 1, datacenters: { A: { managers: 1, workers: 1 } } },
  config: {},
  steps: [{ atMs: 1_000, do: 'crash', node: 'A.manager-1' }, ...Array.from({ length: 20 }, submit)],
  nemeses: [],
  healAtMs: null,
};

test('Node finds no leak in that', async () => {
  const warnings: Error[] = [];
  const hear = (warning: Error): void => void warnings.push(warning);
  process.on('warning', hear);
  try {
    await play(plan, { invariants: [] });
    // Warnings are told in a turn of the event loop of their own.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off('warning', hear);
  }
  expect(warnings.map(String)).toEqual([]);
});
