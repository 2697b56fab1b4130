/** Scenarios about single workflows: dispatch, retry, cancel. */

import { describe, expect, test } from 'vitest';
import { scripted, startCluster } from '../cluster.ts';
import { contextOf, endsOf, expectAt, expectEnd, secondsOf, transitionsOf } from './witness.ts';

const ONE_WORKER = { datacenters: { A: { workers: 1 } } };

describe('a workflow', () => {
  test('S33 takes a success that overtakes the word that it runs', async () => {
    await using cluster = await startCluster(ONE_WORKER);
    const held = cluster.network.intercept({
      between: ['A.worker-1', 'A.manager-1'],
      type: 'dispatch.answered',
      action: { holdMs: 500 },
    });
    const workflows = [scripted('w1', { runs: 100, result: 'early' })];
    const client = await cluster.begin('A', { jobId: 'j1', timeoutMs: 60_000, workflows });
    await cluster.runUntil(20_000);
    expect(held.hits).toBe(1);
    expect(transitionsOf(cluster)).toEqual([
      'PENDING>DISPATCHED #1 @0',
      'DISPATCHED>RUNNING #1 @0',
      'RUNNING>COMPLETED #1 @0',
    ]);
    expectEnd(cluster, -0.001, { status: 'completed', reason: null });
    const view = await cluster.time.during(client.get('j1'));
    expect(view?.workflows).toMatchObject([{ status: 'completed', result: 'early', attempts: 1 }]);
    // The answer that came later is ignored: no workflow is revived, nobody is told to stop.
    expect(cluster.recorder.notes('workflow.transition.refused')).toEqual([]);
    expect(cluster.recorder.errors()).toEqual([]);
    expect(contextOf(cluster, 'workflow/j1/w1@A')).toMatchObject({ result: 'early' });
  });

  test('waits without an attempt while the only worker, which ended in order, starts again', async () => {
    await using cluster = await startCluster(ONE_WORKER);
    await cluster.end('A.worker-1');
    const workflows = [scripted('w1', { runs: 1_000 })];
    await cluster.begin('A', { jobId: 'j1', timeoutMs: 300_000, workflows });
    // Longer than five dispatches that are refused, or that nobody answers, would take.
    await cluster.runUntil(50_000);
    expect(transitionsOf(cluster)).toEqual([]);
    await cluster.restart('A.worker-1');
    await cluster.runUntil(60_000);
    expect(endsOf(cluster)).toMatchObject([{ status: 'completed' }]);
    expect(contextOf(cluster, 'workflow/j1/w1@A')).toMatchObject({
      dispatched: 1,
      dispatchFailures: 0,
    });
  });

  test('S34 that always fails is run four times, and its dependents never', async () => {
    await using cluster = await startCluster(ONE_WORKER);
    const workflows = [
      scripted('w1', { failsTimes: 99 }),
      scripted('w2', {}, { dependsOn: ['w1'] }),
      scripted('w3', {}, { dependsOn: ['w2'] }),
      scripted('w4', {}),
    ];
    const client = await cluster.begin('A', { jobId: 'j1', timeoutMs: 60_000, workflows });
    await cluster.runUntil(10_000);
    const states = transitionsOf(cluster).map((text) => text.replace(/ @\d+$/, ''));
    const run = (n: number) => [`PENDING>DISPATCHED #${n}`, `DISPATCHED>RUNNING #${n}`];
    const retry = (n: number) => [
      `RUNNING>FAILED #${n}`,
      `FAILED>FAILED_CANCELING_DEPENDENTS #${n}`,
      `FAILED_CANCELING_DEPENDENTS>FAILED_READY_FOR_RETRY #${n}`,
      `FAILED_READY_FOR_RETRY>PENDING #${n}`,
    ];
    expect(states).toEqual([
      ...[1, 2, 3].flatMap((n) => [...run(n), ...retry(n)]),
      ...run(4),
      'RUNNING>FAILED #4',
    ]);
    for (const dependent of ['w2', 'w3'])
      expect(transitionsOf(cluster, dependent)).toEqual(['PENDING>FAILED #1 @0']);
    expectEnd(cluster, -0.001, { status: 'failed', reason: 'workflowFailed' });
    const { counters } = cluster.manager('A.manager-1');
    expect(counters.value('workflow_retries_total', { cause: 'failed' })).toBe(3);
    const view = await cluster.time.during(client.get('j1'));
    expect(view?.workflows).toMatchObject([
      { status: 'failed', attempts: 4 },
      { status: 'failed', attempts: 0 },
      { status: 'failed', attempts: 0 },
      { status: 'completed', attempts: 1 },
    ]);
  });

  test('S35 that waits out a dispatch delay is cancelled at once', async () => {
    const config = { dispatchBackoffMinMs: 20_000 };
    await using cluster = await startCluster({ ...ONE_WORKER, config });
    cluster.network.intercept({
      between: ['A.worker-1', 'A.manager-1'],
      type: 'dispatch.requested',
      action: 'drop',
    });
    const workflows = [scripted('w1', { runs: 1_000 })];
    const client = await cluster.begin('A', { jobId: 'j1', timeoutMs: 600_000, workflows });
    cluster.at(29_951, () => client.cancel('j1'));
    await cluster.runUntil(30_000);
    // Not answered in 5 s, again after 20 s, not answered again; the next delay is 40 s.
    expect(transitionsOf(cluster).filter((text) => text.startsWith('PENDING>'))).toEqual([
      'PENDING>DISPATCHED #1 @0',
      'PENDING>DISPATCHED #2 @25',
    ]);
    expect(endsOf(cluster)).toEqual([]);
    await cluster.runUntil(100_000);
    expectEnd(cluster, 30, { status: 'cancelled', reason: null });
    expect(transitionsOf(cluster).at(-1)).toBe('FAILED_READY_FOR_RETRY>CANCELLED #2 @30');
  });

  test('S36 whose handler does not heed the signal is killed after its grace', async () => {
    await using cluster = await startCluster(ONE_WORKER);
    const workflows = [scripted('w1', { runs: 'never', ignoresCancel: true })];
    const client = await cluster.begin('A', { jobId: 'j1', timeoutMs: 600_000, workflows });
    cluster.at(29_951, async () =>
      expect(await client.cancel('j1')).toEqual({ accepted: true, reason: null }),
    );
    const killed: unknown[] = [];
    cluster.manager('A.manager-1').runtime.inspect((record) => {
      if (record.type !== 'turn' || record.event.type !== 'attempt.stopped') return;
      killed.push((record.event as { killed?: unknown }).killed);
    });
    await cluster.runUntil(31_000);
    expectEnd(cluster, 30, { status: 'cancelled', reason: null });
    await cluster.runUntil(40_000);
    expect(transitionsOf(cluster).at(-1)).toBe('RUNNING>CANCELLING #1 @30');
    await cluster.runUntil(60_000);
    expect(transitionsOf(cluster).at(-1)).toBe('CANCELLING>CANCELLED #1 @40');
    expect(killed).toEqual([true]);
    expect(contextOf(cluster, 'workflow/j1/w1@A')).toMatchObject({ unconfirmed: false });
    expect(contextOf(cluster, 'worker-pool/main@A')).toMatchObject({
      workers: { 'A.worker-1': { coresReserved: 0 } },
    });
  });

  test('S38 that every dispatch of is rejected fails after the fifth', async () => {
    await using cluster = await startCluster(ONE_WORKER);
    const endless = [scripted('w1', { runs: 'never' })];
    await cluster.begin('A', { jobId: 'j0', timeoutMs: 600_000, workflows: endless });
    await cluster.runUntil(1_000);
    // A worker that stops takes nothing new while something runs there; that it says so gets lost here.
    cluster.network.intercept({
      between: ['A.worker-1', 'A.manager-1'],
      type: 'worker.registered',
      action: 'drop',
    });
    void cluster.worker('A.worker-1').stop({ limitMs: 500_000 });
    const workflows = [scripted('w1', { runs: 1_000 })];
    const client = await cluster.begin('A', { jobId: 'j1', timeoutMs: 600_000, workflows });
    await cluster.runUntil(15_000);
    expect(endsOf(cluster)).toEqual([]);
    await cluster.runUntil(60_000);
    const dispatches = cluster.recorder
      .notes('workflow.transition', { jobId: 'j1', to: 'DISPATCHED' })
      .map(({ atMs }) => atMs);
    expect(dispatches).toHaveLength(5);
    for (const [index, seconds] of [0, 1, 3, 7, 15].entries())
      expectAt(dispatches[index], seconds - (index === 0 ? 0.001 : 0));
    expectEnd(cluster, 15, { status: 'failed', reason: 'dispatchExhausted' });
    const view = await cluster.time.during(client.get('j1'));
    expect(view?.workflows).toMatchObject([{ status: 'failed', attempts: 5 }]);
    expect(secondsOf(cluster, 'workflow.retried', { jobId: 'j1' })).toEqual([0, 1, 3, 7]);
    await cluster.time.during(client.cancel('j0'));
    await cluster.time.runFor(1_000);
  });
});
