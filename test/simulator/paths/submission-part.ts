/** The paths of a part of a submission: dropped, or left alone until it goes by itself. */

import { submissionPartMachine } from '../../../machines/jobs/submission-part.ts';
import type { PathPlan } from '../../paths/plan.ts';

const workflow = { id: 'w1', handler: 'sleep', payload: 'p', cores: 1, dependsOn: [] };

export const submissionPartPlan: PathPlan = {
  machine: submissionPartMachine,
  inputs: { page: { workflows: [workflow], keepMs: 60_000 } },
  events: () => [{ type: 'page.dropped' }],
  key: () => null,
};
