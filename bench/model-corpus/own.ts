/** Machines of this project, with the inputs and events of the plans by which their paths are tested. */

import { initialTransition } from 'xstate';
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
import type { SentEvent } from '../../testing/model/step.ts';
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

/** The first input, and the events that are worth a try in its first state. */
function entryOf({ machine, inputs, events }: PathPlan): CorpusEntry {
  const [[name, input] = ['', undefined]] = Object.entries(inputs);
  const at = 1_800_000_000_000;
  const born = Object.defineProperty({ ...(input as object) }, 'at', { value: at });
  const [{ context }] = initialTransition(machine, born as never);
  const payloads: Record<string, object[]> = {};
  for (const { type, ...payload } of events(context, at) as SentEvent[])
    payloads[type] = [...(payloads[type] ?? []), payload];
  return { machine, samples: { inputs: { [name]: input }, events: payloads } };
}
