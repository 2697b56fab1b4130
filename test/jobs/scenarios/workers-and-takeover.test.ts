/** Scenarios about workers that fall silent, come back, and are judged by a new leader. */

import { describe, expect, test } from 'vitest';
import type { HandlerScript } from '../../../simulator/jobs/scripted-handler.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';
import { watchTurns } from './scene.ts';
import {
  contextOf,
  endsOf,
  expectAt,
  expectEnd,
  healthOf,
  secondsOf,
  transitionsOf,
} from './witness.ts';

const MANAGERS_OF_A = ['A', 'A.manager-1', 'A.manager-2'];

function begin(cluster: Cluster, timeoutMs: number, script: HandlerScript) {
  return cluster.begin('A', { jobId: 'j1', timeoutMs, workflows: [scripted('w1', script)] });
}

async function takenOver(script: HandlerScript): Promise<Cluster> {
  const cluster = await startCluster({
    datacenters: { A: { managers: 2, workers: 1, isAppointed: true } },
    config: { orphanGraceMs: 600_000 },
  });
  await begin(cluster, 3_600_000, script);
  cluster.at(100_000, () => cluster.crash('A.manager-1'));
  cluster.at(240_000, () => cluster.lead('A.manager-2'));
  return cluster;
}

describe('after a takeover', () => {
  test('S28 what a heartbeat knows of progress in the time without a leader counts', async () => {
    // It rises at 94.8, the last that M1 hears, at 142.2 and 189.6 unheard, and for the last time at 237.
    await using cluster = await takenOver({ progressEvery: 47_400, stopsProgressAt: 237_000 });
    await cluster.runUntil(357_000);
    expect(endsOf(cluster)).toEqual([]);
    const { lastProgressAt, leaderFence } = contextOf<{
      lastProgressAt: number;
      leaderFence: number;
    }>(cluster, 'job/j1@A');
    expect(cluster.time.sinceBegin(lastProgressAt)).toBeGreaterThan(236_999);
    expect(cluster.time.sinceBegin(lastProgressAt)).toBeLessThan(237_500);
    expect(leaderFence).toBe(2);
    await cluster.runUntil(370_000);
    expectEnd(cluster, 357, { status: 'timedOut', reason: 'stuck', node: 'A.manager-2' });
    expect(cluster.recorder.notes('worker.evicted')).toEqual([]);
    expect(cluster.recorder.notes('worker.attemptLost')).toEqual([]);
  });

  test('S29 nobody is found stuck before the grace of the new leader is over', async () => {
    await using cluster = await takenOver({ progressEvery: 94_800, stopsProgressAt: 94_800 });
    await cluster.runUntil(260_000);
    expect(endsOf(cluster)).toEqual([]);
    await cluster.runUntil(300_000);
    expectEnd(cluster, 260, { status: 'timedOut', reason: 'stuck', node: 'A.manager-2' });
  });
});

