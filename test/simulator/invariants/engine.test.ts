/** The invariants of the engine on histories of real programs: they apply, and nothing is wrong. */

import { expect, test } from 'vitest';
import { createMachine } from 'xstate';
import { History } from '../../../simulator/history/history.ts';
import { engineInvariants } from '../../../simulator/invariants/engine.ts';
import { judge } from '../../../simulator/invariants/invariant.ts';
import { PLAN_VERSION, type Plan, type Step } from '../../../simulator/jobs/plan.ts';
import { play } from '../../../simulator/jobs/run.ts';
import { testRuntime } from '../../../simulator/testing.ts';
import { retold } from '../../../simulator/world/retelling.ts';
import { FACTS } from './builders.ts';

function planOf(steps: readonly Step[], nemeses: Plan['nemeses'] = []): Plan {
  const workflows = ['w1', 'w2', 'w3'].map((id) => ({ id, runsMs: 15_000 }));
  const job = { jobId: 'j1', to: 'gate-1', timeoutMs: 60_000, workflows };
  const datacenter = { managers: 2, workers: 1 };
  return {
    version: PLAN_VERSION,
    name: 'engine',
    system: 'jobs',
    seed: 7,
    untilMs: 120_000,
    network: { delayMs: [10, 60], loss: 0.05, duplicate: 0.1, reorder: 0.1 },
    topology: { gates: 1, datacenters: { A: datacenter, B: datacenter } },
    config: {},
    steps: [{ atMs: 0, do: 'submit', job }, ...steps],
    nemeses,
    healAtMs: 50_000,
  };
}

test('a cluster that loses frames, leaders and groups keeps all of them', async () => {
  const steps: Step[] = [
    { atMs: 5_000, do: 'crash', node: 'A.manager-1' },
    { atMs: 9_000, do: 'restart', node: 'A.manager-1' },
    { atMs: 12_000, do: 'pause', node: 'B.manager-1', forMs: 20_000 },
    { atMs: 15_000, do: 'crash', node: 'gate-1' },
    { atMs: 25_000, do: 'restart', node: 'gate-1' },
  ];
  const full = { id: 'full', kind: 'fullDisk', atMs: 2_000, durMs: 30_000 };
  const nemeses = [{ ...full, targets: ['A'], params: { reason: 'ENOSPC', every: 3, share: 1 } }];
  const split = { id: 'split', kind: 'splitGroup', atMs: 1_000, durMs: 30_000, targets: ['B'] };
  const forgetful = { id: 'forget', kind: 'forgetfulGate', atMs: 10_000, durMs: 1_000 };
  const thrower = { id: 'throw', kind: 'throwingOnlookers', atMs: 5_000, durMs: 1_000 };
  const plan = planOf(steps, [
    ...nemeses,
    { ...split, params: { times: 3, downMs: 500 } },
    { ...forgetful, targets: ['gate-1'], params: { downMs: 500 } },
    { ...thrower, targets: ['B'], params: { watch: 'both', everyMs: 100 } },
  ]);
  const { judgement } = await play(plan, { invariants: engineInvariants });
  expect(judgement.violations).toEqual([]);
  const idle = Object.entries(judgement.exercised).filter(([, times]) => times === 0);
  expect(idle).toEqual([]);
});

test('a machine that throws is found, and its failure is kept', async () => {
  const machine = createMachine({
    on: {
      throw: {
        guard: () => {
          throw new Error('No.');
        },
      },
    },
  });
  await using runtime = await testRuntime({ kinds: { thrower: machine } });
  const history = new History(() => runtime.now());
  runtime.runtime.inspect((record) => {
    const fact = retold(record);
    if (fact !== undefined) history.add(record.node, fact);
  });
  const actor = await runtime.spawn('thrower/1');
  await expect(actor.send({ type: 'throw' })).rejects.toThrow('No.');
  await runtime.settle();
  const { violations, exercised } = judge(engineInvariants, FACTS, history.records, 1_000);
  expect(violations.map(({ invariant }) => invariant)).toEqual(['RT-3']);
  expect(exercised['RT-2']).toBe(1);
});
