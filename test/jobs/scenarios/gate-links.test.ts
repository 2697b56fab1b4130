/** Scenarios of a gate whose messages are lost, whose datacenters are cut off, or that is down itself. */

import { expect, test } from 'vitest';
import type { HandlerScript } from '../../../simulator/jobs/scripted-handler.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';
import { endAt, gateJobAt, goTo, hasEnded, jobAt, timesOf, watchTurns } from './scene.ts';
import { expectAt } from './witness.ts';

const ONE = { workers: 1 };

function submit(cluster: Cluster, seconds: number, script: HandlerScript, terms: object = {}) {
  const workflows = [scripted('w1', script)];
  return cluster.begin('gate-1', { jobId: 'j1', timeoutMs: seconds * 1_000, workflows, ...terms });
}

test('S14 a datacenter that is cut off for good ends by itself, and its end is presumed', async () => {
  await using cluster = await startCluster({ gates: 1, datacenters: { A: ONE, B: ONE } });
  const terms = { stuckThresholdMs: 600_000, datacenterTimeoutQuorum: 'all' } as const;
  await submit(cluster, 1_200, { stopsProgressAt: 10_000 }, terms);
  cluster.at(100_000, () => cluster.network.cut('gate-1', 'B.manager-1'));
  await goTo(cluster, 120);
  expect(timesOf(cluster, 'datacenter.silent')).toEqual([]);
  await goTo(cluster, 121);
  expect(cluster.recorder.notes('datacenter.silent')).toMatchObject([
    { node: 'gate-1', fields: { datacenter: 'B' } },
  ]);
  // Nothing moves in either, but one of them cannot say so.
  await goTo(cluster, 610);
  expect(timesOf(cluster, 'timeout.reported')).toEqual([]);
  await goTo(cluster, 910);
  const reports = cluster.recorder.notes('timeout.reported');
  expect(reports.map(({ node, fields }) => [node, fields['reason']]).sort()).toEqual([
    ['A.manager-1', 'stuck'],
    ['B.manager-1', 'stuck'],
  ]);
  for (const { atMs } of reports) expectAt(atMs, 610);
  expect(gateJobAt(cluster, 'gate-1').datacenters).toMatchObject({
    A: { run: 'reported', report: 'stuck' },
    B: { run: 'running', report: null },
  });
  expect(hasEnded(cluster)).toBe(false);
  await goTo(cluster, 1_200);
  const fallback = endAt(cluster, 'B.manager-1');
  const local = { status: 'timedOut', reason: 'fallback', localReason: 'stuck' };
  expect(fallback.fields).toMatchObject(local);
  expectAt(fallback.atMs, 910);
  expect(jobAt(cluster, 'A')).toMatchObject({ status: 'running', localReason: 'stuck' });
  expect(timesOf(cluster, 'timeout.declared')).toEqual([]);
  await goTo(cluster, 1_260);
  const [declared, ...others] = cluster.recorder.notes('timeout.declared');
  expect(declared?.fields).toMatchObject({ reason: 'overall' });
  expectAt(declared?.atMs, 1_200);
  expect(others).toEqual([]);
  const obeyed = endAt(cluster, 'A.manager-1');
  expect(obeyed.fields).toMatchObject({
    status: 'timedOut',
    reason: 'global',
    gateReason: 'overall',
  });
  expectAt(obeyed.atMs, 1_200);
  expect(gateJobAt(cluster, 'gate-1').outcome).toBeNull();
  await goTo(cluster, 1_300);
  const outcome = endAt(cluster, 'gate-1');
  const { fields } = outcome;
  expect(fields).toMatchObject({ status: 'timedOut', reason: 'overall', unconfirmed: ['B'] });
  expectAt(outcome.atMs, 1_260);
  expect(timesOf(cluster, 'timeout.fallback')).toHaveLength(1);
});

