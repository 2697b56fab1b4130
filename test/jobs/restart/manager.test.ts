/** A manager that comes back from its files goes on where it was, at the deadlines that stood. */

import { describe, expect, test } from 'vitest';
import { scripted } from '../cluster.ts';
import {
  contextOf,
  endsOf,
  expectAt,
  expectEnd,
  secondsOf,
  transitionsOf,
} from '../scenarios/witness.ts';
import { startOnDisks } from './on-disks.ts';

const ONE = { datacenters: { A: { workers: 1 } } };
const JOB = { jobId: 'j1', timeoutMs: 60_000, workflows: [scripted('w1', { runs: 'never' })] };
const M1 = 'A.manager-1';

describe('a manager that comes back', () => {
  test('while a job is tracked ends it when its time is up, not later', async () => {
    const { cluster, down } = await startOnDisks(ONE);
    await cluster.begin('A', JOB);
    down(M1, 30, 33);
    const { startedAt } = contextOf<{ startedAt: number }>(cluster, 'job/j1@A');
    await cluster.runUntil(60_000);
    expect(endsOf(cluster)).toEqual([]);
    await cluster.runUntil(70_000);
    expectEnd(cluster, 60, { status: 'timedOut', reason: 'overall' });
    expect(contextOf(cluster, 'job/j1@A')).toMatchObject({ startedAt, leaderFence: 2 });
    expect(cluster.recorder.errors()).toEqual([]);
  });

  test('after the time is up ends it at once', async () => {
    const { cluster, down } = await startOnDisks(ONE);
    await cluster.begin('A', JOB);
    down(M1, 30, 71);
    await cluster.runUntil(72_000);
    expectEnd(cluster, 70.999, { status: 'timedOut', reason: 'overall' });
  });

  test('while a job is tracked finds it stuck when it would have been', async () => {
    const { cluster, down } = await startOnDisks(ONE);
    const workflows = [scripted('w1', { stopsProgressAt: 15_000 })];
    await cluster.begin('A', { jobId: 'j1', timeoutMs: 3_600_000, workflows });
    down(M1, 30, 33);
    await cluster.runUntil(135_000);
    expect(endsOf(cluster)).toEqual([]);
    await cluster.runUntil(140_000);
    expectEnd(cluster, 135, { status: 'timedOut', reason: 'stuck' });
  });

  test('after it was granted more time keeps the credit', async () => {
    const { cluster, down } = await startOnDisks(ONE);
    await cluster.begin('A', JOB);
    cluster.at(20_000, () => cluster.extend('A.worker-1', { progress: 0.2 }));
    down(M1, 30, 33);
    await cluster.runUntil(90_000);
    expect(endsOf(cluster)).toEqual([]);
    await cluster.runUntil(100_000);
    expectEnd(cluster, 90, { status: 'timedOut', reason: 'overall' });
  });

  test('while it has reported waits for its gate no longer than it would have', async () => {
    const { cluster, down } = await startOnDisks({
      ...ONE,
      gates: 1,
      config: { gateFallbackMs: 100_000 },
    });
    await cluster.begin('gate-1', JOB);
    cluster.at(30_000, () => cluster.crash('gate-1'));
    down(M1, 100, 118);
    await cluster.runUntil(100_000);
    expect(secondsOf(cluster, 'timeout.reported')).toEqual([60]);
    await cluster.runUntil(160_000);
    expect(endsOf(cluster)).toEqual([]);
    await cluster.runUntil(170_000);
    expectEnd(cluster, 160, { status: 'timedOut', reason: 'fallback', node: M1 });
    expect(contextOf(cluster, 'job/j1@A')).toMatchObject({
      leaderFence: 2,
      localReason: 'overall',
    });
    expect(secondsOf(cluster, 'timeout.reported')).toEqual([60]);
  });

  test('while it cancels hears that the run was killed', async () => {
    const { cluster, down } = await startOnDisks(ONE);
    const workflows = [scripted('w1', { runs: 'never', ignoresCancel: true })];
    const client = await cluster.begin('A', { ...JOB, workflows });
    cluster.at(29_951, () => client.cancel('j1'));
    down(M1, 32, 36);
    await cluster.runUntil(60_000);
    expectEnd(cluster, 30, { status: 'cancelled', reason: null });
    expect(transitionsOf(cluster).slice(2)).toEqual([
      'RUNNING>CANCELLING #1 @30',
      'CANCELLING>CANCELLED #1 @40',
    ]);
    expect(contextOf(cluster, 'workflow/j1/w1@A')).toMatchObject({ unconfirmed: false });
  });

  test('while it cancels gives up at the limit that stood', async () => {
    const { cluster, down } = await startOnDisks(ONE);
    const workflows = [scripted('w1', { runs: 'never', ignoresCancel: true })];
    const client = await cluster.begin('A', { ...JOB, workflows });
    cluster.at(29_951, () => client.cancel('j1'));
    cluster.at(31_000, () => cluster.crash('A.worker-1'));
    down(M1, 32, 36);
    await cluster.runUntil(45_000);
    expect(transitionsOf(cluster).at(-1)).toBe('RUNNING>CANCELLING #1 @30');
    await cluster.runUntil(60_000);
    expect(transitionsOf(cluster).at(-1)).toBe('CANCELLING>CANCELLED #1 @45');
    expect(contextOf(cluster, 'workflow/j1/w1@A')).toMatchObject({ unconfirmed: true });
    expectEnd(cluster, 30, { status: 'cancelled', reason: null });
  });

  test('while it waits before a retry dispatches again when it would have', async () => {
    const { cluster, down } = await startOnDisks({
      ...ONE,
      config: { dispatchBackoffMinMs: 20_000 },
    });
    cluster.network.intercept({
      between: ['A.worker-1', M1],
      type: 'dispatch.requested',
      count: 3,
      action: 'drop',
    });
    const workflows = [scripted('w1', { runs: 10_000 })];
    await cluster.begin('A', { ...JOB, workflows });
    down(M1, 10, 15);
    await cluster.runUntil(24_999);
    expect(transitionsOf(cluster).filter((text) => text.startsWith('PENDING>'))).toHaveLength(1);
    await cluster.runUntil(60_000);
    expect(transitionsOf(cluster)).toEqual([
      'PENDING>DISPATCHED #1 @0',
      'DISPATCHED>FAILED #1 @5',
      'FAILED>FAILED_CANCELING_DEPENDENTS #1 @5',
      'FAILED_CANCELING_DEPENDENTS>FAILED_READY_FOR_RETRY #1 @5',
      'FAILED_READY_FOR_RETRY>PENDING #1 @25',
      'PENDING>DISPATCHED #2 @25',
      'DISPATCHED>RUNNING #2 @25',
      'RUNNING>COMPLETED #2 @35',
    ]);
    expectEnd(cluster, 35, { status: 'completed', reason: null });
  });

  test('while a worker is suspect evicts it when it would have, and gives its work to another', async () => {
    const { cluster, down } = await startOnDisks({ datacenters: { A: { workers: 2 } } });
    const workflows = [scripted('w1', { runs: 50_000 })];
    await cluster.begin('A', { ...JOB, timeoutMs: 300_000, workflows });
    cluster.at(10_100, () => cluster.crash('A.worker-1'));
    down(M1, 43, 45);
    await cluster.runUntil(60_000);
    // The new leader gives every worker its whole deadline again: 30 s, and 30 s of grace.
    const [acquired] = cluster.recorder.notes('leader.acquired');
    const since = (acquired?.atMs ?? 0) / 1_000;
    await cluster.runUntil(since * 1_000 + 60_000);
    expect(secondsOf(cluster, 'worker.evicted')).toEqual([]);
    await cluster.runUntil(200_000);
    const [, suspect] = cluster.recorder.notes('worker.suspect');
    expectAt(suspect?.atMs, since + 30);
    const [evicted] = cluster.recorder.notes('worker.evicted');
    expectAt(evicted?.atMs, since + 60);
    expect(transitionsOf(cluster).at(-1)).toMatch(/^RUNNING>COMPLETED #2/);
    expectEnd(cluster, since + 110, { status: 'completed', reason: null });
  });
});
