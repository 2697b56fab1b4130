/** The paths of a jobs service: every question in its one state. */

import { jobsServiceMachine } from '../../../machines/jobs/jobs-service.ts';
import type { PathPlan } from '../../paths/plan.ts';

const QUESTIONS = [
  'job.submitted',
  'job.asked',
  'jobs.asked',
  'job.watched',
  'jobCancel.requested',
  'jobExtend.requested',
  'stuckWorkflows.asked',
  'sinceProgress.asked',
  'workers.asked',
];

export const jobsServicePlan: PathPlan = {
  machine: jobsServiceMachine,
  inputs: { desk: undefined },
  events: () => QUESTIONS.map((type) => ({ type, jobId: 'j1' })),
  key: () => null,
};
