/** Acceptance scenarios of jobs that a gate decides about, by their numbers. */

import { expect, test } from 'vitest';
import type { HandlerScript } from '../../../simulator/jobs/scripted-handler.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';
import {
  endAt,
  gateJobAt,
  goTo,
  hasEnded,
  jobAt,
  strayNode,
  timesOf,
  watchTurns,
} from './scene.ts';
import { expectAt } from './witness.ts';

function submit(cluster: Cluster, seconds: number, script: HandlerScript) {
  const workflows = [scripted('w1', script)];
  return cluster.begin('gate-1', { jobId: 'j1', timeoutMs: seconds * 1_000, workflows });
}

test('10.7.2 one datacenter is stuck, and the gate ends the job in all of them', async () => {
  const datacenters = { A: { workers: 1 }, B: { workers: 1 }, C: { workers: 1 } };
  await using cluster = await startCluster({ gates: 1, datacenters });
  const client = await submit(cluster, 600, {
    runs: 'never',
    in: { A: { stopsProgressAt: 30_000 } },
  });
  await goTo(cluster, 150);
  expect(timesOf(cluster, 'timeout.reported')).toEqual([]);
  expect(hasEnded(cluster)).toBe(false);
  await goTo(cluster, 151);
  const [report, ...otherReports] = cluster.recorder.notes('timeout.reported');
  expect(report).toMatchObject({ node: 'A.manager-1', fields: { reason: 'stuck' } });
  expectAt(report?.atMs, 150);
  expect(otherReports).toEqual([]);
  const [declared, ...others] = cluster.recorder.notes('timeout.declared');
  expect(declared?.fields).toMatchObject({ reason: 'datacenterTimeout', decisionEpoch: [1, 1] });
  expectAt(declared?.atMs, 150);
  expect(others).toEqual([]);
  for (const datacenter of ['A', 'B', 'C']) {
    const { atMs, fields } = endAt(cluster, `${datacenter}.manager-1`);
    const gateReason = 'datacenterTimeout';
    expect(fields).toMatchObject({ status: 'timedOut', reason: 'global', gateReason });
    expectAt(atMs, 150);
  }
  const end = endAt(cluster, 'gate-1');
  const outcome = { status: 'timedOut', reason: 'datacenterTimeout' };
  expect(end.fields).toMatchObject({ ...outcome, unconfirmed: [] });
  expectAt(end.atMs, 150);
  expect(await cluster.time.during(client.get('j1'))).toMatchObject(outcome);
  const { counters } = cluster.gate('gate-1');
  const reason = 'datacenterTimeout';
  expect(counters.value('gate_global_timeouts_declared_total', { reason })).toBe(1);
  expect(counters.value('gate_dc_timeout_reports_received_total')).toBe(1);
  expect(cluster.recorder.errors()).toEqual([]);
});

