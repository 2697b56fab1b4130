/** Scenarios about workers without a manager, and about those that begin again. */

import { describe, expect, test } from 'vitest';
import type { HandlerScript } from '../../../simulator/jobs/scripted-handler.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';
import { contextOf, endsOf, expectEnd, secondsOf, transitionsOf } from './witness.ts';

const TWO_MANAGERS = { datacenters: { A: { managers: 2, workers: 1, isAppointed: true } } };

function begin(cluster: Cluster, timeoutMs: number, script: HandlerScript) {
  return cluster.begin('A', { jobId: 'j1', timeoutMs, workflows: [scripted('w1', script)] });
}

/** How many attempts a worker has. */
function heldBy(cluster: Cluster, worker: string): number {
  const { runtime, bootEpoch } = cluster.worker(worker);
  return runtime.actor(`worker/${bootEpoch}`).getSnapshot().context.attempts.size;
}

describe('a worker without a manager', () => {
  test('S37 stops what it runs when the grace is over', async () => {
    await using cluster = await startCluster(TWO_MANAGERS);
    await begin(cluster, 3_600_000, { runs: 'never', ignoresCancel: true });
    cluster.at(100_000, () => cluster.crash('A.manager-1'));
    await cluster.runUntil(160_000);
    const [run] = cluster.runsOn('A.worker-1');
    expect(run?.signal.aborted).toBe(false);
    await cluster.runUntil(161_000);
    expect(run?.signal.aborted).toBe(true);
    expect(heldBy(cluster, 'A.worker-1')).toBe(1);
    await cluster.runUntil(171_000);
    expect(heldBy(cluster, 'A.worker-1')).toBe(0);
    expect(secondsOf(cluster, 'worker.orphaned')).toEqual([100, 160]);
    expect(endsOf(cluster)).toEqual([]);
  });

  test('S37 goes on when there is a leader again within it', async () => {
    await using cluster = await startCluster(TWO_MANAGERS);
    await begin(cluster, 3_600_000, { runs: 200_000 });
    cluster.at(100_000, () => cluster.crash('A.manager-1'));
    cluster.at(150_000, () => cluster.lead('A.manager-2'));
    await cluster.runUntil(300_000);
    expect(transitionsOf(cluster)).toEqual([
      'PENDING>DISPATCHED #1 @0',
      'DISPATCHED>RUNNING #1 @0',
      'RUNNING>COMPLETED #1 @200',
    ]);
    expectEnd(cluster, 200, { status: 'completed', reason: null, node: 'A.manager-2' });
    expect(secondsOf(cluster, 'worker.orphaned')).toEqual([100]);
  });

  test('S52 has lost what it ran when its leader comes back too late', async () => {
    // Heartbeats arrive every 3 s, so one of them at 201.
    const config = { heartbeatIntervalMs: 3_000 };
    await using cluster = await startCluster({ ...TWO_MANAGERS, config });
    await begin(cluster, 3_600_000, { runs: 250_000 });
    cluster.at(100_000, () => cluster.crash('A.manager-1'));
    cluster.at(200_000, () => cluster.lead('A.manager-2'));
    await cluster.runUntil(200_000);
    expect(heldBy(cluster, 'A.worker-1')).toBe(0);
    expect(transitionsOf(cluster)).toHaveLength(2);
    await cluster.runUntil(460_000);
    expect(transitionsOf(cluster)).toEqual([
      'PENDING>DISPATCHED #1 @0',
      'DISPATCHED>RUNNING #1 @0',
      'RUNNING>FAILED #1 @201',
      'FAILED>FAILED_CANCELING_DEPENDENTS #1 @201',
      'FAILED_CANCELING_DEPENDENTS>FAILED_READY_FOR_RETRY #1 @201',
      'FAILED_READY_FOR_RETRY>PENDING #1 @201',
      'PENDING>DISPATCHED #2 @201',
      'DISPATCHED>RUNNING #2 @201',
      'RUNNING>COMPLETED #2 @451',
    ]);
    const [lost] = cluster.recorder.notes('worker.attemptLost');
    expect(lost?.fields).toMatchObject({ operationId: 'j1/w1#1', cause: 'missing' });
    const [failed] = cluster.recorder.notes('workflow.transition', { to: 'FAILED' });
    expect(failed?.fields).toMatchObject({ cause: 'workerLost' });
    expect(contextOf(cluster, 'worker-pool/main@A')).toMatchObject({
      workers: { 'A.worker-1': { coresReserved: 0, registration: 1 } },
    });
  });
});

describe('a datacenter', () => {
  test('S46 is led by one manager at a time, also when one of them was only asleep', async () => {
    await using cluster = await startCluster(TWO_MANAGERS);
    await begin(cluster, 150_000, { runs: 'never' });
    cluster.at(100_000, () => cluster.pause('A.manager-1', 60_000));
    cluster.at(118_000, () => cluster.lead('A.manager-2'));
    await cluster.runUntil(150_000);
    expect(endsOf(cluster)).toEqual([]);
    await cluster.runUntil(200_000);
    expectEnd(cluster, 150, { status: 'timedOut', reason: 'overall', node: 'A.manager-2' });
    expect(contextOf(cluster, 'job/j1@A')).toMatchObject({ leaderFence: 2 });
    // It loses leadership first: nothing that it had to do when it woke up was done.
    const woken = cluster.recorder
      .lines()
      .filter(({ node, atMs }) => node === 'A.manager-1' && atMs > 100_000);
    expect(woken.map(({ message }) => message)).toEqual(['no longer hosting', 'leader.lost']);
  });

  test('S47 gives the work of a worker that began again to its new life at once', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
    await begin(cluster, 600_000, { runs: 60_000 });
    cluster.at(20_000, () => cluster.crash('A.worker-1'));
    cluster.at(22_000, () => cluster.restart('A.worker-1'));
    await cluster.runUntil(22_000);
    expect(transitionsOf(cluster)).toHaveLength(2);
    await cluster.runUntil(82_000);
    expect(endsOf(cluster)).toEqual([]);
    await cluster.runUntil(120_000);
    expect(transitionsOf(cluster)).toEqual([
      'PENDING>DISPATCHED #1 @0',
      'DISPATCHED>RUNNING #1 @0',
      'RUNNING>FAILED #1 @22',
      'FAILED>FAILED_CANCELING_DEPENDENTS #1 @22',
      'FAILED_CANCELING_DEPENDENTS>FAILED_READY_FOR_RETRY #1 @22',
      'FAILED_READY_FOR_RETRY>PENDING #1 @22',
      'PENDING>DISPATCHED #2 @22',
      'DISPATCHED>RUNNING #2 @22',
      'RUNNING>COMPLETED #2 @82',
    ]);
    expectEnd(cluster, 82, { status: 'completed', reason: null });
    const { counters } = cluster.manager('A.manager-1');
    expect(counters.value('worker_attempts_lost_total', { cause: 'replaced' })).toBe(1);
    expect(secondsOf(cluster, 'worker.registered').at(-1)).toBe(22);
    expect(cluster.recorder.notes('worker.suspect')).toEqual([]);
  });
});
