/** Scenarios about jobs of several datacenters: their outcome, and a gate that lost its data. */

import { describe, expect, test } from 'vitest';
import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import type { HandlerScript } from '../../../simulator/jobs/scripted-handler.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';
import { contextOf, endsOf, expectAt, secondsOf } from './witness.ts';

const ONE = { workers: 1 };
const ORDERS = [
  ['A', 'B', 'C'],
  ['A', 'C', 'B'],
  ['B', 'A', 'C'],
  ['B', 'C', 'A'],
  ['C', 'A', 'B'],
  ['C', 'B', 'A'],
];

/** The end of a job at its gate. */
const outcomeOf = (cluster: Cluster) =>
  endsOf(cluster).filter(({ node }) => node.startsWith('gate-'));
const endIn = (cluster: Cluster, datacenter: string) =>
  endsOf(cluster).filter(({ node }) => node.startsWith(`${datacenter}.`));
const gateJob = (cluster: Cluster) => contextOf<GateJobContext>(cluster, 'gate-job/j1@gate-1');

/** A completes, B fails, each when it is its turn; the outcome of C is the test's affair. */
async function threeEnds(order: readonly string[], config: object) {
  const cluster = await startCluster({ gates: 1, datacenters: { A: ONE, B: ONE, C: ONE }, config });
  cluster.network.intercept({
    between: [(node) => node.includes('.manager-'), 'gate-1'],
    type: 'final.reported',
    action: { duplicate: 2 },
  });
  const turnOf = (datacenter: string) => 60_000 + 20_000 * order.indexOf(datacenter);
  const script: HandlerScript = {
    runs: 'never',
    in: {
      A: { runs: turnOf('A'), result: 'of A' },
      B: { runs: turnOf('B'), failsTimes: 1, isFatal: true },
      C: { stopsProgressAt: 5_000 },
    },
  };
  const client = await cluster.begin('gate-1', {
    jobId: 'j1',
    timeoutMs: 900_000,
    datacenterTimeoutQuorum: 'all',
    workflows: [scripted('w1', script)],
  });
  return { cluster, client, turnOf };
}

describe('the outcome of a job', () => {
  test.each(ORDERS)(
    'S40 is failed when one completed, one failed, one was cancelled: %s %s %s',
    async (...order) => {
      const { cluster, turnOf } = await threeEnds(order, {});
      const client = await cluster.connect('C');
      cluster.at(turnOf('C'), () => client.cancel('j1'));
      await cluster.runUntil(160_000);
      expect(endIn(cluster, 'A')).toMatchObject([{ status: 'completed' }]);
      expect(endIn(cluster, 'B')).toMatchObject([{ status: 'failed', reason: 'workflowFailed' }]);
      expect(endIn(cluster, 'C')).toMatchObject([{ status: 'cancelled', reason: null }]);
      expect(outcomeOf(cluster)).toMatchObject([{ status: 'failed', reason: 'workflowFailed' }]);
      expectAt(outcomeOf(cluster)[0]?.atMs, 100);
      await cluster.stop();
    },
  );

  test.each(ORDERS)(
    'S40 is timedOut when one completed, one failed, one timed out: %s %s %s',
    async (...order) => {
      const config = { stuckThresholdMs: 10_000, gateFallbackMs: 30_000 };
      const { cluster, turnOf } = await threeEnds(order, config);
      // C finds itself stuck while nobody hears it, and falls back to its own judgement.
      const C = ['C', 'C.manager-1'];
      cluster.at(10_000, () => cluster.network.cut(C, 'gate-1'));
      cluster.at(turnOf('C'), () => cluster.network.heal());
      await cluster.runUntil(160_000);
      expect(endIn(cluster, 'C')).toMatchObject([{ status: 'timedOut', reason: 'fallback' }]);
      expect(outcomeOf(cluster)).toMatchObject([{ status: 'timedOut', reason: 'fallback' }]);
      expectAt(outcomeOf(cluster)[0]?.atMs, 100);
      // Also where C is the last one: its report is heard first, and its end stands behind it.
      expect(gateJob(cluster).declared).toBe(0);
      await cluster.stop();
    },
  );

  test('S45 of a cancelled job is cancelled, and what a datacenter had completed is kept', async () => {
    await using cluster = await startCluster({ gates: 1, datacenters: { A: ONE, B: ONE } });
    const script: HandlerScript = { runs: 'never', in: { A: { runs: 39_700, result: 'of A' } } };
    const job = { jobId: 'j1', timeoutMs: 900_000, workflows: [scripted('w1', script)] };
    const client = await cluster.begin('gate-1', job);
    cluster.at(49_951, async () =>
      expect(await client.cancel('j1')).toEqual({ accepted: true, reason: null }),
    );
    await cluster.runUntil(50_000);
    expect(outcomeOf(cluster)).toEqual([]);
    await cluster.runUntil(60_000);
    expectAt(endIn(cluster, 'A')[0]?.atMs, 39.8);
    expect(endIn(cluster, 'B')).toMatchObject([{ status: 'cancelled', reason: null }]);
    expectAt(endIn(cluster, 'B')[0]?.atMs, 50);
    expect(outcomeOf(cluster)).toMatchObject([{ status: 'cancelled', reason: null }]);
    expectAt(outcomeOf(cluster)[0]?.atMs, 50);
    const view = await cluster.time.during(client.get('j1'));
    expect(view?.workflows).toMatchObject([{ status: 'completed', result: 'of A' }]);
    expect(view?.datacenters).toMatchObject([
      { datacenter: 'A', status: 'completed', unconfirmed: false },
      { datacenter: 'B', status: 'cancelled', unconfirmed: false },
    ]);
    const { outcome } = gateJob(cluster);
    expect(outcome?.results.map(({ datacenter, isPartial }) => [datacenter, isPartial])).toEqual([
      ['A', false],
      ['B', true],
    ]);
    expect(await cluster.time.during(client.cancel('j1'))).toEqual({
      accepted: true,
      reason: 'alreadyCancelled',
    });
  });
});

