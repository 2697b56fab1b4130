/** A gate that comes back from its files decides, tells and settles as it would have. */

import { describe, expect, test } from 'vitest';
import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import type { Cluster } from '../cluster.ts';
import { scripted } from '../cluster.ts';
import { contextOf, endsOf, expectAt, secondsOf } from '../scenarios/witness.ts';
import { startOnDisks } from './on-disks.ts';

const TWO = { gates: 1, datacenters: { A: { workers: 1 }, B: { workers: 1 } } };
const NEVER = [scripted('w1', { runs: 'never' })];
const STUCK_AT_A = [scripted('w1', { runs: 'never', in: { A: { stopsProgressAt: 30_000 } } })];
const B = ['B', 'B.manager-1'];

const ofGate = (cluster: Cluster) => endsOf(cluster).filter(({ node }) => node === 'gate-1');
const of = (cluster: Cluster, datacenter: string) =>
  endsOf(cluster).filter(({ node }) => node === `${datacenter}.manager-1`);
const gateJob = (cluster: Cluster) => contextOf<GateJobContext>(cluster, 'gate-job/j1@gate-1');

describe('a gate that comes back', () => {
  test('while a job is tracked declares when its time is up', async () => {
    const { cluster, down } = await startOnDisks(TWO);
    await cluster.begin('gate-1', { jobId: 'j1', timeoutMs: 100_000, workflows: NEVER });
    const { submittedAt } = gateJob(cluster);
    down('gate-1', 50, 60);
    await cluster.runUntil(100_000);
    expect(secondsOf(cluster, 'timeout.declared')).toEqual([]);
    await cluster.runUntil(102_000);
    expect(secondsOf(cluster, 'timeout.declared', { reason: 'overall' })).toEqual([100]);
    expect(ofGate(cluster)).toMatchObject([{ status: 'timedOut', reason: 'overall' }]);
    expectAt(ofGate(cluster)[0]?.atMs, 100);
    expect(gateJob(cluster)).toMatchObject({ submittedAt, isRebuilt: false });
    expect(gateJob(cluster).decision?.epoch[0]).toBe(cluster.gate('gate-1').runtime.fence);
    expect(cluster.recorder.errors()).toEqual([]);
  });

  test('while the decision is on its way tells every datacenter', async () => {
    const { cluster, down } = await startOnDisks(TWO);
    await cluster.begin('gate-1', { jobId: 'j1', timeoutMs: 600_000, workflows: STUCK_AT_A });
    const lost = cluster.network.intercept({
      between: [(node) => node.includes('manager'), 'gate-1'],
      type: 'timeout.declared',
      action: 'drop',
    });
    cluster.at(154_000, () => lost.end());
    down('gate-1', 151, 154);
    await cluster.runUntil(154_000);
    expect(secondsOf(cluster, 'timeout.declared')).toEqual([150]);
    expect(lost.hits).toBeGreaterThan(1);
    expect(endsOf(cluster)).toEqual([]);
    await cluster.runUntil(180_000);
    for (const datacenter of ['A', 'B'])
      expect(of(cluster, datacenter)).toMatchObject([{ status: 'timedOut', reason: 'global' }]);
    expect(ofGate(cluster)).toMatchObject([{ status: 'timedOut', reason: 'datacenterTimeout' }]);
    // Once decided, never decided again.
    expect(secondsOf(cluster, 'timeout.declared')).toEqual([150]);
    expect(gateJob(cluster).declared).toBe(1);
    const { counters } = cluster.manager('A.manager-1');
    expect(counters.total('timeout_fence_token_rejections_total')).toBe(0);
  });

  test('while it declares settles at the limit that stood, and still tells anybody who is away', async () => {
    const { cluster, down } = await startOnDisks(TWO);
    await cluster.begin('gate-1', { jobId: 'j1', timeoutMs: 600_000, workflows: STUCK_AT_A });
    cluster.at(140_000, () => cluster.network.cut(B, 'gate-1'));
    down('gate-1', 160, 175);
    cluster.at(240_000, () => cluster.network.heal());
    await cluster.runUntil(210_000);
    expect(of(cluster, 'A')).toMatchObject([{ status: 'timedOut', reason: 'global' }]);
    expect(ofGate(cluster)).toEqual([]);
    await cluster.runUntil(212_000);
    expect(ofGate(cluster)).toMatchObject([{ status: 'timedOut', reason: 'datacenterTimeout' }]);
    expectAt(ofGate(cluster)[0]?.atMs, 210);
    expect(gateJob(cluster).outcome?.unconfirmed).toEqual(['B']);
    expect(of(cluster, 'B')).toEqual([]);
    await cluster.runUntil(260_000);
    expect(of(cluster, 'B')).toMatchObject([{ status: 'timedOut', reason: 'global' }]);
    expect(ofGate(cluster)).toHaveLength(1);
    expect(cluster.snapshot('gate-job/j1@gate-1').value).toBe('closed');
  });

  test('while it cancels settles at the limit that stood', async () => {
    const { cluster, down } = await startOnDisks(TWO);
    const job = { jobId: 'j1', timeoutMs: 600_000, workflows: NEVER };
    const client = await cluster.begin('gate-1', job);
    cluster.at(40_000, () => cluster.network.cut(B, 'gate-1'));
    cluster.at(50_000, () => client.cancel('j1'));
    down('gate-1', 60, 75);
    cluster.at(150_000, () => cluster.network.heal());
    await cluster.runUntil(110_000);
    expect(of(cluster, 'A')).toMatchObject([{ status: 'cancelled' }]);
    expect(ofGate(cluster)).toEqual([]);
    await cluster.runUntil(112_000);
    expect(ofGate(cluster)).toMatchObject([{ status: 'cancelled', reason: null }]);
    expectAt(ofGate(cluster)[0]?.atMs, 110);
    expect(gateJob(cluster).outcome?.unconfirmed).toEqual(['B']);
    await cluster.runUntil(160_000);
    expect(of(cluster, 'B')).toMatchObject([{ status: 'cancelled' }]);
    expect(ofGate(cluster)).toHaveLength(1);
  });

  test('while it hands a job out goes on doing so', async () => {
    const { cluster } = await startOnDisks(TWO);
    cluster.network.cut(B, 'gate-1');
    const workflows = [scripted('w1', { runs: 20_000 })];
    await cluster.begin('gate-1', { jobId: 'j1', timeoutMs: 600_000, workflows });
    cluster.at(3_000, () => cluster.crash('gate-1'));
    cluster.at(5_000, () => {
      cluster.network.heal();
      return cluster.restart('gate-1');
    });
    await cluster.runUntil(60_000);
    for (const datacenter of ['A', 'B'])
      expect(of(cluster, datacenter)).toMatchObject([{ status: 'completed' }]);
    expect(ofGate(cluster)).toMatchObject([{ status: 'completed', reason: null }]);
  });

  test('together with all managers goes on where everything was', async () => {
    const { cluster, down } = await startOnDisks(TWO);
    await cluster.begin('gate-1', { jobId: 'j1', timeoutMs: 600_000, workflows: STUCK_AT_A });
    for (const node of ['gate-1', 'A.manager-1', 'B.manager-1']) down(node, 100, 120);
    await cluster.runUntil(150_000);
    expect(endsOf(cluster)).toEqual([]);
    await cluster.runUntil(155_000);
    expect(secondsOf(cluster, 'timeout.declared', { reason: 'datacenterTimeout' })).toEqual([150]);
    expect(ofGate(cluster)).toMatchObject([{ status: 'timedOut', reason: 'datacenterTimeout' }]);
    for (const datacenter of ['A', 'B'])
      expect(contextOf(cluster, `job/j1@${datacenter}`)).toMatchObject({ leaderFence: 2 });
  });
});
