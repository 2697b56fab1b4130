/** Questions to the jobs services that make no sense, or are about jobs that nobody knows. */

import { describe, expect, test } from 'vitest';
import { scripted, startCluster } from '../cluster.ts';
import { contextOf } from '../scenarios/witness.ts';
import { RawPeer } from './raw-peer.ts';

const PLAN = { gates: 1, datacenters: { A: { workers: 1 } } };
const R = { requestId: 'r1' };

type Case = readonly [
  what: string,
  question: { readonly type: string; readonly [field: string]: unknown },
];

const WRONG: readonly Case[] = [
  ['a job id', { type: 'job.asked', ...R, jobId: 'a b' }],
  ['a page', { type: 'job.asked', ...R, jobId: 'j1', page: 0 }],
  ['no request', { type: 'job.asked', jobId: 'j1' }],
  ['a field too many', { type: 'job.asked', ...R, jobId: 'j1', secret: true }],
  ['a limit', { type: 'jobs.asked', ...R, limit: 501 }],
  ['no limit', { type: 'jobs.asked', ...R }],
  ['a status', { type: 'jobs.asked', ...R, limit: 1, status: 'lost' }],
  ['a cursor', { type: 'jobs.asked', ...R, limit: 1, cursor: 'x'.repeat(1_025) }],
  ['a number', { type: 'job.watched', ...R, jobId: 'j1', seenSeq: -1 }],
  ['a cancel of nothing', { type: 'jobCancel.requested', ...R }],
  ['by whom', { type: 'jobExtend.requested', ...R, jobId: 'j1', byMs: 1_000 }],
  ['how long', { type: 'jobExtend.requested', ...R, jobId: 'j1', byMs: '1', by: 'ann' }],
  ['a threshold', { type: 'stuckWorkflows.asked', ...R, thresholdMs: -1, limit: 1 }],
  ['a workflow', { type: 'sinceProgress.asked', ...R, jobId: 'j1', workflowId: '' }],
  ['what only a gate says', { type: 'timeout.declared', jobId: 'j1', datacenter: 'A' }],
  ['what only a datacenter says', { type: 'final.reported', jobId: 'j1', datacenter: 'A' }],
  ['what only a worker says', { type: 'heartbeat.received', workerId: 'x' }],
];

describe.each([
  ['A', 'job/j1@A'],
  ['gate-1', 'gate-job/j1@gate-1'],
])('the jobs service of %s', (to, address) => {
  async function withJob() {
    const cluster = await startCluster(PLAN);
    const workflows = [scripted('w1', { runs: 'never', progressEvery: 'never' })];
    const client = await cluster.begin(to, { jobId: 'j1', timeoutMs: 600_000, workflows });
    await cluster.runUntil(2_000);
    const peer = await RawPeer.join(cluster, 'client');
    const program = to === 'A' ? cluster.manager('A.manager-1') : cluster.gate(to);
    return { cluster, client, peer, program };
  }

  test('H47: refuses questions that are none', async () => {
    const { cluster, peer, program } = await withJob();
    const refused = () =>
      Object.values(program.runtime.metrics().messagesRefused).reduce((sum, n) => sum + n, 0);
    for (const [what, question] of WRONG) {
      const before = refused();
      const answer = await peer.ask(`desk/main@${to}`, question);
      expect(answer, what).toMatchObject({
        code: expect.stringMatching(/^(SENDER_REFUSED|EVENT_UNDECLARED)$/),
      });
      expect(refused(), what).toBe(before + 1);
    }
    expect(contextOf(cluster, address)).toMatchObject({ jobId: 'j1' });
    expect(cluster.recorder.errors()).toEqual([]);
    await cluster.stop();
  });

  test('H52: says of jobs that nobody knows that they are unknown', async () => {
    const { cluster, client } = await withJob();
    const ask = <T>(call: Promise<T>) => cluster.time.during(call);
    expect(await ask(client.get('j9'))).toBeUndefined();
    expect(await ask(client.cancel('j9'))).toEqual({ accepted: false, reason: 'unknown' });
    expect(await ask(client.extend('j9', { byMs: 1, by: 'ann' }))).toMatchObject({
      accepted: false,
      reason: 'unknown',
    });
    expect(await ask(client.timeSinceProgress('j9'))).toBeUndefined();
    expect(await ask(client.timeSinceProgress('j1', 'w9'))).toBeUndefined();
    await expect(ask(client.wait('j9'))).rejects.toMatchObject({ code: 'ACTOR_UNKNOWN' });
    await cluster.stop();
  });

  test('H58: refuses extensions of no time, and of too much', async () => {
    const { cluster, client, program } = await withJob();
    for (const byMs of [0, -1, 0.5, 5_184_000_001, Number.NaN]) {
      const call = client.extend('j1', { byMs, by: 'ann' }).catch((thrown) => ({
        accepted: false,
        // What JSON cannot carry is no number for anybody who gets it.
        reason: thrown.code === 'SENDER_REFUSED' ? 'invalid' : thrown.code,
      }));
      expect(await cluster.time.during(call), String(byMs)).toMatchObject({
        accepted: false,
        reason: 'invalid',
      });
    }
    const most = await cluster.time.during(client.extend('j1', { byMs: 5_184_000_000, by: 'ann' }));
    expect(most).toMatchObject({ accepted: true, extensionsMs: 5_184_000_000 });
    const more = await cluster.time.during(client.extend('j1', { byMs: 1, by: 'ann' }));
    expect(more).toMatchObject({ accepted: false, reason: 'invalid' });
    expect(contextOf(cluster, 'job/j1@A')).toMatchObject({
      operatorCredits: [{ byMs: 5_184_000_000 }],
    });
    if (to === 'A')
      expect(program.counters.value('operator_extensions_total', { result: 'invalid' })).toBe(5);
    await cluster.stop();
  });
});

test('the jobs service of a gate passes on what only datacenters know', async () => {
  await using cluster = await startCluster(PLAN);
  const workflows = [scripted('w1', { runs: 'never', progressEvery: 'never' })];
  const client = await cluster.begin('gate-1', { jobId: 'j1', timeoutMs: 600_000, workflows });
  await cluster.runUntil(30_000);
  const since = await cluster.time.during(client.timeSinceProgress('j1', 'w1'));
  expect(since).toBeGreaterThan(29_000);
  expect(since).toBeLessThan(31_000);
  const stuck = await cluster.time.during(client.stuckWorkflows(10_000));
  expect(stuck).toMatchObject([{ jobId: 'j1', workflowId: 'w1', workerId: 'A.worker-1' }]);
  expect(await cluster.time.during(client.stuckWorkflows(60_000))).toEqual([]);
});
