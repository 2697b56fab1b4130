/** Acceptance scenarios of one datacenter that decides alone, by their numbers. */

import { describe, expect, test } from 'vitest';
import type { HandlerScript } from '../../../simulator/jobs/scripted-handler.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';
import { endAt, goTo, hasEnded, jobAt, timesOf, watchTurns, workflowAt } from './scene.ts';
import { expectAt, healthOf } from './witness.ts';

const MANAGER = 'A.manager-1';

function submit(cluster: Cluster, seconds: number, script: HandlerScript) {
  const workflows = [scripted('w1', script)];
  return cluster.begin('A', { jobId: 'j1', timeoutMs: seconds * 1_000, workflows });
}

const activeStrategies = (cluster: Cluster) =>
  cluster.manager(MANAGER).counters.value('timeout_strategies_active_count');

test('10.7.1 a job that never finishes times out when its time is used up', async () => {
  await using cluster = await startCluster({ gates: 1, datacenters: { A: { workers: 1 } } });
  const atGate = watchTurns(cluster, cluster.gate('gate-1').runtime);
  const client = await submit(cluster, 60, { runs: 'never' });
  await goTo(cluster, 60);
  expect(hasEnded(cluster)).toBe(false);
  expect(jobAt(cluster, 'A')).toMatchObject({ status: 'running', gateId: null });
  await goTo(cluster, 61);
  const end = endAt(cluster, MANAGER);
  expect(end.fields).toMatchObject({ status: 'timedOut', reason: 'overall', leaderFence: 1 });
  expectAt(end.atMs, 60);
  expect(await cluster.time.during(client.get('j1'))).toMatchObject({
    status: 'timedOut',
    reason: 'overall',
    authority: 'localAuthority',
  });
  await goTo(cluster, 120);
  expect(atGate.filter(({ address }) => address.includes('j1'))).toEqual([]);
  const { counters } = cluster.manager(MANAGER);
  expect(counters.value('job_timeouts_detected_total', { reason: 'overall' })).toBe(1);
  expect(counters.total('job_timeout_reports_sent_total')).toBe(0);
  expect(cluster.recorder.errors()).toEqual([]);
});

describe('10.7.3 an extension of 30 s at 20', () => {
  async function extended(script: HandlerScript) {
    const cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
    await submit(cluster, 60, script);
    cluster.at(20_000, async () => {
      const answer = await cluster.extend('A.worker-1', { progress: 0.2 });
      expect(answer).toMatchObject({ granted: true, extensionMs: 30_000 });
    });
    await goTo(cluster, 21);
    expect(jobAt(cluster, 'A').creditByWorker).toEqual({ 'A.worker-1': 30_000 });
    return cluster;
  }

  test('10.7.3 lets a job finish at 75 that had 60', async () => {
    await using cluster = await extended({ runs: 75_000 });
    await goTo(cluster, 75);
    expect(jobAt(cluster, 'A').status).toBe('running');
    await goTo(cluster, 120);
    const end = endAt(cluster, MANAGER);
    expect(end.fields).toMatchObject({ status: 'completed', reason: null, extensionsMs: 30_000 });
    expectAt(end.atMs, 75);
  });

  test('10.7.3 ends a job that never finishes at 90, not at 60', async () => {
    await using cluster = await extended({ runs: 'never' });
    await goTo(cluster, 90);
    expect(hasEnded(cluster)).toBe(false);
    await goTo(cluster, 120);
    const end = endAt(cluster, MANAGER);
    expect(end.fields).toMatchObject({ status: 'timedOut', reason: 'overall' });
    expectAt(end.atMs, 90);
  });
});

test('10.7.4 a job without progress is stuck though its worker is alive', async () => {
  await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
  await submit(cluster, 3_600, { stopsProgressAt: 15_000 });
  await goTo(cluster, 135);
  expect(jobAt(cluster, 'A').status).toBe('running');
  await goTo(cluster, 300);
  const end = endAt(cluster, MANAGER);
  expect(end.fields).toMatchObject({ status: 'timedOut', reason: 'stuck' });
  expectAt(end.atMs, 135);
  expect(healthOf(cluster, 'A.worker-1').state).toBe('healthy');
  expect(timesOf(cluster, 'worker.suspect')).toEqual([]);
});

