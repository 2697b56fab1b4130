/** The jobs suite: what a job, a progress report, a tracked deadline, a held job and a backlog cost. */

import { jobsBacklog } from './jobs-backlog.ts';
import { jobsGrowth } from './jobs-growth.ts';
import { jobsHeld } from './jobs-held.ts';
import { jobsCancel, jobsWritten } from './jobs-large.ts';
import { jobsOverhead } from './jobs-overhead.ts';
import { jobsProgress } from './jobs-progress.ts';
import { jobsRate } from './jobs-rate.ts';
import { jobsReads } from './jobs-reads.ts';
import { jobsTurns } from './jobs-turns.ts';
import type { Suite } from './suite.ts';

export const jobs: Suite = {
  name: 'jobs',
  about: 'whole jobs, progress, what tracking costs, many jobs held at once, and a backlog',
  fields: [
    jobsRate,
    jobsTurns,
    jobsReads,
    jobsProgress,
    jobsOverhead,
    jobsHeld,
    jobsGrowth,
    jobsCancel,
    jobsWritten,
    jobsBacklog,
  ],
};
