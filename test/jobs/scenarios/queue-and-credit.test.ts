/** Scenarios about jobs that wait for a worker, and about more time: by workers and by people. */

import { describe, expect, test } from 'vitest';
import { scripted, startCluster } from '../cluster.ts';
import { contextOf, endsOf, expectEnd, healthOf, secondsOf, transitionsOf } from './witness.ts';

describe('a job without a worker', () => {
  test('S39 is never stuck, and uses no dispatch attempt until its time is up', async () => {
    await using cluster = await startCluster({ datacenters: { A: {} } });
    const workflows = [scripted('w1', { runs: 1_000 })];
    const client = await cluster.begin('A', { jobId: 'j1', timeoutMs: 3_600_000, workflows });
    for (const seconds of [1, 121, 3_000]) {
      await cluster.runUntil(seconds * 1_000);
      const view = await cluster.time.during(client.get('j1'));
      expect(view).toMatchObject({ status: 'submitted', queued: true, reason: null });
      expect(view?.workflows).toMatchObject([{ status: 'pending', attempts: 0 }]);
    }
    await cluster.runUntil(3_600_000);
    expect(endsOf(cluster)).toEqual([]);
    await cluster.runUntil(3_610_000);
    expectEnd(cluster, 3_600, { status: 'timedOut', reason: 'overall' });
    expect(transitionsOf(cluster)).toEqual([
      'PENDING>CANCELLING #1 @3600',
      'CANCELLING>CANCELLED #1 @3600',
    ]);
    expect(contextOf(cluster, 'workflow/j1/w1@A')).toMatchObject({
      dispatched: 0,
      dispatchFailures: 0,
    });
    expect(contextOf(cluster, 'worker-pool/main@A')).toMatchObject({ lanes: {} });
  });
});

describe('a job behind another one', () => {
  async function twoJobs(stuckWhileQueued: boolean) {
    const config = { stuckWhileQueued };
    const cluster = await startCluster({ datacenters: { A: { workers: 1 } }, config });
    const first = [scripted('w1', { runs: 200_000 }, { cores: 4 })];
    const client = await cluster.begin('A', { jobId: 'j1', timeoutMs: 600_000, workflows: first });
    const second = [scripted('w1', { runs: 30_000 }, { cores: 4 })];
    const job = { jobId: 'j2', timeoutMs: 600_000, workflows: second };
    cluster.at(951, () => client.submit(job));
    return { cluster, client };
  }

  test('S48 waits for its cores and is not stuck', async () => {
    const { cluster, client } = await twoJobs(false);
    await cluster.runUntil(200_000);
    const view = await cluster.time.during(client.get('j2'));
    expect(view).toMatchObject({ status: 'submitted', queued: true });
    await cluster.runUntil(300_000);
    expect(transitionsOf(cluster, 'w1', 'j2')[0]).toBe('PENDING>DISPATCHED #1 @200');
    expectEnd(cluster, 200, { status: 'completed', reason: null });
    expectEnd(cluster, 230, { status: 'completed', reason: null }, 'j2');
    await cluster.stop();
  });

  test('S48 is stuck where waiting counts as well', async () => {
    const { cluster } = await twoJobs(true);
    await cluster.runUntil(121_000);
    expect(endsOf(cluster, 'j2')).toEqual([]);
    await cluster.runUntil(240_000);
    expectEnd(cluster, 121, { status: 'timedOut', reason: 'stuck' }, 'j2');
    expectEnd(cluster, 200, { status: 'completed', reason: null });
    await cluster.stop();
  });
});

describe('more time', () => {
  test('S49 is added by an operator once for each request', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
    const workflows = [scripted('w1', { runs: 'never' })];
    const client = await cluster.begin('A', { jobId: 'j1', timeoutMs: 60_000, workflows });
    const more = { byMs: 60_000, by: 'ann', requestId: 'r1' };
    const answers: unknown[] = [];
    for (const atMs of [30_000, 31_000])
      cluster.at(atMs, async () => answers.push(await client.extend('j1', more)));
    await cluster.runUntil(120_000);
    const answer = { accepted: true, reason: null, extensionsMs: 60_000 };
    expect(answers).toEqual([answer, answer]);
    const { operatorCredits } = contextOf<{ operatorCredits: unknown[] }>(cluster, 'job/j1@A');
    // What it calls itself stands beside the name that it has proved.
    expect(operatorCredits).toMatchObject([{ requestId: 'r1', by: 'client (ann)', byMs: 60_000 }]);
    expect(endsOf(cluster)).toEqual([]);
    await cluster.runUntil(130_000);
    expectEnd(cluster, 120, { status: 'timedOut', reason: 'overall' });
    const view = await cluster.time.during(client.get('j1'));
    expect(view).toMatchObject({ extensionsMs: 60_000 });
    const { counters } = cluster.manager('A.manager-1');
    expect(counters.value('operator_extensions_total', { result: 'granted' })).toBe(1);
    expect(cluster.recorder.notes('job.extended')).toHaveLength(1);
    const late = await cluster.time.during(client.extend('j1', { byMs: 1_000, by: 'ann' }));
    expect(late).toMatchObject({ accepted: false, reason: 'alreadyFinal' });
  });

  test('S50 of workers is no more than the time the job had', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
    const workflows = [scripted('w1', { runs: 'never' })];
    await cluster.begin('A', { jobId: 'j1', timeoutMs: 20_000, workflows });
    const before: number[] = [];
    cluster.at(9_900, async () => {
      before.push(healthOf(cluster, 'A.worker-1').deadlineMs);
      const answer = await cluster.extend('A.worker-1', { progress: 0.2 });
      expect(answer).toMatchObject({ granted: true, extensionMs: 30_000 });
      before.push(healthOf(cluster, 'A.worker-1').deadlineMs);
    });
    await cluster.runUntil(40_000);
    expect(before[1]).toBe((before[0] ?? 0) + 30_000);
    expect(endsOf(cluster)).toEqual([]);
    await cluster.runUntil(50_000);
    expectEnd(cluster, 40, { status: 'timedOut', reason: 'overall' });
    const [end] = cluster.recorder.notes('job.ended');
    expect(end?.fields).toMatchObject({ extensionsMs: 20_000 });
    expect(secondsOf(cluster, 'extension.credited')).toHaveLength(1);
  });
});
