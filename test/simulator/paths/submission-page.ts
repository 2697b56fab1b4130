/** The paths of a page of a submission: dropped, or left alone until it goes by itself. */

import { submissionPageMachine } from '../../../machines/jobs/submission-page.ts';
import type { PathPlan } from '../../paths/plan.ts';

const workflow = { id: 'w1', handler: 'sleep', payload: 'p', cores: 1, dependsOn: [] };

export const submissionPagePlan: PathPlan = {
  machine: submissionPageMachine,
  inputs: { page: { workflows: [workflow], keepMs: 60_000 } },
  events: () => [{ type: 'page.dropped' }],
  key: () => null,
};
