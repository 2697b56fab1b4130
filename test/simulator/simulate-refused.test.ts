/** Refusals of `simulate`: options, plans, workloads and machines that no run can be made of. */

import { describe, expect, test } from 'vitest';
import { setup } from 'xstate';
import {
  NEMESES,
  type SimulateOptions,
  type SimulationPlan,
  simulate,
} from '../../simulator/index.ts';
import { shapeOf } from '../../simulator/simulation/cluster.ts';
import { drawSimulation } from '../../simulator/simulation/plan.ts';
import { checkPlan } from '../../simulator/simulation/plan-check.ts';
import { counting, type kinds } from './counting.ts';

describe('refused is', () => {
  test('a machine that looks at the real clock', async () => {
    const hasty = setup({}).createMachine({ context: () => ({ at: Date.now() }) });
    const run = simulate({
      kinds: { hasty },
      seeds: 1,
      workload: ({ at, spawn }) => at(0, 'begin', () => spawn('hasty/1')),
    });
    await expect(run).rejects.toMatchObject({ code: 'SEALED' });
  });

  test.each<[string, Partial<SimulateOptions<typeof kinds>>]>([
    ['no runs', { seeds: 0 }],
    ['a seed that is no number', { from: Number.NaN }],
    ['seeds beyond the whole numbers', { from: Number.MAX_SAFE_INTEGER, seeds: 2 }],
    ['a fault that nobody knows', { nemeses: ['rain'] }],
    ['a place without nodes', { places: { left: { nodes: 0 } } }],
    ['no place', { places: {} }],
    ['the place of the client', { places: { client: { nodes: 1 } } }],
    ['a length that is none', { until: 'long' }],
  ])('%s', async (_, options) => {
    await expect(counting(options)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });

  const plan: SimulationPlan = {
    seed: 1,
    untilMs: 1_000,
    healAtMs: null,
    delayMs: [1, 1],
    steps: ['begin', 'tell #6'],
    nemeses: [],
  };
  const fault = { id: 'n1', kind: 'powerCut', atMs: 1, durMs: 1, targets: ['left'], params: {} };

  test.each<[string, unknown, RegExp]>([
    ['a plan that is none', {}, /"plan" is none: seed: /],
    ['a plan with more in it', { ...plan, system: 'jobs' }, /"plan" is none: .*system/],
    [
      'a plan that turns back time',
      { ...plan, nemeses: [{ ...fault, atMs: -1 }] },
      /nemeses\.0\.atMs/,
    ],
    [
      'a plan of another workload',
      { ...plan, steps: ['count'] },
      /the step "count".* It has: begin, /,
    ],
    [
      'a plan with a fault that nobody knows',
      { ...plan, nemeses: [{ ...fault, kind: 'gateOutage' }] },
      /the fault n1 of the kind "gateOutage"/,
    ],
    [
      'a plan of another cluster',
      { ...plan, nemeses: [{ ...fault, targets: ['left-2', 'left-9'] }] },
      /the fault n1 on "left-9"/,
    ],
  ])('%s', async (_, given, message) => {
    const refusal = await counting({ plan: given as SimulationPlan }).catch(String);
    expect(refusal).toMatch(message);
    await expect(counting({ plan: given as SimulationPlan })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
    });
  });

  test('no plan that chance has made', async () => {
    const simulated = {
      shape: shapeOf({ kinds: {}, places: { a: { nodes: 2 }, b: { nodes: 1 } } }),
    };
    const kinds = Object.keys(NEMESES);
    for (let seed = 1; seed <= 300; seed++) {
      const drawn = drawSimulation(seed, {
        ...simulated,
        untilMs: 60_000,
        deadlines: [],
        steps: [{ id: 'begin', atMs: 9_000, action: () => {} }],
        nemeses: kinds,
      });
      checkPlan(drawn, { ...simulated, kinds, stepsOf: () => ['begin'] });
    }
  });

  test('a workload that acts before the run', async () => {
    const workload: SimulateOptions<typeof kinds>['workload'] = ({ actor }) => {
      actor('counter/1').hint({ type: 'counter.end' });
    };
    await expect(counting({ workload })).rejects.toThrow(/inside of the steps/);
  });
});
