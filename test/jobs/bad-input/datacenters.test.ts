/**
 * Bad messages of a datacenter to its gate: with wrong fences, figures, ends and moments it changes
 * nothing.
 */

import { describe, expect, test } from 'vitest';
import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import { scripted, startCluster } from '../cluster.ts';
import { contextOf } from '../scenarios/witness.ts';
import { RawPeer } from './raw-peer.ts';

const JOB = 'job/j1@A';
const GATE_JOB = 'gate-job/j1@gate-1';
const NEVER = [scripted('w1', { runs: 'never', progressEvery: 'never' })];

describe('a message of a datacenter', () => {
  const FIGURES = {
    elapsedMs: 60_000,
    timeoutMs: 600_000,
    sinceProgressMs: 0,
    queued: false,
    extensionsMs: 500_000,
    maxWorkerExtensionMs: 0,
    workersWithExtensions: 0,
    holdMs: 0,
    locallyTimedOut: false,
    targetDatacenters: ['A', 'B'],
    gateId: 'gate-1',
  };
  const report = (leaderFence: number, reportSeq: number, extensionsMs = 500_000) => ({
    type: 'progress.reported',
    jobId: 'j1',
    datacenter: 'A',
    managerId: 'A.manager-1',
    leaderFence,
    figures: { ...FIGURES, extensionsMs },
    workflowsTotal: 1,
    workflowsCompleted: 0,
    workflowsFailed: 0,
    reportSeq,
    hasRecentProgress: true,
  });

  async function withDatacenter() {
    const datacenters = { A: { workers: 1 }, B: { workers: 1 } };
    const cluster = await startCluster({ gates: 1, datacenters });
    await cluster.begin('gate-1', { jobId: 'j1', timeoutMs: 600_000, workflows: NEVER });
    await cluster.runUntil(20_000);
    cluster.crash('A.manager-1');
    await cluster.time.runFor(10_000);
    const manager = await RawPeer.join(cluster, 'A.manager-1', [['A', 50]]);
    // It leads under fence 3.
    await manager.send(JOB, GATE_JOB, report(3, 10, 1_000));
    const ofA = () => contextOf<GateJobContext>(cluster, GATE_JOB).datacenters['A'];
    return { cluster, manager, ofA };
  }

  test('H53: under a lower fence is answered staleFence and changes nothing', async () => {
    const { cluster, manager, ofA } = await withDatacenter();
    const before = ofA();
    expect(before).toMatchObject({ leaderFence: 3, reportSeq: 10, extensionsMs: 1_000 });
    for (const event of [
      report(2, 99),
      { ...timedOut(2), figures: FIGURES },
      { ...final(2), figures: FIGURES },
    ]) {
      expect(await manager.send(JOB, GATE_JOB, event)).toBeUndefined();
      const ack = manager.heardBy(JOB, 'ack.received').at(-1);
      expect(ack).toMatchObject({
        ackOf: event.type,
        accepted: false,
        reason: 'staleFence',
        leaderFence: 3,
      });
      expect(ofA()).toEqual(before);
    }
    expect(contextOf(cluster, GATE_JOB)).toMatchObject({ decision: null, outcome: null });
    await cluster.stop();
  });

  test('H53: of the same fence with a lower number shows that it is alive, and nothing else', async () => {
    const { cluster, manager, ofA } = await withDatacenter();
    const before = ofA();
    expect(await manager.send(JOB, GATE_JOB, report(3, 4))).toBeUndefined();
    const after = ofA();
    // It was heard, so no question to it is open any more.
    expect(after).toEqual({ ...before, lastSeenAt: after?.lastSeenAt, isQuestioned: false });
    expect(after?.lastSeenAt).toBeGreaterThan(before?.lastSeenAt ?? 0);
    await cluster.stop();
  });

  test('H50: with figures that cannot be is refused, and changes nothing', async () => {
    const { cluster, manager, ofA } = await withDatacenter();
    const before = ofA();
    const wrong = [
      { workflowsCompleted: 2 },
      { workflowsCompleted: 1, workflowsFailed: 1 },
      { workflowsTotal: -1 },
      ...[-1, 0.5, '1', null, 2 ** 53].map((elapsedMs) => ({ figures: { ...FIGURES, elapsedMs } })),
    ];
    const refusals = () => cluster.gate('gate-1').runtime.metrics().messagesRefused.SENDER_REFUSED;
    for (const change of wrong) {
      const counted = refusals() ?? 0;
      const refusal = await manager.send(JOB, GATE_JOB, { ...report(3, 11), ...change });
      expect(refusal?.code, JSON.stringify(change)).toBe('SENDER_REFUSED');
      expect(refusals()).toBe(counted + 1);
    }
    expect(ofA()).toEqual(before);
    await cluster.stop();
  });

  test('H48, H51: with a moment in it is refused, and with an address is shown: nothing is decided by either', async () => {
    const { cluster, manager, ofA } = await withDatacenter();
    const before = ofA();
    const moments = [Number.NaN, Number.POSITIVE_INFINITY, 0, 253_402_300_799_000, -86_400_000];
    const hosts = ['169.254.169.254', 'file:///etc/passwd', 'localhost:22'];
    for (const more of [
      ...moments.flatMap((timestamp) => [{ timestamp }, { at: timestamp }]),
      ...hosts.flatMap((managerHost) => [{ managerHost }, { managerId: managerHost }]),
    ]) {
      const refusal = await manager.send(JOB, GATE_JOB, { ...report(3, 11), ...more });
      // A name with nothing but letters, digits and points in it is a name; a host is shown. Nobody calls either.
      const isName = 'managerId' in more && /^[a-z0-9.:]+$/.test(more.managerId);
      const isTaken = isName || 'managerHost' in more;
      expect(refusal?.code, JSON.stringify(more)).toBe(isTaken ? undefined : 'SENDER_REFUSED');
    }
    expect(contextOf(cluster, GATE_JOB)).toMatchObject({ decision: null, outcome: null });
    expect(ofA()).toMatchObject({ leaderFence: 3, run: before?.run, report: null });
    await cluster.stop();
  });

  test('H59: about an end is taken once, and one that is none never', async () => {
    const { cluster, manager, ofA } = await withDatacenter();
    const end = { ...final(3), figures: { ...FIGURES, extensionsMs: 1_000 } };
    for (const status of ['DONE!', 'running', '', null, 7]) {
      const refusal = await manager.send(JOB, GATE_JOB, { ...end, status });
      expect(refusal?.code, String(status)).toBe('SENDER_REFUSED');
    }
    expect(ofA()).toMatchObject({ final: null });
    expect(await manager.send(JOB, GATE_JOB, end)).toBeUndefined();
    expect(ofA()).toMatchObject({ final: { status: 'completed' } });
    expect(await manager.send(JOB, GATE_JOB, end)).toBeUndefined();
    expect(manager.heardBy(JOB, 'ack.received').at(-1)).toMatchObject({
      ackOf: 'final.reported',
      accepted: true,
      duplicate: true,
    });
    expect(ofA()).toMatchObject({ run: 'final', final: { status: 'completed', reason: null } });
    await cluster.stop();
  });

  test('H55: of an identity that is known is not taken again, whatever it says now', async () => {
    const { cluster, manager, ofA } = await withDatacenter();
    const { runtime } = cluster.gate('gate-1');
    const say = (event: object) =>
      manager.frame(
        JSON.stringify({
          v: 1,
          envelopes: [{ to: GATE_JOB, from: JOB, counter: 5_000_000_000_000, after: 0, event }],
        }),
      );
    await say(report(3, 11, 2_000));
    const before = ofA();
    expect(before).toMatchObject({ reportSeq: 11, extensionsMs: 2_000 });
    const { duplicatesRefused } = runtime.metrics();
    await say(report(3, 12, 3_000));
    await say({ ...final(3), figures: FIGURES });
    expect(ofA()).toEqual(before);
    expect(runtime.metrics().duplicatesRefused).toBe(duplicatesRefused + 2);
    await cluster.stop();
  });

  test('H52: about jobs that nobody knows is refused, and leaves nothing behind', async () => {
    const { cluster, manager } = await withDatacenter();
    const { runtime } = cluster.gate('gate-1');
    const before = runtime.metrics();
    const envelopes = Array.from({ length: 5_000 }, (_, n) => ({
      to: `gate-job/nobody-${n}@gate-1`,
      from: `job/nobody-${n}@A`,
      counter: 1,
      after: 0,
      event: { ...report(3, 1), jobId: `nobody-${n}` },
    }));
    // More than one frame may carry.
    await manager.frame(JSON.stringify({ v: 1, envelopes: envelopes.slice(0, 2_500) }));
    await manager.frame(JSON.stringify({ v: 1, envelopes: envelopes.slice(2_500) }));
    const { liveActors, births, deadlines, messagesRefused } = runtime.metrics();
    expect({ liveActors, births, deadlines }).toEqual({
      liveActors: before.liveActors,
      births: before.births,
      deadlines: before.deadlines,
    });
    expect(messagesRefused.ACTOR_UNKNOWN).toBe((before.messagesRefused.ACTOR_UNKNOWN ?? 0) + 5_000);
    expect(runtime.query({ kind: 'gate-job' }).actors).toHaveLength(1);
    await cluster.stop();
  });

  test('under a higher fence is that of a new leader', async () => {
    const { cluster, manager, ofA } = await withDatacenter();
    expect(await manager.send(JOB, GATE_JOB, report(4, 1, 2_000))).toBeUndefined();
    expect(ofA()).toMatchObject({ leaderFence: 4, reportSeq: 1, extensionsMs: 2_000 });
    for (const leaderFence of [0, -1, 1.5, 2 ** 53, 1e308, '2', null]) {
      const refusal = await manager.send(JOB, GATE_JOB, { ...report(4, 2), leaderFence });
      expect(refusal?.code).toBe('SENDER_REFUSED');
    }
    expect(ofA()).toMatchObject({ leaderFence: 4, reportSeq: 1 });
    await cluster.stop();
  });
});

const ORIGIN = { jobId: 'j1', datacenter: 'A', managerId: 'A.manager-1' };
const timedOut = (leaderFence: number) => ({
  type: 'timeout.reported',
  ...ORIGIN,
  leaderFence,
  reason: 'stuck',
  detail: '',
  sinceDetectedMs: 0,
});
const final = (leaderFence: number) => ({
  type: 'final.reported',
  ...ORIGIN,
  leaderFence,
  workflowsTotal: 1,
  workflowsCompleted: 1,
  workflowsFailed: 0,
  status: 'completed',
  reason: null,
  localReason: null,
  gateReason: null,
  sinceEndedMs: 0,
  decisionEpoch: null,
  results: [],
  resultsOmitted: true,
});
