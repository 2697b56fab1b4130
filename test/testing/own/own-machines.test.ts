/**
 * Every machine of the project, tested by the tool as anybody's would be: its tests take every transition, are
 * in every state with every event, and let every deadline come, but for what is named as out of reach.
 */

import { expect, test } from 'vitest';
import { agentMachine } from '../../../machines/agents/agent.ts';
import { delegationMachine } from '../../../machines/agents/delegation.ts';
import { orchestrationMachine } from '../../../machines/agents/orchestration.ts';
import { taskMachine } from '../../../machines/agents/task.ts';
import * as machines from '../../../machines/index.ts';
import { datacenterMachine } from '../../../machines/jobs/datacenter.ts';
import { failedItemMachine } from '../../../machines/mapreduce/failed-item.ts';
import { mapAgentMachine } from '../../../machines/mapreduce/map-agent.ts';
import { runMachine } from '../../../machines/mapreduce/run.ts';
import { coverageOf } from '../../../testing/model/coverage.ts';
import { samplesFor } from '../../../testing/model/samples.ts';
import type { TestCase } from '../../../testing/model/step.ts';
import { Suite } from '../../../testing/model/suite.ts';
import { OWN_MACHINES } from './own-machines.ts';

/** What is no machine among the exports has no id. */
const idOf = (machine: unknown): string => (machine as { readonly id: string }).id;

test('every machine of the project is here', () => {
  const all = [
    ...[...Object.values(machines), datacenterMachine],
    ...[agentMachine, delegationMachine, orchestrationMachine, taskMachine],
    ...[failedItemMachine, mapAgentMachine, runMachine],
  ];
  const here = Object.values(OWN_MACHINES).map(({ machine }) => idOf(machine));
  expect(here.sort()).toEqual(all.map(idOf).sort());
});

/** Of each input. */
const SITUATIONS_MAX = 600;
const TRIED_MAX = 60_000;
const WALKED_STEPS = 2_000;

test.each(Object.entries(OWN_MACHINES))('%s', (_, own) => {
  const { machine, samples, unreachable, situationsMax = SITUATIONS_MAX } = own;
  // An input at a time: those of a machine with many would take each other's room.
  const cases: TestCase[] = [];
  for (const [name, input] of Object.entries(samples.inputs ?? {})) {
    const suite = new Suite(machine, {
      samples: { ...samples, inputs: { [name]: input } },
      phases: ['walks'],
      ...{ situationsMax, triedMax: TRIED_MAX },
    });
    cases.push(...suite.opening(), ...suite.cases(WALKED_STEPS));
  }
  const { shares, threw, idleExcuses } = coverageOf(
    machine,
    samplesFor(machine, samples),
    cases,
    unreachable,
  );
  const { states, transitions, pairs, timers } = shares;
  const missing = [states, transitions, pairs, timers].flatMap((share) => share.missing);
  expect([missing.slice(0, 20), threw, idleExcuses]).toEqual([[], [], []]);
});
