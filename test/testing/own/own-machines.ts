/** Machines of the project by name: those of jobs with the plans of their paths, those of map-reduce and agents with samples. */

import { gateJobAddress } from '../../../machines/jobs/addresses.ts';
import type { EventsAt, GivenSamples } from '../../../testing/model/samples.ts';
import type { SentEvent } from '../../../testing/model/step.ts';
import type { PathPlan } from '../../paths/plan.ts';
import { attemptPlan } from '../../simulator/paths/attempt.ts';
import { datacenterPlan } from '../../simulator/paths/datacenter.ts';
import { gateJobPlan } from '../../simulator/paths/gate-job.ts';
import { jobPlan } from '../../simulator/paths/job.ts';
import { jobsServicePlan } from '../../simulator/paths/jobs-service.ts';
import { leadershipPlan } from '../../simulator/paths/leadership.ts';
import { reminderPlan } from '../../simulator/paths/reminder.ts';
import { submissionPartPlan } from '../../simulator/paths/submission-part.ts';
import { workerPlan } from '../../simulator/paths/worker.ts';
import { workerHealthPlan } from '../../simulator/paths/worker-health.ts';
import { workerPoolPlan } from '../../simulator/paths/worker-pool.ts';
import { workflowPlan } from '../../simulator/paths/workflow.ts';
import { agentAttempt } from './agent.ts';
import { delegation } from './delegation.ts';
import { failedItem } from './failed-item.ts';
import { mapAgent } from './map-agent.ts';
import { orchestration } from './orchestration.ts';
import type { OwnMachine } from './own-machine.ts';
import { runOfItems } from './run.ts';
import { task } from './task.ts';

const REFUSED = 'message.refused';

/** The machine of a plan; its refusals and restarts, which the engine tells of, are events like others here. */
function ofPlan(plan: PathPlan, refused: EventsAt = () => []): OwnMachine {
  const { machine, inputs, events, late, key, refusals = [], unreachable = {} } = plan;
  const { situationsMax } = plan;
  const isRestarted = (machine.events as readonly string[]).includes('leadership.acquired');
  const eventsAt: EventsAt = (context, at) => [
    ...(events(context, at) as readonly SentEvent[]),
    ...refusals.map(([type, code]) => refusalOf({ type }, code)),
    ...refused(context, at),
    ...(isRestarted ? [{ type: 'leadership.acquired', fence: 2, node: 'here' }] : []),
  ];
  return {
    machine,
    ...(situationsMax !== undefined && { situationsMax }),
    samples: {
      ...{ inputs, events: eventsAt, key },
      ...(late !== undefined && { late: late as NonNullable<GivenSamples['late']> }),
    },
    // Whether it has said anything that could be refused does not matter here.
    unreachable: Object.fromEntries(
      Object.entries(unreachable).filter(([name]) => !name.endsWith(` × ${REFUSED}`)),
    ),
  };
}

const refusalOf = (event: SentEvent, code: string, to = 'somebody/1@far'): SentEvent => ({
  ...{ type: REFUSED, to, event, code },
});

/** A grant to one who has ended, of more cores than are reserved. */
const granted: EventsAt = ({ registrations: registration }) => [
  refusalOf(
    { type: 'slot.granted', attemptId: 'w1#1', workerId: 'W', registration, cores: 99 },
    'ACTOR_ENDED',
  ),
];

/** The end of a job, told to a gate whose job is over. */
const told: EventsAt = ({ jobId, gateId }) =>
  gateId === null
    ? []
    : [refusalOf({ type: 'final.reported' }, 'ACTOR_ENDED', gateJobAddress(jobId, gateId))];

export const OWN_MACHINES: Readonly<Record<string, OwnMachine>> = {
  attempt: ofPlan(attemptPlan),
  datacenter: ofPlan(datacenterPlan),
  'gate-job': ofPlan(gateJobPlan),
  job: ofPlan(jobPlan, told),
  'jobs-service': ofPlan(jobsServicePlan),
  leadership: ofPlan(leadershipPlan),
  reminder: ofPlan(reminderPlan),
  'submission-part': ofPlan(submissionPartPlan),
  worker: ofPlan(workerPlan),
  'worker-health': ofPlan(workerHealthPlan),
  'worker-pool': ofPlan(workerPoolPlan, granted),
  workflow: ofPlan(workflowPlan),
  agent: agentAttempt,
  delegation,
  orchestration,
  task,
  'failed-item': failedItem,
  'map-agent': mapAgent,
  run: runOfItems,
};
