/** The jobs suite: what a job, a progress report, a tracked deadline and a held job cost. */

import { jobsHeld } from './jobs-held.ts';
import { jobsOverhead } from './jobs-overhead.ts';
import { jobsProgress } from './jobs-progress.ts';
import { jobsRate } from './jobs-rate.ts';
import type { Suite } from './suite.ts';

export const jobs: Suite = {
  name: 'jobs',
  about: 'whole jobs, progress, what tracking costs, and many jobs held at once',
  fields: [jobsRate, jobsProgress, jobsOverhead, jobsHeld],
};
