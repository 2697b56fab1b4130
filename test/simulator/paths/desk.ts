/** The paths of a desk: every question in its one state. */

import { deskMachine } from '../../../machines/jobs/desk.ts';
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

export const deskPlan: PathPlan = {
  machine: deskMachine,
  inputs: { desk: undefined },
  events: () => QUESTIONS.map((type) => ({ type, jobId: 'j1' })),
  key: () => null,
};
