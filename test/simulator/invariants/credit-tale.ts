/** Tale of a job whose workers are granted more time. */

import type { JobContext } from '../../../machines/jobs/job.ts';
import { accepted, ended, moment } from './tale.ts';

export const credited = (creditId: string, grantMs: number, workerId = 'W') => ({
  type: 'extension.credited',
  creditId,
  workerId,
  grantMs,
});

export const credit =
  (atMs: number, creditId: string, grantMs: number) =>
  ({ creditByWorker, creditIds }: JobContext): Partial<JobContext> => ({
    creditByWorker: { ...creditByWorker, W: (creditByWorker['W'] ?? 0) + grantMs },
    creditIds: [...creditIds, creditId],
    lastProgressAt: moment(atMs),
    seenAt: moment(atMs),
  });

export const overdue = (atMs: number, skewMs = 0) =>
  ended(moment(atMs) + skewMs, 'timedOut', 'overall');

export const extended = () =>
  accepted().turn(20_000, credited('c1', 30_000), credit(20_000, 'c1', 30_000));
