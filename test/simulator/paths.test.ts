/**
 * Every machine of the project, on shortest paths through every state, every transition of every
 * microstep, and every state with every event type: the engine does what the pure machine says.
 *
 * What no path can reach is in the plan of its machine, each with the reason.
 */

import { describe, expect, test } from 'vitest';
import * as machines from '../../machines/index.ts';
import { faultsOf, summaryOf } from '../paths/report.ts';
import { walkPaths } from '../paths/walk.ts';
import { attemptPlan } from './paths/attempt.ts';
import { datacenterPlan } from './paths/datacenter.ts';
import { gateJobPlan } from './paths/gate-job.ts';
import { jobPlan } from './paths/job.ts';
import { jobsServicePlan } from './paths/jobs-service.ts';
import { leadershipPlan } from './paths/leadership.ts';
import { reminderPlan } from './paths/reminder.ts';
import { submissionPartPlan } from './paths/submission-part.ts';
import { workerPlan } from './paths/worker.ts';
import { workerHealthPlan } from './paths/worker-health.ts';
import { workerPoolPlan } from './paths/worker-pool.ts';
import { workflowPlan } from './paths/workflow.ts';

const plans = [
  attemptPlan,
  datacenterPlan,
  jobsServicePlan,
  gateJobPlan,
  jobPlan,
  leadershipPlan,
  reminderPlan,
  submissionPartPlan,
  workerHealthPlan,
  workerPlan,
  workerPoolPlan,
  workflowPlan,
];

/** What is no machine among the exports has no id. */
const idOf = (machine: unknown): string => (machine as { readonly id: string }).id;

test('every machine of the project has a plan', () => {
  const known = plans.map(({ machine }) => idOf(machine));
  // A datacenter is no kind: it is a chart in the record of a gate's job.
  const all = [...Object.values(machines), datacenterPlan.machine];
  expect(all.map(idOf).sort()).toEqual(known.sort());
});

describe('the engine walks every path as the pure machine does', () => {
  test.each(plans)('$machine.id', async (plan) => {
    const walked = await walkPaths(plan);
    expect(faultsOf(walked), summaryOf(plan, walked)).toEqual([]);
  });
});
