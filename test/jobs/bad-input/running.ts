/** Cluster of a gate and two datacenters, in whose first a job is at work that never ends. */

import { type Cluster, scripted, startCluster } from '../cluster.ts';

const TWO = { gates: 1, datacenters: { A: { workers: 1 }, B: { workers: 1 } } };

export async function running(): Promise<Cluster> {
  const cluster = await startCluster(TWO);
  const workflows = [scripted('w1', { runs: 'never', progressEvery: 'never' })];
  const job = { jobId: 'j1', timeoutMs: 600_000, targetDatacenters: ['A'], workflows };
  await cluster.begin('gate-1', job);
  await cluster.runUntil(2_000);
  return cluster;
}
