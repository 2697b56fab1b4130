/**
 * Two plans of chance on real processes; twenty and more are played by
 * `npx tsx test/processes/main.ts --random 20`.
 */

import { beforeAll, describe, expect, test } from 'vitest';
import { compiledProgram } from '../kit/compiled.ts';
import { type PreparedPlan, playRandom, preparePlans } from './random-play.ts';

/** The first one that is fit has a pause in it, the second one a crash. */
const FROM = 119;
const COUNT = 2;
describe('a plan of chance on real processes', () => {
  let plans: readonly PreparedPlan[] = [];

  // While the simulator plays, this process can do nothing else.
  beforeAll(async () => {
    plans = await preparePlans(COUNT, FROM);
    compiledProgram();
  });

  test.concurrent.each([0, 1])('comes to what the simulator allows: plan %i', async (number) => {
    const { wrong, decided, among } = await playRandom(plans[number] as PreparedPlan);
    expect(wrong).toEqual([]);
    expect(decided + among).toBeGreaterThan(0);
  });
});