describe('a gate', () => {
  test.each([200_000, 203_000, 209_900])(
    'S41 without its data since %d ms is given its job back with the next reports',
    async (lostAt) => {
      await using cluster = await startCluster({ gates: 1, datacenters: { A: ONE, B: ONE } });
      const job = {
        jobId: 'j1',
        timeoutMs: 600_000,
        workflows: [scripted('w1', { runs: 'never' })],
      };
      await cluster.begin('gate-1', job);
      await cluster.runUntil(lostAt - 1_000);
      const { submittedAt } = gateJob(cluster);
      cluster.at(lostAt, async () => {
        cluster.crash('gate-1');
        await cluster.restart('gate-1', { forgets: true });
      });
      await cluster.runUntil(lostAt + 10_500);
      const rebuilt = gateJob(cluster);
      expect(Math.abs(rebuilt.submittedAt - submittedAt)).toBeLessThan(1_000);
      expect(Object.keys(rebuilt.datacenters).sort()).toEqual(['A', 'B']);
      expect(rebuilt).toMatchObject({ isRebuilt: true, terms: { timeoutMs: 600_000 } });
      await cluster.runUntil(600_000);
      expect(endsOf(cluster)).toEqual([]);
      await cluster.runUntil(602_000);
      expect(secondsOf(cluster, 'timeout.declared')).toEqual([600]);
      for (const datacenter of ['A', 'B'])
        expect(endIn(cluster, datacenter)).toMatchObject([
          { status: 'timedOut', reason: 'global' },
        ]);
      expect(outcomeOf(cluster)).toMatchObject([{ status: 'timedOut', reason: 'overall' }]);
      expectAt(outcomeOf(cluster)[0]?.atMs, 600);
      expect(secondsOf(cluster, 'gate.recovered')).toHaveLength(1);
      expect(cluster.recorder.errors()).toEqual([]);
    },
  );

  test.each([
    { reportHeldMs: 0, declaredAt: 330 },
    { reportHeldMs: 1_150, declaredAt: 300 },
  ])(
    'S42 grants the time it has heard of by its deadline: report held for $reportHeldMs ms',
    async ({ reportHeldMs, declaredAt }) => {
      await using cluster = await startCluster({ gates: 1, datacenters: { A: ONE } });
      const job = {
        jobId: 'j1',
        timeoutMs: 300_000,
        workflows: [scripted('w1', { runs: 'never' })],
      };
      await cluster.begin('gate-1', job);
      cluster.at(299_700, () => {
        if (reportHeldMs === 0) return;
        cluster.network.intercept({
          between: ['A.manager-1', 'gate-1'],
          type: 'progress.reported',
          action: { holdMs: reportHeldMs },
        });
      });
      cluster.at(299_751, async () => {
        const answer = await cluster.extend('A.worker-1', { progress: 0.99 });
        expect(answer).toMatchObject({ granted: true, extensionMs: 30_000 });
      });
      await cluster.runUntil(declaredAt * 1_000);
      expect(endsOf(cluster)).toEqual([]);
      expect(cluster.recorder.notes('timeout.declared')).toEqual([]);
      await cluster.runUntil(340_000);
      expect(cluster.recorder.notes('timeout.declared')).toMatchObject([
        { fields: { reason: 'overall' } },
      ]);
      expectAt(cluster.recorder.notes('timeout.declared')[0]?.atMs, declaredAt);
      // What is behind a held message waits for it, so the outcome may be up to 3 s later.
      expect(outcomeOf(cluster)).toMatchObject([{ status: 'timedOut', reason: 'overall' }]);
      expect(endIn(cluster, 'A')).toMatchObject([{ status: 'timedOut', reason: 'global' }]);
      expectAt(endIn(cluster, 'A')[0]?.atMs, declaredAt);
    },
  );

  test('S51 waits for a datacenter that has no worker large enough', async () => {
    await using cluster = await startCluster({
      gates: 1,
      datacenters: { A: { workers: 1, cores: 1 }, B: ONE },
    });
    const workflows = [scripted('w1', { stopsProgressAt: 10_000 }, { cores: 2 })];
    const job = { jobId: 'j1', timeoutMs: 3_600_000, stuckThresholdMs: 600_000, workflows };
    await cluster.begin('gate-1', job);
    await cluster.runUntil(300_000);
    expect(gateJob(cluster).datacenters).toMatchObject({
      A: { queued: true, run: 'running' },
      B: { queued: false, run: 'running' },
    });
    await cluster.runUntil(610_000);
    expect(cluster.recorder.notes('timeout.declared')).toEqual([]);
    expect(cluster.recorder.notes('timeout.reported')).toEqual([]);
    await cluster.runUntil(640_000);
    const [reported] = cluster.recorder.notes('timeout.reported');
    expect(reported).toMatchObject({ node: 'B.manager-1', fields: { reason: 'stuck' } });
    const [declared] = cluster.recorder.notes('timeout.declared');
    expect(declared?.fields).toMatchObject({ reason: 'datacenterTimeout' });
    expect([reported, declared].map((line) => Math.floor((line?.atMs ?? 0) / 1_000))).toEqual([
      610, 610,
    ]);
    expect(outcomeOf(cluster)).toMatchObject([{ status: 'timedOut', reason: 'datacenterTimeout' }]);
  });
});
