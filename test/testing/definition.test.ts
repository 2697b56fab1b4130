/** Rebuilt machines: a copy of a definition behaves as the original, for every machine of the project. */

import { expect, test } from 'vitest';
import * as machines from '../../machines/index.ts';
import { draftOf, rebuild } from '../../testing/model/definition.ts';
import { observed } from '../../testing/model/observation.ts';
import { Subject } from '../../testing/model/subject.ts';
import { Suite } from '../../testing/model/suite.ts';
import { attemptPlan } from '../simulator/paths/attempt.ts';
import { workflowPlan } from '../simulator/paths/workflow.ts';
import { doorMachine } from './door.ts';

const definitionOf = (machine: unknown): unknown =>
  JSON.parse(JSON.stringify((machine as typeof doorMachine).definition));

test('a rebuilt machine has the definition of the original', () => {
  for (const machine of [doorMachine, ...Object.values(machines)])
    expect(definitionOf(rebuild(draftOf(machine as never)))).toEqual(definitionOf(machine));
});

test.each([
  ['door', doorMachine, undefined],
  ['attempt', attemptPlan.machine, attemptPlan.inputs],
  ['workflow', workflowPlan.machine, workflowPlan.inputs],
] as const)('a rebuilt machine behaves as the original: %s', (_, machine, inputs) => {
  const suite = new Suite(machine as never, {
    samples: inputs === undefined ? {} : { inputs },
    situationsMax: 100,
  });
  const [one, other] = [
    new Subject(machine as never),
    new Subject(rebuild(draftOf(machine as never))),
  ];
  for (const { input, steps } of suite.cases(1_000)) {
    for (const subject of [one, other]) subject.begin(suite.samples.inputs[input]);
    for (const step of steps) {
      for (const subject of [one, other]) subject.perform(step);
      expect(observed(other, 'full')).toBe(observed(one, 'full'));
    }
  }
});
