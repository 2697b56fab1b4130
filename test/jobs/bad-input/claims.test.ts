/** Numbers and names that a peer tells of, which its listener would go above, or take for its own. */

import { expect, test } from 'vitest';
import type { JobContext } from '../../../machines/jobs/job.ts';
import { scripted, startCluster } from '../cluster.ts';
import { contextOf } from '../scenarios/witness.ts';
import { RawPeer } from './raw-peer.ts';

const JOB = 'job/j1@A';
const NEVER = [scripted('w1', { runs: 'never', progressEvery: 'never' })];
const FENCES = [10_100, 2 ** 31, 2 ** 40] as const;

async function withGates() {
  const cluster = await startCluster({ gates: 2, datacenters: { A: { workers: 1 } } });
  await cluster.begin('gate-1', { jobId: 'j1', timeoutMs: 600_000, workflows: NEVER });
  await cluster.runUntil(2_000);
  return { cluster, job: () => contextOf<JobContext>(cluster, JOB) };
}

test('a gate says nothing about the job of another one', async () => {
  const { cluster, job } = await withGates();
  cluster.crash('gate-2');
  await cluster.time.runFor(1_000);
  const gate = await RawPeer.join(cluster, 'gate-2', [['gate-2', 50]]);
  const about = { jobId: 'j1', datacenter: 'A' };
  const before = JSON.stringify({ ...job(), seenAt: 0 });
  for (const event of [
    { type: 'cancel.requested', ...about },
    { type: 'cancel.requested', ...about, decisionEpoch: [1, 1], leaderFence: 1 },
    { type: 'job.extend', requestId: 'r', byMs: 1_000, by: 'x' },
    { type: 'status.requested', ...about },
  ])
    expect(await gate.send('gate-job/j1@gate-2', JOB, event)).toMatchObject({
      code: 'SENDER_REFUSED',
      message: expect.stringContaining('not a job of that gate'),
    });
  expect(JSON.stringify({ ...job(), seenAt: 0 })).toBe(before);
  await gate.stop();
  await cluster[Symbol.asyncDispose]();
});

test.each(FENCES)(
  'its own gate does not raise the fence or the epoch of a job to %i',
  async (told) => {
    const { cluster, job } = await withGates();
    cluster.crash('gate-1');
    await cluster.time.runFor(1_000);
    const gate = await RawPeer.join(cluster, 'gate-1', [['gate-1', 50]]);
    const { leaderFence, highestDecisionEpoch } = job();
    const ack = {
      type: 'ack.received',
      jobId: 'j1',
      datacenter: 'A',
      ackOf: 'progress.reported',
      accepted: false,
      duplicate: false,
      reason: 'staleFence',
      leaderFence: 1,
      gateBoot: 1,
      highestDecisionEpoch: null,
      decisionEpoch: null,
      reportSeq: 1,
    };
    for (const claim of [{ leaderFence: told }, { gateBoot: told }])
      expect(await gate.send('gate-job/j1@gate-1', JOB, { ...ack, ...claim })).toMatchObject({
        code: 'SENDER_REFUSED',
        message: expect.stringContaining('too far above'),
      });
    expect(job()).toMatchObject({ leaderFence, highestDecisionEpoch });
    // What an old copy would be told is gone above as ever.
    const raised = { ...ack, leaderFence: 40 };
    expect(await gate.send('gate-job/j1@gate-1', JOB, raised)).toBeUndefined();
    expect(job().leaderFence).toBe(41);
    await gate.stop();
    await cluster[Symbol.asyncDispose]();
  },
);

test.each(FENCES)('a worker does not raise the term of its datacenter to %i', async (told) => {
  const cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
  await cluster.runUntil(2_000);
  cluster.crash('A.worker-1');
  await cluster.time.runFor(1_000);
  const worker = await RawPeer.join(cluster, 'A.worker-1', [['A.worker-1', 1]]);
  const health = 'worker-health/A.worker-1@A';
  const { term, bootEpoch } = contextOf<{ term: number; bootEpoch: number }>(cluster, health);
  const answered = {
    type: 'announce.answered',
    workerId: 'A.worker-1',
    bootEpoch,
    accepted: false,
  };
  const from = 'worker/1@A.worker-1';
  expect(await worker.send(from, health, { ...answered, term: told })).toMatchObject({
    code: 'SENDER_REFUSED',
    message: expect.stringContaining('too far above'),
  });
  expect(contextOf(cluster, health)).toMatchObject({ term });
  const start = {
    type: 'worker.registered',
    workerId: 'A.worker-1',
    coresTotal: 1,
    handlers: [],
    attempts: [],
    page: 1,
    pages: 1,
  };
  const ahead = { ...start, bootEpoch: 2 ** 47 };
  expect(await worker.send(from, 'worker-pool/main@A', ahead)).toMatchObject({
    code: 'SENDER_REFUSED',
    message: expect.stringContaining('too far ahead of the clock'),
  });
  expect(await worker.send(from, health, { ...answered, term: term + 10 })).toBeUndefined();
  expect(contextOf(cluster, health)).toMatchObject({ term: term + 11 });
  await worker.stop();
  await cluster[Symbol.asyncDispose]();
});
