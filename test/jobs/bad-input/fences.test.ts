/** Fences and epochs of a gate's decisions that are too low or too high: JB-7. */

import { describe, expect, test } from 'vitest';
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
  test('H53: is obeyed under the right fence and epoch, and refused under any other', async () => {
    const { cluster, gate, job } = await withGate();
    expect(job()).toMatchObject({ leaderFence: 2, highestDecisionEpoch: [1, 0] });
    const { counters } = cluster.manager('A.manager-1');
    const rejections = (reason: string) =>
      counters.value('timeout_fence_token_rejections_total', { reason });

    // Rule 1: it speaks of a leader later than this one.
    expect(await gate.send(GATE_JOB, JOB, declared(2 + 10 ** 9, [7, 1]))).toBeUndefined();
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

    // Rule 6: an epoch below the known one.
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

  test('H52: about a job that is not known is refused as unknown', async () => {
    const { cluster, gate } = await withGate();
    const of = (jobId: string) => ({ ...declared(1, [7, 1]), jobId });
    const refusal = await gate.send('gate-job/nobody@gate-1', 'job/nobody@A', of('nobody'));
    expect(refusal?.code).toBe('ACTOR_UNKNOWN');
    const { runtime } = cluster.manager('A.manager-1');
    expect(runtime.query({ kind: 'job' }).actors).toHaveLength(1);
    await cluster.stop();
  });

  test('H54: that comes late or twice changes nothing', async () => {
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
