/**
 * A part of the scenarios on real processes, with the simulator's outcomes; the others are played by
 * `npx tsx test/processes/main.ts`.
 *
 * They mostly wait for deadlines, so several are played at the same time.
 */

import { beforeAll, describe, expect, test } from 'vitest';
import type { ScenarioResult } from '../../simulator/jobs/scenario/result.ts';
import { compiledProgram } from '../kit/compiled.ts';
import { listScenarios, readScenario } from './conformance.ts';
import { playOnProcesses } from './play.ts';
import { LEFT_OUT, PLAYED } from './scenarios.ts';
import { simulate } from './simulated.ts';

const short = PLAYED.filter(({ isShort }) => isShort === true);
describe('the list of scenarios for processes', () => {
  test('has every scenario, or says why not', () => {
    const named = [...PLAYED.map(({ file }) => file), ...Object.keys(LEFT_OUT)];
    expect(named.toSorted()).toEqual(listScenarios().toSorted());
  });

  test('plays twenty and more', () => {
    expect(PLAYED.length).toBeGreaterThanOrEqual(20);
  });
});

describe('real processes', () => {
  const simulated = new Map<string, ScenarioResult>();

  // While the simulator plays, this process can do nothing else.
  beforeAll(async () => {
    for (const { file } of short) simulated.set(file, await simulate(readScenario(file).plan));
    compiledProgram();
  });

  test.concurrent.each(short)(
    'come to the end of the simulator: $file',
    async ({ file, ...pace }) => {
      const ended = simulated.get(file) as ScenarioResult;
      const scenario = readScenario(file);
      const play = await playOnProcesses({ ...scenario, ...pace, simulated: ended });
      const { failures, differences, troubles } = play;
      expect({ failures, differences, troubles }).toEqual({
        failures: [],
        differences: [],
        troubles: [],
      });
    },
  );
});
