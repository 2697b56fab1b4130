/**
 * `escapement/machines`: the statecharts of the project, to register, to look at and to test.
 *
 * This is a public entry. Machines are pure: they need nothing but XState, the runtime's
 * vocabulary for addresses and time, and zod for what their messages look like; they run in any
 * runtime, simulated or not. `reminderMachine` is complete as it is. The machines of the jobs
 * system ask for named effects, which the programs of `escapement/jobs` carry out.
 */

export { type AttemptEvent, type AttemptInput, attemptMachine } from './jobs/attempt.ts';
export {
  type GateJobContext,
  type GateJobEvent,
  type GateJobInput,
  gateJobMachine,
} from './jobs/gate-job.ts';
export { type JobContext, type JobEvent, type JobInput, jobMachine } from './jobs/job.ts';
export { type JobsServiceEvent, jobsServiceMachine } from './jobs/jobs-service.ts';
export {
  type SubmissionPartEvent,
  type SubmissionPartInput,
  submissionPartMachine,
} from './jobs/submission-part.ts';
export type { WorkerContext, WorkerEvent, WorkerInput } from './jobs/worker/context.ts';
export { workerMachine } from './jobs/worker.ts';
export {
  type WorkerHealthContext,
  type WorkerHealthEvent,
  type WorkerHealthInput,
  workerHealthMachine,
} from './jobs/worker-health.ts';
export {
  type WorkerPoolContext,
  type WorkerPoolEvent,
  type WorkerPoolInput,
  workerPoolMachine,
} from './jobs/worker-pool.ts';
export {
  type WorkflowContext,
  type WorkflowEvent,
  type WorkflowInput,
  workflowMachine,
} from './jobs/workflow.ts';
export {
  type LeadershipEvent,
  type LeadershipInput,
  leadershipMachine,
} from './leadership.ts';
export { type ReminderEvent, type ReminderInput, reminderMachine } from './reminder.ts';