describe('10.7.5 a job whose manager dies at 100', () => {
  async function takenOverAt(seconds: number) {
    const datacenters = { A: { managers: 2, workers: 1, isAppointed: true } };
    const cluster = await startCluster({ datacenters });
    await submit(cluster, 300, { runs: 'never' });
    await goTo(cluster, 99);
    const before = jobAt(cluster, 'A');
    expect(before.leaderFence).toBe(1);
    cluster.at(100_000, () => cluster.crash(MANAGER));
    cluster.at(seconds * 1_000, () => cluster.lead('A.manager-2'));
    await goTo(cluster, seconds + 0.001);
    const after = jobAt(cluster, 'A');
    expect(after.startedAt).toBe(before.startedAt);
    expect(after.leaderFence).toBe(2);
    return cluster;
  }

  test('10.7.5 has its deadline kept by the next one', async () => {
    await using cluster = await takenOverAt(118);
    await goTo(cluster, 300);
    expect(jobAt(cluster, 'A').status).toBe('running');
    await goTo(cluster, 330);
    const end = endAt(cluster, 'A.manager-2');
    expect(end.fields).toMatchObject({ reason: 'overall', leaderFence: 2, status: 'timedOut' });
    expectAt(end.atMs, 300);
    expect(timesOf(cluster, 'leader.acquired')).toHaveLength(1);
  });

  test('10.7.5 ends with the takeover when that comes after the deadline', async () => {
    await using cluster = await takenOverAt(310);
    await goTo(cluster, 330);
    const end = endAt(cluster, 'A.manager-2');
    expect(end.fields).toMatchObject({ reason: 'overall', leaderFence: 2, status: 'timedOut' });
    // The takeover is at 310 sharp, and the deadline is long over.
    expect(end.atMs).toBeGreaterThanOrEqual(310_000);
    expect(end.atMs).toBeLessThanOrEqual(311_000);
  });
});

test('10.7.7 a job that is completed leaves nothing behind', async () => {
  await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
  const turns = watchTurns(cluster, cluster.manager(MANAGER).runtime);
  await submit(cluster, 60, { runs: 40_000 });
  await goTo(cluster, 40);
  expect(jobAt(cluster, 'A').status).toBe('running');
  expect(activeStrategies(cluster)).toBe(1);
  await goTo(cluster, 42);
  const end = endAt(cluster, MANAGER);
  expect(end.fields).toMatchObject({ status: 'completed', reason: null });
  expectAt(end.atMs, 40);
  expect(activeStrategies(cluster)).toBe(0);
  await goTo(cluster, 180);
  const late = turns.filter(({ atMs, address }) => atMs > 42_000 && address.includes('j1'));
  expect(late).toEqual([]);
  expect(timesOf(cluster, 'timeout.detected')).toEqual([]);
  expect(endAt(cluster, MANAGER)).toEqual(end);
});

test('10.7.8 a job that is cancelled at 25 is not timed out at 60', async () => {
  await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
  const client = await submit(cluster, 60, { runs: 'never', stopsAfter: 2_000 });
  cluster.at(25_000, async () => {
    expect(await client.cancel('j1')).toEqual({ accepted: true, reason: null });
  });
  await goTo(cluster, 25);
  expect(hasEnded(cluster)).toBe(false);
  await goTo(cluster, 27);
  const end = endAt(cluster, MANAGER);
  expect(end.fields).toMatchObject({ status: 'cancelled', reason: null });
  expectAt(end.atMs, 25);
  expect(workflowAt(cluster, 'A').value).toMatchObject({ CANCELLING: 'confirming' });
  await goTo(cluster, 120);
  const [stopped] = timesOf(cluster, 'workflow.transition', { to: 'CANCELLED' });
  expectAt(stopped, 27);
  expect(workflowAt(cluster, 'A').context.unconfirmed).toBe(false);
  expect(endAt(cluster, MANAGER)).toEqual(end);
  expect(timesOf(cluster, 'timeout.detected')).toEqual([]);
});

test('10.7.9 the extension of a worker that dies is taken back', async () => {
  await using cluster = await startCluster({ datacenters: { A: { workers: 2 } } });
  await submit(cluster, 120, { runs: 'never' });
  cluster.at(20_000, () => cluster.extend('A.worker-1', { progress: 0.5 }));
  cluster.at(20_200, () => cluster.crash('A.worker-1'));
  await goTo(cluster, 21);
  expect(healthOf(cluster, 'A.worker-1').deadlineMs).toBe(80_000);
  expect(jobAt(cluster, 'A').creditByWorker).toEqual({ 'A.worker-1': 30_000 });
  await goTo(cluster, 140);
  expect(jobAt(cluster, 'A').status).toBe('running');
  expect(jobAt(cluster, 'A').creditByWorker).toEqual({});
  const worker = { workerId: 'A.worker-1' };
  expectAt(timesOf(cluster, 'worker.suspect', worker)[0], 80);
  expectAt(timesOf(cluster, 'worker.evicted', worker)[0], 110);
  expect(workflowAt(cluster, 'A').context).toMatchObject({
    run: 2,
    slot: { workerId: 'A.worker-2' },
  });
  await goTo(cluster, 160);
  const end = endAt(cluster, MANAGER);
  expect(end.fields).toMatchObject({ status: 'timedOut', reason: 'overall', extensionsMs: 0 });
  expectAt(end.atMs, 140);
  const { counters } = cluster.manager(MANAGER);
  expect(counters.value('worker_extensions_cleaned_total', { reason: 'workerLost' })).toBe(1);
});
