/** Scenarios of one datacenter: results and deadlines on the same millisecond, and far away. */

import { expect, test } from 'vitest';
import type { HandlerScript } from '../../../simulator/jobs/scripted-handler.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';
import { endAt, goTo, hasEnded, jobAt, timesOf, watchTurns } from './scene.ts';
import { expectAt } from './witness.ts';

const MANAGER = 'A.manager-1';
const DAY_S = 24 * 3_600;

function submit(cluster: Cluster, seconds: number, script: HandlerScript, jobId = 'j1') {
  const workflows = [scripted('w1', script)];
  return cluster.begin('A', { jobId, timeoutMs: seconds * 1_000, workflows });
}

/** The moments at which results are taken, once the job is over. */
async function resultsOf(cluster: Cluster, runsMs: number): Promise<readonly number[]> {
  const turns = watchTurns(cluster, cluster.manager(MANAGER).runtime);
  await submit(cluster, 60, { runs: runsMs });
  await goTo(cluster, 70);
  return turns.filter(({ event }) => event.type === 'result.received').map(({ atMs }) => atMs);
}

// The way to the worker and back takes 100 ms.
test.each([60_000, 60_001])('S1 a result taken at %s ms is in time', async (atMs) => {
  await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
  expect(await resultsOf(cluster, atMs - 100)).toEqual([atMs]);
  const end = endAt(cluster, MANAGER);
  expect(end.fields).toMatchObject({ status: 'completed', reason: null });
  expect(end.atMs).toBe(atMs);
  expect(timesOf(cluster, 'timeout.detected')).toEqual([]);
});

test('S2 a result taken at 61 is late', async () => {
  await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
  const between = ['A.worker-1', MANAGER] as const;
  cluster.network.intercept({ between, type: 'result.received', action: { holdMs: 1_100 } });
  const [first] = await resultsOf(cluster, 59_850);
  expectAt(first, 61);
  const end = endAt(cluster, MANAGER);
  expect(end.fields).toMatchObject({ status: 'timedOut', reason: 'overall' });
  expect(end.atMs).toBe(60_001);
  expect(jobAt(cluster, 'A')).toMatchObject({
    status: 'timedOut',
    lateEvents: [{ type: 'result.received' }],
  });
  const { counters } = cluster.manager(MANAGER);
  expect(counters.value('late_events_total', { kind: 'result.received' })).toBe(1);
});

test('S3 a job may run for 40 days', async () => {
  // Everything that repeats is slow, or the run would be long; the deadline is not touched by it.
  const config = {
    heartbeatIntervalMs: 600_000,
    baseDeadlineMs: 3_600_000,
    managerLostMs: 3_600_000,
    checkIntervalMs: 3_600_000,
    gateFallbackMs: 3_600_000,
    stuckThresholdMs: 7_200_000,
    leaseMs: 600_000,
    leaseRenewMs: 200_000,
  };
  await using cluster = await startCluster({ datacenters: { A: { workers: 1 } }, config });
  await submit(cluster, 40 * DAY_S, { runs: 'never', progressEvery: 3_600_000 });
  await goTo(cluster, 25 * DAY_S);
  expect(jobAt(cluster, 'A').status).toBe('running');
  await goTo(cluster, 40 * DAY_S);
  expect(hasEnded(cluster)).toBe(false);
  await goTo(cluster, 40 * DAY_S + 1);
  const end = endAt(cluster, MANAGER);
  expect(end.fields).toMatchObject({ status: 'timedOut', reason: 'overall' });
  expectAt(end.atMs, 40 * DAY_S);
});
