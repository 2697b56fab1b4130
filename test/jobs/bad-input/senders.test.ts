/** Messages of nodes that should not have sent them: refused by name, and nothing changes. */

import { describe, expect, test } from 'vitest';
import type { Cluster } from '../cluster.ts';
import { contextOf } from '../scenarios/witness.ts';
import {
  CANCEL,
  type Case,
  DECLARED,
  FINAL,
  FROM_NOBODY,
  GATE_JOB,
  HEALTH,
  HEARTBEAT,
  JOB,
  PROGRESS_OF_WORKER,
  RESULT,
  WORKFLOW,
} from './forgeries.ts';
import { RawPeer } from './raw-peer.ts';
import { running } from './running.ts';

/** Messages that a node has refused: counted, or logged where they could not even be opened. */
const refusedAt = (cluster: Cluster, node: string): number => {
  const { runtime } = node === 'gate-1' ? cluster.gate(node) : cluster.manager(node);
  const counted = Object.values(runtime.metrics().messagesRefused);
  const logged = cluster.recorder
    .lines()
    .filter((line) => line.node === node && line.message === 'something from a peer was refused');
  return counted.reduce((sum, count) => sum + count, logged.length);
};

describe('what nobody may say', () => {
  test('H56: is refused to a node that has no part in the cluster', async () => {
    await using cluster = await running();
    const evil = await RawPeer.join(cluster, 'evil');
    for (const [what, from, to, event, code = 'SENDER_REFUSED'] of FROM_NOBODY) {
      const node = to.endsWith('@A') ? 'A.manager-1' : 'gate-1';
      const before = contextOf(cluster, to);
      const refused = refusedAt(cluster, node);
      const refusal = await evil.send(from, to, event);
      expect(refusal?.code, `${what}: ${refusal?.message}`).toBe(code);
      const after = contextOf(cluster, to);
      // What goes on meanwhile has nothing to do with it.
      const { deadline: _, seenAt: __, ...kept } = after;
      for (const [field, value] of Object.entries(kept))
        if (!MOVING.has(field)) expect(value, `${what}: ${field}`).toEqual(before[field]);
      expect(refusedAt(cluster, node), what).toBe(refused + 1);
    }
    expect(contextOf(cluster, JOB)).toMatchObject({ status: 'running', leaderFence: 1 });
  });

  test('is refused as a hint too', async () => {
    await using cluster = await running();
    const evil = await RawPeer.join(cluster, 'evil');
    const refused = refusedAt(cluster, 'A.manager-1');
    await evil.hint('worker/1@evil', WORKFLOW, PROGRESS_OF_WORKER);
    await evil.hint('gate-job/j1@evil', JOB, DECLARED);
    await evil.hint('worker/1@evil', HEALTH, HEARTBEAT);
    expect(refusedAt(cluster, 'A.manager-1')).toBe(refused + 3);
    expect(contextOf(cluster, WORKFLOW)).toMatchObject({ progress: 0, result: null });
    expect(contextOf(cluster, JOB)).toMatchObject({ status: 'running' });
  });

  test('H47, H56: is refused to those who have another part', async () => {
    await using cluster = await running();
    for (const node of ['gate-1', 'B.manager-1', 'B.worker-1']) cluster.crash(node);
    await cluster.time.runFor(10_000);
    const gate = await RawPeer.join(cluster, 'gate-1', [['gate-1', 50]]);
    const manager = await RawPeer.join(cluster, 'B.manager-1', [['B', 50]]);
    const worker = await RawPeer.join(cluster, 'B.worker-1');
    const cases: ReadonlyArray<readonly [RawPeer, ...Case]> = [
      [gate, 'progress from a gate', 'gate-job/j1@gate-1', WORKFLOW, PROGRESS_OF_WORKER],
      [gate, 'a decision from another job of the gate', 'gate-job/j2@gate-1', JOB, DECLARED],
      [gate, 'a decision for another datacenter', GATE_JOB, JOB, { ...DECLARED, datacenter: 'B' }],
      [gate, 'a decision from the jobs service of the gate', 'desk/main@gate-1', JOB, DECLARED],
      [gate, 'an epoch that is none', GATE_JOB, JOB, { ...DECLARED, decisionEpoch: [-1, 0.5] }],
      [gate, 'a fence that is none', GATE_JOB, JOB, { ...DECLARED, leaderFence: 0 }],
      [gate, 'a fence that is too great', GATE_JOB, JOB, { ...DECLARED, leaderFence: 2 ** 53 }],
      [gate, 'a reason that is none', GATE_JOB, JOB, { ...DECLARED, reason: 'stuck' }],
      [gate, 'a field too many', GATE_JOB, JOB, { ...DECLARED, extra: 1 }],
      [gate, 'a final of a gate', GATE_JOB, JOB, FINAL, 'EVENT_UNDECLARED'],
      [manager, 'a decision of a manager', 'gate-job/j1@B', JOB, DECLARED],
      [manager, 'a job of another datacenter', 'job/j1@B', JOB, CANCEL],
      [manager, 'a result of another datacenter', 'job/j1@B', WORKFLOW, RESULT],
      [
        worker,
        'a result for a worker of another datacenter',
        'worker/1@B.worker-1',
        WORKFLOW,
        RESULT,
      ],
      [worker, 'a decision of a worker', 'gate-job/j1@B.worker-1', JOB, DECLARED],
      [worker, 'a heartbeat for another worker', 'worker/1@B.worker-1', HEALTH, HEARTBEAT],
    ];
    for (const [peer, what, from, to, event, code = 'SENDER_REFUSED'] of cases) {
      const refused = refusedAt(cluster, 'A.manager-1');
      const refusal = await peer.send(from, to, event);
      expect(refusal?.code, `${what}: ${refusal?.message}`).toBe(code);
      expect(refusedAt(cluster, 'A.manager-1'), what).toBe(refused + 1);
    }
    expect(contextOf(cluster, JOB)).toMatchObject({
      status: 'running',
      highestDecisionEpoch: [1, 0],
      lateEvents: [],
    });
    expect(contextOf(cluster, WORKFLOW)).toMatchObject({ progress: 0, result: null });
  });

  test('H52: a datacenter that is not a target is not heard at the gate', async () => {
    await using cluster = await running();
    cluster.crash('B.manager-1');
    await cluster.time.runFor(10_000);
    const manager = await RawPeer.join(cluster, 'B.manager-1', [['B', 50]]);
    const before = contextOf(cluster, GATE_JOB)['datacenters'];
    const ofB = { ...FINAL, datacenter: 'B', managerId: 'B.manager-1' };
    expect(await manager.send('job/j1@B', GATE_JOB, ofB)).toBeUndefined();
    expect(Object.keys(contextOf(cluster, GATE_JOB)['datacenters'] as object)).toEqual(
      Object.keys(before as object),
    );
    expect(contextOf(cluster, GATE_JOB)).toMatchObject({ outcome: null });
    const [ack] = manager.heardBy('job/j1@B', 'ack.received');
    expect(ack).toMatchObject({ accepted: false, reason: 'notTarget', ackOf: 'final.reported' });
    // Nor may it speak for a gate that is.
    const forA = await manager.send('job/j1@B', GATE_JOB, FINAL);
    expect(forA?.code).toBe('SENDER_REFUSED');
  });
});

/** Fields that go on by themselves. */
const MOVING = new Set([
  'lastProgressAt',
  'lastGateContactAt',
  'reportSeq',
  'datacenters',
  'heard',
  'listed',
]);