test('S20 a report that is lost three times arrives at 157', async () => {
  await using cluster = await startCluster({ gates: 1, datacenters: { A: ONE } });
  await submit(cluster, 900, { stopsProgressAt: 30_000 });
  const lost = cluster.network.intercept({
    between: ['gate-1', 'A.manager-1'],
    type: 'timeout.reported',
    count: 3,
    action: 'drop',
  });
  const sends: Array<readonly [seconds: number, lost: number]> = [];
  for (const seconds of [150, 151, 152, 153, 154, 157]) {
    await goTo(cluster, seconds);
    sends.push([seconds, lost.hits]);
  }
  // The first is sent in the second after 150, the others 1 s, 2 s and 4 s after the one before.
  expect(sends).toEqual([
    [150, 0],
    [151, 1],
    [152, 2],
    [153, 2],
    [154, 3],
    [157, 3],
  ]);
  expect(timesOf(cluster, 'timeout.declared')).toEqual([]);
  await goTo(cluster, 170);
  const [declared, ...others] = cluster.recorder.notes('timeout.declared');
  expect(declared?.fields).toMatchObject({ reason: 'datacenterTimeout' });
  expectAt(declared?.atMs, 157);
  expect(others).toEqual([]);
  expect(timesOf(cluster, 'timeout.reported')).toHaveLength(1);
  const { counters } = cluster.gate('gate-1');
  expect(counters.value('gate_dc_timeout_reports_received_total')).toBe(1);
  const end = endAt(cluster, 'A.manager-1');
  expect(end.fields).toMatchObject({ status: 'timedOut', reason: 'global', localReason: 'stuck' });
  expectAt(end.atMs, 157);
});

test('S21 a decision that is lost on three ways to one datacenter reaches it at 157', async () => {
  await using cluster = await startCluster({ gates: 1, datacenters: { A: ONE, B: ONE, C: ONE } });
  await submit(cluster, 600, { runs: 'never', in: { A: { stopsProgressAt: 30_000 } } });
  const between = ['gate-1', 'C.manager-1'] as const;
  const lost = cluster.network.intercept({
    between,
    type: 'timeout.declared',
    count: 3,
    action: 'drop',
  });
  await goTo(cluster, 157);
  for (const datacenter of ['A', 'B']) {
    const end = endAt(cluster, `${datacenter}.manager-1`);
    expect(end.fields).toMatchObject({ status: 'timedOut', reason: 'global' });
    expectAt(end.atMs, 150);
  }
  expect(lost.hits).toBe(3);
  expect(jobAt(cluster, 'C').status).toBe('running');
  expect(gateJobAt(cluster, 'gate-1').outcome).toBeNull();
  await goTo(cluster, 170);
  const end = endAt(cluster, 'C.manager-1');
  expect(end.fields).toMatchObject({ status: 'timedOut', reason: 'global' });
  expectAt(end.atMs, 157);
  const outcome = endAt(cluster, 'gate-1');
  const fields = { status: 'timedOut', reason: 'datacenterTimeout', unconfirmed: [] };
  expect(outcome.fields).toMatchObject(fields);
  expectAt(outcome.atMs, 157);
  expect(timesOf(cluster, 'timeout.declared')).toHaveLength(1);
});

test('S23 a takeover does not begin the wait for the gate again', async () => {
  const datacenters = { A: { managers: 2, workers: 1, isAppointed: true } };
  await using cluster = await startCluster({ gates: 1, datacenters });
  await submit(cluster, 200, { runs: 'never' });
  cluster.at(60_500, () => cluster.crash('gate-1'));
  cluster.at(300_000, () => cluster.crash('A.manager-1'));
  cluster.at(318_000, () => cluster.lead('A.manager-2'));
  cluster.at(600_000, () => cluster.restart('gate-1'));
  await goTo(cluster, 299);
  const { timeoutReportedAt } = jobAt(cluster, 'A');
  expectAt(cluster.time.sinceBegin(timeoutReportedAt ?? 0), 200);
  await goTo(cluster, 500);
  expect(jobAt(cluster, 'A')).toMatchObject({
    status: 'running',
    leaderFence: 2,
    timeoutReportedAt,
  });
  expect(hasEnded(cluster)).toBe(false);
  await goTo(cluster, 600);
  const end = endAt(cluster, 'A.manager-2');
  const fallback = { status: 'timedOut', reason: 'fallback' };
  expect(end.fields).toMatchObject({ ...fallback, localReason: 'overall', leaderFence: 2 });
  expectAt(end.atMs, 500);
  await goTo(cluster, 700);
  const outcome = endAt(cluster, 'gate-1');
  expect(outcome.fields).toMatchObject({ ...fallback, unconfirmed: [] });
  expectAt(outcome.atMs, 600);
});

