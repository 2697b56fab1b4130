/** Machines of this project, with the inputs and events of the plans by which their paths are tested. */

import type { PathPlan } from '../../test/paths/plan.ts';
import { attemptPlan } from '../../test/simulator/paths/attempt.ts';
import { datacenterPlan } from '../../test/simulator/paths/datacenter.ts';
import { gateJobPlan } from '../../test/simulator/paths/gate-job.ts';
import { jobPlan } from '../../test/simulator/paths/job.ts';
import { leadershipPlan } from '../../test/simulator/paths/leadership.ts';
import { reminderPlan } from '../../test/simulator/paths/reminder.ts';
import { submissionPartPlan } from '../../test/simulator/paths/submission-part.ts';
import { workerPlan } from '../../test/simulator/paths/worker.ts';
import { workerHealthPlan } from '../../test/simulator/paths/worker-health.ts';
import { workerPoolPlan } from '../../test/simulator/paths/worker-pool.ts';
import { workflowPlan } from '../../test/simulator/paths/workflow.ts';
import type { EventsAt, GivenSamples } from '../../testing/model/samples.ts';
import type { CorpusEntry } from './entry.ts';

const PLANS: Readonly<Record<string, PathPlan>> = {
  'own-attempt': attemptPlan,
  'own-datacenter': datacenterPlan,
  'own-gate-job': gateJobPlan,
  'own-job': jobPlan,
  'own-leadership': leadershipPlan,
  'own-reminder': reminderPlan,
  'own-submission-page': submissionPartPlan,
  'own-worker': workerPlan,
  'own-worker-health': workerHealthPlan,
  'own-worker-pool': workerPoolPlan,
  'own-workflow': workflowPlan,
};

export const OWN: Readonly<Record<string, CorpusEntry>> = Object.fromEntries(
  Object.entries(PLANS).map(([name, plan]) => [name, entryOf(plan)]),
);

/** The first input, and the events of the plan in each situation. */
function entryOf({ machine, inputs, events, late, key }: PathPlan): CorpusEntry {
  const [[name, input] = ['', undefined]] = Object.entries(inputs);
  return {
    machine,
    samples: {
      inputs: { [name]: input },
      events: events as EventsAt,
      key,
      ...(late !== undefined && { late: late as NonNullable<GivenSamples['late']> }),
    },
  };
}
