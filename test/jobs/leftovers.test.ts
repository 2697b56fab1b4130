/**
 * Leftovers: when all jobs have ended nothing of them goes on: no deadline, no message, no core, no
 * attempt.
 */

import { describe, expect, test } from 'vitest';
import type { WorkerPoolContext } from '../../machines/jobs/worker-pool.ts';
import type { Undelivered } from '../../runtime/actor/dead-letters.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { HandlerScript } from '../../simulator/jobs/scripted-handler.ts';
import { type Cluster, scripted, startCluster } from './cluster.ts';
import { contextOf, endsOf, healthOf } from './scenarios/witness.ts';

const WORKERS = ['A.worker-1', 'A.worker-2', 'B.worker-1', 'B.worker-2'];

function activeOf(runtime: unknown, kind: string): readonly string[] {
  const { actors } = (runtime as Runtime).query({ kind, status: 'active', limit: 1_000 });
  return actors.map(({ address }) => address);
}

/**
 * The one thing that may be among the undelivered: a job was over and stopped what it thought was
 * left, while that ended by itself and the job with it, so that nobody was there to hear of it.
 */
function hasCrossed({ from, to, event, error }: Undelivered): boolean {
  const isCancel = from?.startsWith('job/') === true && event.type === 'workflow.cancel';
  return isCancel && to.startsWith('workflow/') && error.code === 'ACTOR_ENDED';
}

/** Of actors that live; one that has ended waits until its record is dropped, a week later. */
function deadlinesOf(runtime: unknown): number {
  const node = runtime as Runtime;
  const rows = node.query({ limit: 1_000 }).actors;
  return node.counts().deadlines - rows.filter(({ status }) => status !== 'active').length;
}

/** Jobs that end in every way there is, locally and through the gate, with all kinds of trouble. */
async function submitAll(cluster: Cluster): Promise<void> {
  const submit = async (to: string, jobId: string, script: HandlerScript, terms: object = {}) => {
    const client = await cluster.connect(to);
    await cluster.time.runFor(1_000);
    const first = scripted('w1', script);
    const next = scripted('w2', { runs: 1_000 }, { dependsOn: ['w1'] });
    const job = { jobId, timeoutMs: 600_000, workflows: [first, next], ...terms };
    const answer = await cluster.time.during(client.submit(job));
    expect(answer).toMatchObject({ accepted: true });
    return client;
  };
  const never: HandlerScript = { runs: 'never' };
  for (const [place, n] of [
    ['A', 'l'],
    ['gate-1', 'g'],
  ] as const) {
    await submit(place, `${n}-completed`, { runs: 40_000 });
    await submit(place, `${n}-retried`, { runs: 2_000, failsTimes: 2 });
    await submit(place, `${n}-failed`, { runs: 3_000, failsTimes: 9 });
    await submit(
      place,
      `${n}-fatal`,
      { runs: 3_000, failsTimes: 1, isFatal: true },
      { failFast: true },
    );
    await submit(place, `${n}-late`, never, { timeoutMs: 50_000 });
    await submit(place, `${n}-stuck`, { stopsProgressAt: 5_000 });
    await submit(place, `${n}-stubborn`, { ...never, ignoresCancel: true }, { timeoutMs: 45_000 });
    const client = await submit(place, `${n}-cancelled`, never);
    cluster.at(Math.ceil(cluster.time.now()) + 20_000, () => client.cancel(`${n}-cancelled`));
    // More than there are cores for: it waits, and is cancelled there.
    const large = scripted('w1', never, { cores: 1_000 });
    await submit(place, `${n}-queued`, never, { workflows: [large], timeoutMs: 70_000 });
  }
}

async function mixedRun(): Promise<Cluster> {
  const cluster = await startCluster({
    gates: 1,
    datacenters: { A: { workers: 2, cores: 64 }, B: { workers: 2, cores: 64 } },
  });
  await submitAll(cluster);
  const now = Math.ceil(cluster.time.now());
  for (const worker of WORKERS)
    for (const [n, atMs] of [5_000, 9_000].entries())
      cluster.at(now + atMs, () =>
        cluster.extend(worker, { progress: 0.3 * (n + 1) }).catch(() => {}),
      );
  cluster.at(now + 12_000, () => cluster.crash('A.worker-1'));
  cluster.at(now + 100_000, () => cluster.restart('A.worker-1'));
  // Asked for when some jobs have reported to their gate, which is away: it counts for nothing there.
  const away = ['gate-1'];
  cluster.at(now + 60_000, () => cluster.network.cut(away, () => true));
  cluster.at(now + 125_000, () => {
    for (const worker of WORKERS.slice(1)) void cluster.extend(worker, { progress: 0.95 });
  });
  cluster.at(now + 150_000, () => cluster.network.heal());
  await cluster.runUntil(now + 900_000);
  return cluster;
}

