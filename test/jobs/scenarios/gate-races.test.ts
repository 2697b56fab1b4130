/** Scenarios of a gate whose decision crosses the end of a job, or arrives more than once. */

import { describe, expect, test } from 'vitest';
import type { HandlerScript } from '../../../simulator/jobs/scripted-handler.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';
import {
  endAt,
  gateJobAt,
  goTo,
  jobAt,
  strayNode,
  timesOf,
  watchSent,
  watchTurns,
} from './scene.ts';
import { expectAt } from './witness.ts';

const ONE = { workers: 1 };
const MANAGER = 'A.manager-1';
/** What a run has to take for its result to be taken 20 ms before the gate's deadline of 100 s. */
const UNTIL_99_98 = 99_830;

function submit(cluster: Cluster, script: HandlerScript) {
  const workflows = [scripted('w1', script)];
  return cluster.begin('gate-1', { jobId: 'j1', timeoutMs: 100_000, workflows });
}

const turnsAtGate = (cluster: Cluster) => watchTurns(cluster, cluster.gate('gate-1').runtime);

test('S25 a job that was completed before its timeout was declared is completed', async () => {
  await using cluster = await startCluster({ gates: 1, datacenters: { A: ONE } });
  await submit(cluster, { runs: UNTIL_99_98, result: 'all of it' });
  const sent = watchSent(cluster.manager(MANAGER).runtime);
  await goTo(cluster, 110);
  const end = endAt(cluster, MANAGER);
  expect(end.fields).toMatchObject({ status: 'completed', reason: null });
  expect(end.atMs).toBe(99_980);
  const [declared, ...others] = cluster.recorder.notes('timeout.declared');
  expect(declared?.fields).toMatchObject({ reason: 'overall' });
  expectAt(declared?.atMs, 100);
  expect(others).toEqual([]);
  const told = sent.filter(({ event }) => 'sinceEndedMs' in event).map(({ event }) => event);
  expect(told).toMatchObject([{ type: 'final.reported', status: 'completed' }]);
  // The correction does not wait in line behind the final: it is a hint.
  const [corrected, ...repeated] = cluster.recorder.notes('status.corrected');
  expect(corrected?.fields).toMatchObject({ rejection: 'final', decisionEpoch: [1, 1] });
  expect(repeated).toEqual([]);
  const outcome = endAt(cluster, 'gate-1');
  expect(outcome.fields).toMatchObject({ status: 'completed', reason: null, unconfirmed: [] });
  expectAt(outcome.atMs, 100);
  // What was declared is among what came too late for the job.
  expect(jobAt(cluster, 'A')).toMatchObject({
    status: 'completed',
    lateEvents: [{ type: 'timeout.declared' }],
  });
  expect(timesOf(cluster, 'timeout.obeyed')).toEqual([]);
  expect(cluster.recorder.errors()).toEqual([]);
});

test('S26 what one datacenter has completed is kept when the job times out in another', async () => {
  await using cluster = await startCluster({ gates: 1, datacenters: { A: ONE, B: ONE } });
  const completes = { runs: UNTIL_99_98, result: 'all of A' };
  const client = await submit(cluster, { runs: 'never', in: { A: completes } });
  await goTo(cluster, 110);
  const completed = endAt(cluster, MANAGER);
  expect(completed.fields).toMatchObject({ status: 'completed', reason: null });
  expect(completed.atMs).toBe(99_980);
  expectAt(timesOf(cluster, 'timeout.declared')[0], 100);
  expect(timesOf(cluster, 'timeout.declared')).toHaveLength(1);
  expect(cluster.recorder.notes('timeout.declared')[0]?.fields).toMatchObject({
    reason: 'overall',
  });
  const corrected = cluster.recorder.notes('status.corrected');
  expect(corrected.map(({ node }) => node)).toEqual([MANAGER]);
  const obeyed = endAt(cluster, 'B.manager-1');
  expect(obeyed.fields).toMatchObject({
    status: 'timedOut',
    reason: 'global',
    gateReason: 'overall',
  });
  expectAt(obeyed.atMs, 100);
  const outcome = endAt(cluster, 'gate-1');
  expect(outcome.fields).toMatchObject({ status: 'timedOut', reason: 'overall', unconfirmed: [] });
  expectAt(outcome.atMs, 100);
  const kept = gateJobAt(cluster, 'gate-1').outcome?.results;
  expect(kept).toMatchObject([
    { datacenter: 'A', isPartial: false },
    { datacenter: 'B', isPartial: true },
  ]);
  const job = await cluster.time.during(client.get('j1'));
  expect(job).toMatchObject({ status: 'timedOut', reason: 'overall' });
  expect(job?.workflows).toMatchObject([{ status: 'completed', result: 'all of A' }]);
});

describe('S27 a decision that arrives three times', () => {
  const obedient = () =>
    startCluster({ gates: 1, datacenters: { A: ONE } }).then(async (cluster) => {
      // Its worker takes a while to stop, so the job is there when the copies come.
      await submit(cluster, { runs: 'never', stopsAfter: 5_000 });
      return cluster;
    });

  test('S27 because the network repeats it ends the job once', async () => {
    await using cluster = await obedient();
    const copied = cluster.network.intercept({
      between: ['gate-1', MANAGER],
      type: 'timeout.declared',
      count: 1,
      action: { duplicate: 2 },
    });
    const turns = turnsAtGate(cluster);
    await goTo(cluster, 120);
    expect(copied.hits).toBe(1);
    expect(timesOf(cluster, 'timeout.obeyed')).toHaveLength(1);
    expect(endAt(cluster, MANAGER).fields).toMatchObject({ status: 'timedOut', reason: 'global' });
    const acks = turns.filter(({ event }) => event['ackOf'] === 'timeout.declared');
    expect(acks).toMatchObject([{ event: { accepted: true, duplicate: false } }]);
    expect(cluster.recorder.errors()).toEqual([]);
  });

  test('S27 because the gate says it three times is acknowledged three times', async () => {
    await using cluster = await obedient();
    const atManager = watchTurns(cluster, cluster.manager(MANAGER).runtime);
    const sent = watchSent(cluster.manager(MANAGER).runtime);
    const stray = await strayNode(cluster, 'gate-2');
    await goTo(cluster, 100);
    await cluster.runUntil(100_060);
    const [first] = atManager.filter(({ event }) => event.type === 'timeout.declared');
    expect(first?.event).toMatchObject({ decisionEpoch: [1, 1], leaderFence: 1 });
    for (const _ of ['again', 'and again'])
      stray.say(MANAGER, 'gate-job/j1@gate-1', 'job/j1@A', first?.event ?? {});
    await goTo(cluster, 120);
    const acks = sent.filter(({ event }) => event['ackOf'] === 'timeout.declared');
    expect(acks.map(({ event }) => [event['accepted'], event['duplicate']])).toEqual([
      [true, false],
      [true, true],
      [true, true],
    ]);
    expect(timesOf(cluster, 'timeout.obeyed')).toHaveLength(1);
    expect(timesOf(cluster, 'timeout.rejected')).toEqual([]);
    const end = endAt(cluster, MANAGER);
    expect(end.fields).toMatchObject({
      status: 'timedOut',
      reason: 'global',
      gateReason: 'overall',
    });
    expectAt(end.atMs, 100);
    expect(jobAt(cluster, 'A').seq).toBe(3);
    expect(endAt(cluster, 'gate-1').fields).toMatchObject({
      status: 'timedOut',
      reason: 'overall',
    });
  });
});