test('10.7.6 a decision that echoes the fence of a dead leader is refused, and made again', async () => {
  const datacenters = { A: { managers: 2, workers: 1, isAppointed: true } };
  await using cluster = await startCluster({ gates: 1, datacenters });
  await submit(cluster, 600, { runs: 'never', progressEvery: 'never' });
  const atGate = watchTurns(cluster, cluster.gate('gate-1').runtime);
  const atSecond = watchTurns(cluster, cluster.manager('A.manager-2').runtime);
  // It is dead when the decision, made upon its report, arrives.
  cluster.at(120_190, () => cluster.crash('A.manager-1'));
  cluster.at(138_000, () => cluster.lead('A.manager-2'));
  // All that it sends to the gate before 142 is lost; then the decision is sent to it as it was made.
  cluster.at(137_900, () => cluster.network.cut('gate-1', 'A.manager-2'));
  cluster.at(142_000, () => cluster.network.heal('gate-1', 'A.manager-2'));

  await goTo(cluster, 121);
  expect(cluster.recorder.notes('timeout.reported')[0]).toMatchObject({
    node: 'A.manager-1',
    fields: { reason: 'stuck' },
  });
  expectAt(timesOf(cluster, 'timeout.declared')[0], 120);
  expect(gateJobAt(cluster, 'gate-1').datacenters['A']?.told).toMatchObject({
    epoch: [1, 1],
    leaderFence: 1,
  });
  await goTo(cluster, 141);
  const stray = await strayNode(cluster, 'A.manager-1');
  const old = atGate.findLast(({ event }) => event.type === 'progress.reported')?.event ?? {};
  expect(old).toMatchObject({ managerId: 'A.manager-1', leaderFence: 1 });
  const sayOld = (counter: number) =>
    stray.say('gate-1', 'job/j1@A', 'gate-job/j1@gate-1', old, counter);
  // The new leader has introduced itself, and nobody has ended yet.
  cluster.at(142_101, () => sayOld(0));
  // Numbers of a life begin at the moment of its first message: this one is above all that the job has sent.
  cluster.at(150_000, () => sayOld(cluster.time.clock.now()));
  await goTo(cluster, 142);
  const decisions = () =>
    atSecond.filter(({ event }) => event.type === 'timeout.declared').map(({ event }) => event);
  expect(decisions()).toEqual([]);
  expect(jobAt(cluster, 'A')).toMatchObject({ status: 'running', leaderFence: 2 });
  await goTo(cluster, 143);
  expect(decisions()).toMatchObject([
    { decisionEpoch: [1, 1], leaderFence: 1 },
    { decisionEpoch: [1, 2], leaderFence: 2 },
  ]);
  const [rejected, ...otherRejections] = cluster.recorder
    .notes('timeout.rejected')
    .filter(({ node }) => node === 'A.manager-2');
  expect(rejected?.fields).toMatchObject({ rejection: 'staleLeaderFence', decisionEpoch: [1, 1] });
  expect(otherRejections).toEqual([]);
  expect(cluster.recorder.notes('status.corrected')).toHaveLength(1);
  const corrections = atGate.filter(({ event }) => event.type === 'status.corrected');
  expect(corrections).toHaveLength(1);
  expect(corrections[0]?.event).toMatchObject({ status: 'running', leaderFence: 2 });
  const { counters } = cluster.manager('A.manager-2');
  const name = 'timeout_fence_token_rejections_total';
  expect(counters.snapshot()).toMatchObject({ [`${name}{reason="staleLeaderFence"}`]: 1 });
  const end = endAt(cluster, 'A.manager-2');
  expect(end.fields).toMatchObject({ status: 'timedOut', reason: 'global', leaderFence: 2 });
  expectAt(end.atMs, 142);
  const outcome = endAt(cluster, 'gate-1');
  expect(outcome.fields).toMatchObject({ status: 'timedOut', reason: 'datacenterTimeout' });
  expectAt(outcome.atMs, 142);

  expect(timesOf(cluster, 'timeout.declared')).toHaveLength(1);

  // The gate has answered the old report while it knew of a newer leader, and changed nothing.
  const answers = atSecond.filter(({ event }) => event.type === 'ack.received');
  expect(answers.filter(({ event }) => event['reason'] === 'staleFence')).toHaveLength(1);
  const before = gateJobAt(cluster, 'gate-1');
  expect(before.datacenters['A']).toMatchObject({ leaderFence: 2, managerId: 'A.manager-2' });
  await goTo(cluster, 151);
  expect(stray.refusals).toEqual(['ACTOR_ENDED']);
  expect(gateJobAt(cluster, 'gate-1')).toEqual(before);
  expect(endAt(cluster, 'gate-1')).toEqual(outcome);
  expect(cluster.recorder.errors()).toEqual([]);
});

test('10.7.10 a datacenter whose gate is gone ends the job by itself five minutes later', async () => {
  await using cluster = await startCluster({ gates: 1, datacenters: { A: { workers: 1 } } });
  await submit(cluster, 200, { runs: 'never' });
  // The gate hears the report of 60 and is dead when the next one comes.
  cluster.at(60_500, () => cluster.crash('gate-1'));
  cluster.at(600_000, () => cluster.restart('gate-1'));
  await goTo(cluster, 61);
  expect(jobAt(cluster, 'A').timeoutReportedAt).toBeNull();
  const contactMs = cluster.time.sinceBegin(jobAt(cluster, 'A').lastGateContactAt);
  expect(Math.floor(contactMs / 1_000)).toBe(60);
  await goTo(cluster, 200);
  expect(timesOf(cluster, 'timeout.reported')).toEqual([]);
  await goTo(cluster, 500);
  const [report] = cluster.recorder.notes('timeout.reported');
  expect(report?.fields).toMatchObject({ reason: 'overall' });
  expectAt(report?.atMs, 200);
  expect(jobAt(cluster, 'A')).toMatchObject({ status: 'running', localReason: 'overall' });
  expect(hasEnded(cluster)).toBe(false);
  await goTo(cluster, 600);
  const end = endAt(cluster, 'A.manager-1');
  const fallback = { status: 'timedOut', reason: 'fallback' };
  expect(end.fields).toMatchObject({ ...fallback, localReason: 'overall', leaderFence: 1 });
  expectAt(end.atMs, 500);
  await goTo(cluster, 700);
  const outcome = endAt(cluster, 'gate-1');
  expect(outcome.fields).toMatchObject({ ...fallback, unconfirmed: [] });
  expectAt(outcome.atMs, 600);
  expect(gateJobAt(cluster, 'gate-1').datacenters['A']?.final).toMatchObject(fallback);
  expect(cluster.recorder.errors()).toEqual([]);
});