describe('after a mixed run', () => {
  test('nothing of its jobs is left', async () => {
    const cluster = await mixedRun();
    const { runtime: gate } = cluster.gate('gate-1');
    const managers = ['A', 'B'].map((name) => cluster.manager(`${name}.manager-1`).runtime);

    // It was a mixed run.
    const statuses = new Set(endsOfAll(cluster).map(({ status }) => status));
    expect([...statuses].sort()).toEqual(['cancelled', 'completed', 'failed', 'timedOut']);
    expect(cluster.recorder.notes('worker.evicted')).toHaveLength(1);
    expect(cluster.recorder.notes('extension.granted').length).toBeGreaterThan(3);
    expect(cluster.recorder.notes('timeout.reported').length).toBeGreaterThan(0);

    // Trackers and their deadlines.
    for (const name of ['A', 'B']) {
      const { counters } = cluster.manager(`${name}.manager-1`);
      expect(counters.value('timeout_strategies_active_count')).toBe(0);
      expect(counters.value('dispatch_queue_length')).toBe(0);
    }
    for (const runtime of managers) {
      for (const kind of ['job', 'workflow']) expect(activeOf(runtime, kind), kind).toEqual([]);
      const jobs = runtime.query({ kind: 'job', limit: 1_000 }).actors;
      expect(jobs.length).toBeGreaterThan(5);
      expect(jobs.filter(({ dueAt }) => dueAt !== null)).toEqual([]);
      // Each worker that is registered is waited for; nothing else is.
      expect(deadlinesOf(runtime)).toBe(2);
    }
    for (const kind of ['gate-job', 'submission-page']) expect(activeOf(gate, kind)).toEqual([]);
    expect(deadlinesOf(gate)).toBe(0);

    // Messages, questions, performers.
    for (const runtime of [gate, ...managers]) {
      expect(runtime.counts()).toMatchObject({ underWay: 0, asks: 0, performers: 0, ready: 0 });
      expect(runtime.undelivered().filter((one) => !hasCrossed(one))).toEqual([]);
    }

    // Cores, requests for them, operations, credit.
    for (const name of ['A', 'B']) {
      const { workers, lanes } = contextOf<WorkerPoolContext>(cluster, `worker-pool/main@${name}`);
      expect(Object.values(lanes)).toEqual([]);
      expect(Object.values(workers).map(({ coresReserved }) => coresReserved)).toEqual([0, 0]);
      for (const worker of [1, 2].map((n) => `${name}.worker-${n}`))
        expect(healthOf(cluster, worker, name), worker).toMatchObject({
          state: 'healthy',
          operations: {},
          creditedJobs: [],
          pending: [],
        });
    }

    // Attempts.
    for (const worker of WORKERS) {
      const { runtime, bootEpoch } = cluster.worker(worker);
      const { attempts } = runtime.actor(`worker/${bootEpoch}`).getSnapshot().context;
      expect([...attempts.keys()], worker).toEqual([]);
      expect(activeOf(runtime, 'attempt'), worker).toEqual([]);
      expect(runtime.counts()).toMatchObject({ underWay: 0, asks: 0, performers: 0 });
      expect(runtime.undelivered(), worker).toEqual([]);
    }

    // No repair was needed, and nothing went wrong.
    expect(cluster.recorder.notes('timeout.repaired')).toEqual([]);
    expect(cluster.recorder.errors()).toEqual([]);
    await cluster.stop();
  });
});

test('credit that a job did not want any more is not remembered for it', async () => {
  await using cluster = await startCluster({ gates: 1, datacenters: { A: { workers: 1 } } });
  const workflows = [scripted('w1', { runs: 'never' })];
  await cluster.begin('gate-1', { jobId: 'j1', timeoutMs: 60_000, workflows });
  // Its gate is away, so it has reported and goes on.
  cluster.at(30_000, () => cluster.network.cut('gate-1', () => true));
  cluster.at(70_000, async () => {
    const answer = await cluster.extend('A.worker-1', { progress: 0.9 });
    expect(answer).toMatchObject({ granted: true });
  });
  cluster.at(100_000, () => cluster.network.heal());
  await cluster.runUntil(80_000);
  expect(contextOf(cluster, 'job/j1@A')).toMatchObject({ creditByWorker: {}, status: 'running' });
  await cluster.runUntil(200_000);
  expect(endsOf(cluster)).toHaveLength(2);
  expect(healthOf(cluster, 'A.worker-1')).toMatchObject({ creditedJobs: [], pending: [] });
});

function endsOfAll(cluster: Cluster) {
  const ids = new Set(
    cluster.recorder.notes('job.ended').map(({ fields }) => fields['jobId'] as string),
  );
  return [...ids].flatMap((jobId) => endsOf(cluster, jobId));
}
