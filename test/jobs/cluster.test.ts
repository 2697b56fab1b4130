/** The harness with the real programs: what a script does to a cluster is seen in it. */

import { describe, expect, test } from 'vitest';
import type { HandlerScript } from '../../simulator/jobs/scripted-handler.ts';
import { isAt } from './cluster/recorder.ts';
import { type Cluster, scripted, startCluster } from './cluster.ts';

/** A job of one workflow in datacenter A. */
function submit(cluster: Cluster, timeoutMs: number, script: HandlerScript) {
  return cluster.begin('A', { jobId: 'j1', timeoutMs, workflows: [scripted('w1', script)] });
}

const endOf = (cluster: Cluster) => cluster.recorder.notes('job.ended', { jobId: 'j1' });

describe('a cluster', () => {
  test('has a leader and workers that were heard when its script begins', async () => {
    const datacenters = { A: { managers: 2, workers: 2 }, B: { workers: 1 } };
    const cluster = await startCluster({ datacenters });
    expect(cluster.time.now()).toBe(0);
    expect([cluster.leaderOf('A'), cluster.leaderOf('B')]).toEqual(['A.manager-1', 'B.manager-1']);
    const workers = cluster.recorder.notes('worker.registered').map((line) => line.atMs);
    expect(workers).toHaveLength(3);
    expect(Math.max(...workers)).toBeLessThan(0);
    expect(cluster.recorder.errors()).toEqual([]);
    await cluster.stop();
  });

  test('runs a job on its worker', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
    await submit(cluster, 60_000, { runs: 40_000 });
    await cluster.runUntil(120_000);
    const [end] = endOf(cluster);
    expect(end?.fields).toMatchObject({ status: 'completed', reason: null });
    expect(isAt(end?.atMs, 40)).toBe(true);
    expect(endOf(cluster)).toHaveLength(1);
  });

  test('ends a job that takes too long', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
    await submit(cluster, 60_000, { runs: 'never' });
    await cluster.runUntil(61_000);
    const [end] = endOf(cluster);
    expect(end?.fields).toMatchObject({ status: 'timedOut', reason: 'overall' });
    expect(isAt(end?.atMs, 60)).toBe(true);
  });

  test('extends a worker when the script says so', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
    await submit(cluster, 60_000, { runs: 75_000 });
    cluster.at(20_000, async () => {
      const answer = await cluster.extend('A.worker-1', { progress: 0.2 });
      expect(answer).toMatchObject({ granted: true, extensionMs: 30_000 });
    });
    await cluster.runUntil(100_000);
    expect(endOf(cluster)[0]?.fields).toMatchObject({ status: 'completed' });
  });

  test('goes on under the manager that the script appoints', async () => {
    const datacenters = { A: { managers: 2, workers: 1, isAppointed: true } };
    await using cluster = await startCluster({ datacenters });
    await submit(cluster, 300_000, { runs: 'never' });
    cluster.at(100_000, () => cluster.crash('A.manager-1'));
    cluster.at(118_000, () => cluster.lead('A.manager-2'));
    await cluster.runUntil(117_999);
    expect(cluster.leaderOf('A')).toBeUndefined();
    await cluster.runUntil(301_000);
    const [end] = endOf(cluster);
    expect(end?.node).toBe('A.manager-2');
    expect(end?.fields).toMatchObject({ reason: 'overall', leaderFence: 2 });
    expect(isAt(end?.atMs, 300)).toBe(true);
  });

  test('loses a worker that crashes, and gives its work to the worker that comes back', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
    await submit(cluster, 600_000, { runs: 60_000 });
    cluster.at(20_000, () => cluster.crash('A.worker-1'));
    cluster.at(22_000, () => cluster.restart('A.worker-1'));
    await cluster.runUntil(90_000);
    const [end] = endOf(cluster);
    expect(end?.fields).toMatchObject({ status: 'completed' });
    expect(isAt(end?.atMs, 82)).toBe(true);
  });

  test('has heartbeats arrive when the job is accepted, and every interval from then on', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 2 } } });
    await submit(cluster, 120_000, { runs: 'never' });
    cluster.at(20_000, () => cluster.extend('A.worker-1', { progress: 0.5 }));
    cluster.at(20_200, () => cluster.crash('A.worker-1'));
    await cluster.runUntil(141_000);
    // Heard at 20, then granted 30 s: the deadline is 80.
    const fields = { workerId: 'A.worker-1' };
    expect(isAt(cluster.recorder.notes('worker.suspect', fields)[0]?.atMs, 80)).toBe(true);
    expect(isAt(cluster.recorder.notes('worker.evicted', fields)[0]?.atMs, 110)).toBe(true);
    expect(isAt(endOf(cluster)[0]?.atMs, 140)).toBe(true);
  });

  test('has a paused manager do nothing, and know when it wakes that it leads no more', async () => {
    const datacenters = { A: { managers: 2, workers: 1, isAppointed: true } };
    await using cluster = await startCluster({ datacenters });
    await submit(cluster, 150_000, { runs: 'never' });
    cluster.at(100_000, () => cluster.pause('A.manager-1', 60_000));
    cluster.at(118_000, () => cluster.lead('A.manager-2'));
    await cluster.runUntil(200_000);
    const lines = cluster.recorder.lines().filter(({ atMs }) => atMs > 100_000);
    const ofFirst = lines.filter(({ node }) => node === 'A.manager-1');
    expect(ofFirst.map(({ atMs, message }) => [atMs, message])).toEqual([
      [160_000, 'no longer hosting'],
      [160_000, 'leader.lost'],
    ]);
    expect(endOf(cluster).map(({ node }) => node)).toEqual(['A.manager-2']);
    expect(isAt(endOf(cluster)[0]?.atMs, 150)).toBe(true);
  });

  test('has a gate decide for all its datacenters', async () => {
    const datacenters = { A: { workers: 1 }, B: { workers: 1 }, C: { workers: 1 } };
    await using cluster = await startCluster({ gates: 1, datacenters });
    const script: HandlerScript = { runs: 'never', in: { A: { stopsProgressAt: 30_000 } } };
    const workflows = [scripted('w1', script)];
    await cluster.begin('gate-1', { jobId: 'j1', timeoutMs: 600_000, workflows });
    await cluster.runUntil(151_000);
    const ends = endOf(cluster).map(({ node, atMs, fields: { status, reason } }) => {
      expect(isAt(atMs, 150)).toBe(true);
      return [node, status, reason];
    });
    expect(ends.sort()).toEqual([
      ['A.manager-1', 'timedOut', 'global'],
      ['B.manager-1', 'timedOut', 'global'],
      ['C.manager-1', 'timedOut', 'global'],
      ['gate-1', 'timedOut', 'datacenterTimeout'],
    ]);
    expect(cluster.snapshot('gate-job/j1@gate-1').value).toBeDefined();
    expect(cluster.recorder.errors()).toEqual([]);
  });

  test('is the same for the same seed', async () => {
    const play = async () => {
      const datacenters = { A: { managers: 2, workers: 2 } };
      await using cluster = await startCluster({ datacenters, seed: 9, delayMs: [1, 90] });
      await submit(cluster, 60_000, { runs: 30_000, failsTimes: 1 });
      cluster.at(10_000, () => cluster.pause('A.worker-1', 20_000));
      await cluster.runUntil(70_000);
      return cluster.recorder.lines().map((line) => JSON.stringify(line));
    };
    expect(await play()).toEqual(await play());
  });
});
