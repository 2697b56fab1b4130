/** The jobs suite: what a job, a progress report, a tracked deadline, a held job and a backlog cost. */

import { jobsBacklog } from './jobs-backlog.ts';
import { jobsHeld } from './jobs-held.ts';
import { jobsOverhead } from './jobs-overhead.ts';
import { jobsProgress } from './jobs-progress.ts';
import { jobsRate } from './jobs-rate.ts';
import type { Suite } from './suite.ts';

export const jobs: Suite = {
  name: 'jobs',
  about: 'whole jobs, progress, what tracking costs, many jobs held at once, and a backlog',
  fields: [jobsRate, jobsProgress, jobsOverhead, jobsHeld, jobsBacklog],
};
