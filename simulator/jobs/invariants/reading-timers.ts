/**
 * Deadlines that an actor waits for in a state, as its machine is drawn.
 *
 * Read from the drawing alone: no machine is run. Every kind of the jobs system waits by `after` only.
 */

import { attemptMachine } from '../../../machines/jobs/attempt.ts';
import { gateJobMachine } from '../../../machines/jobs/gate-job.ts';
import { jobMachine } from '../../../machines/jobs/job.ts';
import { submissionPartMachine } from '../../../machines/jobs/submission-part.ts';
import { workerMachine } from '../../../machines/jobs/worker.ts';
import { workerHealthMachine } from '../../../machines/jobs/worker-health.ts';
import { workflowMachine } from '../../../machines/jobs/workflow.ts';
import { type Drawing, drawnDeadlines } from '../../../programs/jobs/drawn-deadlines.ts';

const DRAWINGS: Readonly<Record<string, Drawing>> = {
  attempt: attemptMachine.config as Drawing,
  'gate-job': gateJobMachine.config as Drawing,
  job: jobMachine.config as Drawing,
  'submission-page': submissionPartMachine.config as Drawing,
  worker: workerMachine.config as Drawing,
  'worker-health': workerHealthMachine.config as Drawing,
  workflow: workflowMachine.config as Drawing,
};

/** Names of the deadlines of a state as a turn's record tells it; undefined for an unknown kind. */
export function deadlinesOf(kind: string, state: string): ReadonlySet<string> | undefined {
  const drawing = DRAWINGS[kind];
  return drawing === undefined ? undefined : drawnDeadlines(drawing, state);
}
