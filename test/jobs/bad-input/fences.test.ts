/** Fences and epochs that are too low or too high, from the rightful speakers: JB-7 and GT-7. */

import { describe, expect, test } from 'vitest';
import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';
import { contextOf, endsOf } from '../scenarios/witness.ts';
import { RawPeer } from './raw-peer.ts';

const JOB = 'job/j1@A';
const GATE_JOB = 'gate-job/j1@gate-1';
const NEVER = [scripted('w1', { runs: 'never', progressEvery: 'never' })];

const declared = (leaderFence: number, decisionEpoch: readonly [number, number]) => ({
  type: 'timeout.declared',
  jobId: 'j1',
  datacenter: 'A',
  reason: 'overall',
  detail: '',
  decisionEpoch,
  leaderFence,
  sinceDeclaredMs: 0,
  elapsedMs: 1,
  timeoutMs: 600_000,
});

/** A job whose gate is played by hand, at fence 2 after a takeover, under gate boot 1. */
async function withGate(): Promise<{ cluster: Cluster; gate: RawPeer; job: () => JobContext }> {
  const cluster = await startCluster({ gates: 1, datacenters: { A: { workers: 1 } } });
  await cluster.begin('gate-1', { jobId: 'j1', timeoutMs: 600_000, workflows: NEVER });
  await cluster.runUntil(2_000);
  cluster.crash('A.manager-1');
  void cluster.restart('A.manager-1');
  await cluster.time.runFor(10_000);
  cluster.crash('gate-1');
  await cluster.time.runFor(1_000);
  const gate = await RawPeer.join(cluster, 'gate-1', [['gate-1', 50]]);
  return { cluster, gate, job: () => contextOf<JobContext>(cluster, JOB) };
}

const lastAnswer = (gate: RawPeer, type: string) => gate.heardBy(GATE_JOB, type).at(-1);

describe('a decision of the gate', () => {
  test('is obeyed under the right fence and epoch, and refused under any other', async () => {
    const { cluster, gate, job } = await withGate();
    expect(job()).toMatchObject({ leaderFence: 2, highestDecisionEpoch: [1, 0] });
    const { counters } = cluster.manager('A.manager-1');
    const rejections = (reason: string) =>
      counters.value('timeout_fence_token_rejections_total', { reason });

    // Rule 1: it speaks of a leader later than this one.
    expect(await gate.send(GATE_JOB, JOB, declared(3, [7, 1]))).toBeUndefined();
    expect(lastAnswer(gate, 'ack.received')).toMatchObject({
      ackOf: 'timeout.declared',
      accepted: false,
      reason: 'notLeader',
      leaderFence: 2,
      highestDecisionEpoch: [1, 0],
    });
    expect(rejections('notLeader')).toBe(1);

    // Rule 5: of an earlier one.
    expect(await gate.send(GATE_JOB, JOB, declared(1, [7, 1]))).toBeUndefined();
    expect(lastAnswer(gate, 'status.corrected')).toMatchObject({
      correction: 'staleLeaderFence',
      status: 'running',
      leaderFence: 2,
      rejectedDecisionEpoch: [7, 1],
      highestDecisionEpoch: [1, 0],
    });
    expect(rejections('staleLeaderFence')).toBe(1);

    // Rule 6: an epoch below the one that is known.
    expect(await gate.send(GATE_JOB, JOB, declared(2, [0, 9]))).toBeUndefined();
    expect(lastAnswer(gate, 'status.corrected')).toMatchObject({
      correction: 'staleDecision',
      rejectedDecisionEpoch: [0, 9],
    });
    expect(rejections('staleDecision')).toBe(1);

    // None of them counts as seen.
    expect(job()).toMatchObject({
      status: 'running',
      obeyedDecisionEpoch: null,
      highestDecisionEpoch: [1, 0],
    });

    // Rule 7, and rule 3 when it comes again.
    expect(await gate.send(GATE_JOB, JOB, declared(2, [7, 1]))).toBeUndefined();
    expect(lastAnswer(gate, 'ack.received')).toMatchObject({ accepted: true, duplicate: false });
    expect(job()).toMatchObject({
      status: 'timedOut',
      reason: 'global',
      gateReason: 'overall',
      obeyedDecisionEpoch: [7, 1],
    });
    expect(await gate.send(GATE_JOB, JOB, declared(2, [7, 1]))).toMatchObject({});
    await cluster.stop();
  });

  test('about a job that is not known is refused as unknown', async () => {
    const { cluster, gate } = await withGate();
    const of = (jobId: string) => ({ ...declared(1, [7, 1]), jobId });
    const refusal = await gate.send('gate-job/nobody@gate-1', 'job/nobody@A', of('nobody'));
    expect(refusal?.code).toBe('ACTOR_UNKNOWN');
    const { runtime } = cluster.manager('A.manager-1');
    expect(runtime.query({ kind: 'job' }).actors).toHaveLength(1);
    await cluster.stop();
  });

  test('that comes late or twice changes nothing', async () => {
    const { cluster, gate, job } = await withGate();
    // The worker holds the cancel up, so the job is ending for a while.
    cluster.network.cut('A.worker-1', ['A', 'A.manager-1'], { silent: true });
    expect(await gate.send(GATE_JOB, JOB, declared(2, [7, 1]))).toBeUndefined();
    const ended = job();
    expect(await gate.send(GATE_JOB, JOB, declared(2, [7, 1]))).toBeUndefined();
    expect(lastAnswer(gate, 'ack.received')).toMatchObject({ accepted: true, duplicate: true });
    expect(await gate.send(GATE_JOB, JOB, declared(2, [7, 2]))).toBeUndefined();
    expect(lastAnswer(gate, 'status.corrected')).toMatchObject({
      correction: 'final',
      status: 'timedOut',
      reason: 'global',
    });
    const { status, reason, endedAt, obeyedDecisionEpoch } = ended;
    expect(job()).toMatchObject({ status, reason, endedAt, obeyedDecisionEpoch });
    expect(job().lateEvents).toMatchObject([{ type: 'timeout.declared' }]);
    expect(endsOf(cluster).filter(({ node }) => node === 'A.manager-1')).toHaveLength(1);
    await cluster.stop();
  });
});

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

  test('under a lower fence is answered staleFence and changes nothing', async () => {
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

  test('of the same fence with a lower number shows that it is alive, and nothing else', async () => {
    const { cluster, manager, ofA } = await withDatacenter();
    const before = ofA();
    expect(await manager.send(JOB, GATE_JOB, report(3, 4))).toBeUndefined();
    const after = ofA();
    expect(after).toEqual({ ...before, lastSeenAt: after?.lastSeenAt });
    expect(after?.lastSeenAt).toBeGreaterThan(before?.lastSeenAt ?? 0);
    await cluster.stop();
  });

  test('under a higher fence is that of a new leader', async () => {
    const { cluster, manager, ofA } = await withDatacenter();
    expect(await manager.send(JOB, GATE_JOB, report(4, 1, 2_000))).toBeUndefined();
    expect(ofA()).toMatchObject({ leaderFence: 4, reportSeq: 1, extensionsMs: 2_000 });
    for (const leaderFence of [0, -1, 1.5, 2 ** 53, '4', null]) {
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
