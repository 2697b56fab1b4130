/**
 * Simulated outcomes of a plan.
 *
 * While it plays, this process must do nothing else: what real processes are compared with is
 * found out before any of them is started.
 */

import type { Plan } from '../../simulator/jobs/plan.ts';
import { play } from '../../simulator/jobs/run.ts';
import { resultOf, type ScenarioResult } from '../../simulator/jobs/scenario/result.ts';

export async function simulate(plan: Plan): Promise<ScenarioResult> {
  return resultOf({ file: plan.name, plan, expect: new Map() }, await play(plan));
}
