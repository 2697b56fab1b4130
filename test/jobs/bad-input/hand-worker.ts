/** A worker played by hand over the real wire, with an attempt that it has taken. */

import { expect } from 'vitest';
import { type Cluster, startCluster } from '../cluster.ts';
import { RawPeer } from './raw-peer.ts';

export const WORKER = 'A.worker-2';
export const SELF = `worker/1@${WORKER}`;
export const HEALTH = `worker-health/${WORKER}@A`;
export const WORKFLOW = 'workflow/j1/w1@A';

export const refusedAt = (cluster: Cluster, code: 'SENDER_REFUSED' | 'EVENT_UNDECLARED'): number =>
  cluster.manager('A.manager-1').runtime.metrics().messagesRefused[code] ?? 0;

/** A worker played by hand, with an attempt that it has taken. */
export async function withWorker(): Promise<{ cluster: Cluster; worker: RawPeer }> {
  const cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
  const worker = await RawPeer.join(cluster, WORKER);
  await worker.hint(SELF, 'worker-pool/main@A', {
    type: 'worker.registered',
    workerId: WORKER,
    bootEpoch: 1,
    coresTotal: 4,
    handlers: ['by-hand'],
    attempts: [],
    page: 1,
    pages: 1,
  });
  expect(worker.heardBy(SELF, 'register.answered')).toMatchObject([{ accepted: true }]);
  const workflows = [{ id: 'w1', handler: 'by-hand', payload: 'x' }];
  await cluster.begin('A', { jobId: 'j1', timeoutMs: 600_000, workflows });
  await cluster.time.runFor(200);
  const [asked] = worker.heardBy(SELF, 'dispatch.requested');
  await worker.hint(SELF, WORKFLOW, {
    type: 'dispatch.answered',
    workerId: WORKER,
    bootEpoch: 1,
    jobId: 'j1',
    attemptId: 'w1#1',
    accepted: true,
    reason: null,
    term: asked?.['term'],
    heartbeatSeq: 0,
  });
  expect(cluster.snapshot(WORKFLOW).value).toBe('RUNNING');
  return { cluster, worker };
}

export const RESULT = {
  type: 'result.received',
  workerId: WORKER,
  jobId: 'j1',
  attemptId: 'w1#1',
  ok: true,
  result: 'done',
  truncated: false,
  error: null,
  retryable: true,
};