test('S24 a job that goes well does not mind that its gate is down', async () => {
  await using cluster = await startCluster({ gates: 1, datacenters: { A: ONE } });
  await submit(cluster, 3_600, { runs: 'never' });
  cluster.at(60_000, () => cluster.crash('gate-1'));
  cluster.at(1_000_000, () => cluster.restart('gate-1'));
  const turns = watchTurns(cluster, cluster.manager('A.manager-1').runtime);
  await goTo(cluster, 1_000);
  expect(jobAt(cluster, 'A')).toMatchObject({ status: 'running', timeoutReportedAt: null });
  await goTo(cluster, 1_200);
  expect(jobAt(cluster, 'A')).toMatchObject({ status: 'running', timeoutReportedAt: null });
  const record = gateJobAt(cluster, 'gate-1');
  expect(record).toMatchObject({ decision: null, outcome: null });
  expect(record.datacenters['A']).toMatchObject({ run: 'running', report: null });
  for (const name of [
    'timeout.detected',
    'timeout.reported',
    'timeout.declared',
    'job.ended',
  ] as const)
    expect(timesOf(cluster, name)).toEqual([]);
  // It is heard again, and answers again.
  const acks = turns.filter(({ event }) => event['ackOf'] === 'progress.reported');
  expect(acks.filter(({ atMs }) => atMs > 60_100 && atMs < 1_000_000)).toEqual([]);
  expect(acks.filter(({ atMs }) => atMs > 1_000_000).length).toBeGreaterThanOrEqual(19);
  expect(cluster.recorder.errors()).toEqual([]);
});

test('GT-3 a datacenter that has fallen silent is not taken to be stuck', async () => {
  await using cluster = await startCluster({ gates: 1, datacenters: { A: ONE, B: ONE } });
  const script = { stopsProgressAt: 10_000, in: { A: { stopsProgressAt: 100_000 } } };
  await submit(cluster, 1_200, script, { stuckThresholdMs: 600_000 });
  // B has said that nothing moves; A says so when nobody knows of B any more.
  cluster.at(210_000, () => cluster.network.cut('gate-1', 'B.manager-1'));
  await goTo(cluster, 400);
  const { datacenters } = gateJobAt(cluster, 'gate-1');
  for (const name of ['A', 'B'])
    expect(datacenters[name]?.sinceProgressMs).toBeGreaterThan(180_000);
  expect(timesOf(cluster, 'datacenter.silent')).toHaveLength(1);
  expect(timesOf(cluster, 'timeout.declared')).toEqual([]);
  cluster.at(500_000, () => cluster.network.heal());
  await goTo(cluster, 510);
  expect(timesOf(cluster, 'datacenter.heard')).toHaveLength(1);
  expect(cluster.recorder.notes('timeout.declared')).toMatchObject([
    { fields: { reason: 'allDatacentersStuck' } },
  ]);
  expectAt(timesOf(cluster, 'timeout.declared')[0], 500);
});

test('JB-6 a decision that is refused is a word of the gate, too, and puts the fallback off', async () => {
  const datacenters = { A: { managers: 2, workers: 1, isAppointed: true }, B: ONE };
  await using cluster = await startCluster({ gates: 1, datacenters });
  const script = { stopsProgressAt: 30_000, in: { B: { stopsProgressAt: 180_000 } } };
  await submit(cluster, 900, script, { datacenterTimeoutQuorum: 'all' });
  // As in 10.7.6: the decision echoes the fence of the leader before, and then the gate is gone.
  cluster.at(200_500, () => cluster.crash('A.manager-1'));
  cluster.at(304_900, () => cluster.network.cut('gate-1', 'A.manager-2'));
  cluster.at(305_000, () => cluster.lead('A.manager-2'));
  cluster.at(310_000, () => cluster.network.heal('gate-1', 'A.manager-2'));
  const between = ['gate-1', 'A.manager-2'] as const;
  for (const type of ['leader.transferred', 'progress.reported', 'timeout.reported'])
    cluster.network.intercept({ between, type, action: 'drop' });
  cluster.at(310_160, () => cluster.crash('gate-1'));
  await goTo(cluster, 311);
  expectAt(timesOf(cluster, 'timeout.declared')[0], 300);
  const rejected = cluster.recorder.notes('timeout.rejected');
  expect(rejected).toMatchObject([{ node: 'A.manager-2' }]);
  expectAt(rejected[0]?.atMs, 310);
  const ends = () => cluster.recorder.notes('job.ended').filter(({ node }) => node.startsWith('A'));
  await goTo(cluster, 610);
  expect(ends()).toEqual([]);
  await goTo(cluster, 620);
  const end = endAt(cluster, 'A.manager-2');
  expect(end.fields).toMatchObject({ status: 'timedOut', reason: 'fallback', leaderFence: 2 });
  expectAt(end.atMs, 610);
});