describe('a silent worker', () => {
  test('S30 is suspect, and healthy again when it is heard in time', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
    await begin(cluster, 600_000, { runs: 300_000 });
    const silence = () => cluster.network.cut('A.worker-1', 'A.manager-1', { silent: true });
    cluster.at(10_100, silence);
    cluster.at(54_900, () => cluster.network.heal());
    cluster.at(55_010, silence);
    await cluster.runUntil(40_000);
    expect(healthOf(cluster, 'A.worker-1')).toMatchObject({ state: 'healthy', deadlineMs: 40_000 });
    await cluster.runUntil(41_000);
    expect(healthOf(cluster, 'A.worker-1').state).toBe('suspect');
    await cluster.runUntil(56_000);
    const { state, deadlineMs } = healthOf(cluster, 'A.worker-1');
    expect(state).toBe('healthy');
    expectAt(deadlineMs + 1, 85);
    expectAt(cluster.recorder.notes('worker.recovered')[0]?.atMs, 55 - 0.2);
    await cluster.runUntil(86_000);
    expect(secondsOf(cluster, 'worker.suspect')).toEqual([40, 85]);
    expect(cluster.recorder.notes('worker.evicted')).toEqual([]);
    expect(transitionsOf(cluster)).toEqual([
      'PENDING>DISPATCHED #1 @0',
      'DISPATCHED>RUNNING #1 @0',
    ]);
  });

  test('S31 loses its work to another one; what it says of it later is not wanted', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 2 } } });
    const turns = new Map(
      ['A.worker-1', 'A.worker-2'].map((worker) => [
        worker,
        watchTurns(cluster, cluster.worker(worker).runtime),
      ]),
    );
    const heard = (worker: string, type: string, field: string) =>
      (turns.get(worker) ?? [])
        .filter(({ event }) => event.type === type)
        .flatMap(({ event }) => event[field]);
    await begin(cluster, 300_000, { runs: 78_950 });
    cluster.at(10_100, () => cluster.network.cut('A.worker-1', MANAGERS_OF_A, { silent: true }));
    cluster.at(79_900, () => cluster.network.heal());
    await cluster.runUntil(70_000);
    expect(cluster.recorder.notes('worker.evicted')).toEqual([]);
    await cluster.runUntil(200_000);
    expectAt(cluster.recorder.notes('worker.evicted', { workerId: 'A.worker-1' })[0]?.atMs, 70);
    expect(transitionsOf(cluster)).toEqual([
      'PENDING>DISPATCHED #1 @0',
      'DISPATCHED>RUNNING #1 @0',
      'RUNNING>FAILED #1 @70',
      'FAILED>FAILED_CANCELING_DEPENDENTS #1 @70',
      'FAILED_CANCELING_DEPENDENTS>FAILED_READY_FOR_RETRY #1 @70',
      'FAILED_READY_FOR_RETRY>PENDING #1 @70',
      'PENDING>DISPATCHED #2 @70',
      'DISPATCHED>RUNNING #2 @70',
      'RUNNING>COMPLETED #2 @149',
    ]);
    const payload = JSON.stringify({ runs: 78_950 });
    for (const worker of ['A.worker-1', 'A.worker-2'])
      expect(heard(worker, 'dispatch.requested', 'payload')).toEqual([payload]);
    const stale = cluster.recorder.notes('workflow.attempt.stale', { message: 'result.received' });
    expect(stale).toHaveLength(1);
    expectAt(stale[0]?.atMs, 80);
    expect(heard('A.worker-1', 'heartbeat.acked', 'stopAttempts')).toContain('j1/w1#1');
    const { counters } = cluster.manager('A.manager-1');
    expect(counters.value('workflow_retries_total', { cause: 'workerLost' })).toBe(1);
    expect(counters.value('stale_attempts_total', { type: 'result.received' })).toBe(1);
    expect(endsOf(cluster)).toMatchObject([{ status: 'completed', reason: null }]);
  });

  test('S32 is judged by its heartbeats again once the operation that was extended has ended', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
    const workflows = [scripted('w1', { runs: 19_800 })];
    await cluster.begin('A', { jobId: 'j1', timeoutMs: 600_000, workflows });
    cluster.at(9_900, () => cluster.extend('A.worker-1', { progress: 0.2 }));
    cluster.at(20_060, () => cluster.network.cut('A.worker-1', MANAGERS_OF_A, { silent: true }));
    await cluster.runUntil(11_000);
    const extended = healthOf(cluster, 'A.worker-1');
    expect(extended.state).toBe('extended');
    expect(extended.deadlineMs).toBe(65_000);
    await cluster.runUntil(21_000);
    const { state, deadlineMs } = healthOf(cluster, 'A.worker-1');
    expect(state).toBe('healthy');
    expectAt(deadlineMs + 1, 50);
    expect(cluster.recorder.notes('worker.suspect')).toEqual([]);
    await cluster.runUntil(60_000);
    expectAt(cluster.recorder.notes('worker.suspect')[0]?.atMs, 50);
    expect(secondsOf(cluster, 'worker.suspect')).toHaveLength(1);
  });
});
