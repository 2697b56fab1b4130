/**
 * A worker pool, the workers it knows, and who asks it for cores.
 */

import type { PooledWorker } from '../../../machines/jobs/worker-pool/placement.ts';
import { type WorkerPoolContext, workerPoolMachine } from '../../../machines/jobs/worker-pool.ts';
import { Stepper } from './stepper.ts';

export const TERM = 3;

export type Pool = Stepper<WorkerPoolContext>;

export const newPool = (): Pool =>
  new Stepper(workerPoolMachine, {
    datacenter: 'A',
    term: TERM,
    rules: {
      baseDeadlineMs: 30_000,
      minGrantMs: 1_000,
      maxExtensions: 5,
      suspectGraceMs: 30_000,
      evictAfterDenials: 0,
      extensionWarningRemaining: 1,
      retentionMs: 3_600_000,
    },
  });

export const registered = (workerId: string, more: object = {}) => ({
  type: 'worker.registered',
  workerId,
  bootEpoch: 1,
  coresTotal: 4,
  handlers: ['sleep'],
  attempts: [],
  page: 1,
  pages: 1,
  ...more,
});

export function workerOf({ context }: Pool, workerId: string): PooledWorker {
  const worker = context.workers[workerId];
  if (worker === undefined) throw new Error(`The pool does not know ${workerId}`);
  return worker;
}

export const changed = (pool: Pool, workerId: string, more: object = {}) => ({
  type: 'worker.changed',
  workerId,
  registration: workerOf(pool, workerId).registration,
  state: 'healthy',
  heard: true,
  term: pool.context.term,
  ...more,
});

/** A pool with workers of so many cores each, all heard. */
export function poolOf(cores: Readonly<Record<string, number>>): Pool {
  const pool = newPool();
  for (const [workerId, coresTotal] of Object.entries(cores)) {
    pool.take(registered(workerId, { coresTotal }));
    pool.take(changed(pool, workerId));
  }
  pool.said();
  return pool;
}

export const requested = (attempt: string, more: object = {}) => ({
  type: 'slot.requested',
  jobId: 'j1',
  attemptId: `${attempt}#1`,
  cores: 1,
  handler: 'sleep',
  avoid: [],
  avoidWorkers: [],
  acceptedAt: 1_000,
  index: 0,
  ...more,
});

export const released = (pool: Pool, workerId: string, cores: number) => ({
  type: 'slot.released',
  workerId,
  registration: workerOf(pool, workerId).registration,
  cores,
});

export const lost = (pool: Pool, workerId: string) => ({
  type: 'worker.lost',
  workerId,
  registration: workerOf(pool, workerId).registration,
  cause: 'evicted',
});

/** `attempt→worker` of every placement since the last look. */
export const placed = (pool: Pool): string[] =>
  pool.said('slot.granted').map(({ attemptId, workerId }) => `${attemptId}→${workerId}`);

export const waiting = ({ context }: Pool): string[] =>
  context.queue.map(({ jobId, attemptId }) => `${jobId}/${attemptId}`);
