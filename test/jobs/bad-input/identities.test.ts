/** Nodes that have proved who they are and speak for others: sent away, and nobody has heard them. */

import { describe, expect, test } from 'vitest';
import { jobsPeer } from '../../../programs/jobs/peer-roles.ts';
import type { PeerIdentity } from '../../../runtime/ports/transport.ts';
import { contextOf } from '../scenarios/witness.ts';
import {
  DECLARED,
  FINAL,
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

const MANAGER: PeerIdentity = jobsPeer('manager', 'B');
const GATE: PeerIdentity = jobsPeer('gate', 'gate-2');
const WORKER: PeerIdentity = jobsPeer('worker', 'B.worker-9');
const CLIENT: PeerIdentity = jobsPeer('client', 'ann~1');

type Case = readonly [
  what: string,
  node: string,
  identity: PeerIdentity,
  from: string,
  to: string,
  event: object,
];

const OVERSTEPPING: readonly Case[] = [
  ['a timeout from a manager', 'B.manager-9', MANAGER, GATE_JOB, JOB, DECLARED],
  ['the end of a job from another datacenter', 'B.manager-9', MANAGER, JOB, GATE_JOB, FINAL],
  ['progress from a gate', 'gate-2', GATE, 'worker/1@A.worker-1', WORKFLOW, PROGRESS_OF_WORKER],
  ['a decision of another gate', 'gate-2', GATE, GATE_JOB, JOB, DECLARED],
  ['a worker under another id', 'B.worker-9', WORKER, 'worker/1@A.worker-1', HEALTH, HEARTBEAT],
  [
    'a result of another worker',
    'B.worker-9',
    WORKER,
    'attempt/j1/w1/1@A.worker-1',
    WORKFLOW,
    RESULT,
  ],
  [
    'answers for somebody else',
    'ann~1',
    CLIENT,
    'session:1@ann~1',
    'desk/main@A',
    { type: 'job.asked', requestId: 'r1', jobId: 'j1', page: 1, replyTo: 'ask/1@gate-1' },
  ],
  [
    'a cancel that goes past the jobs service',
    'ann~1',
    CLIENT,
    'session:1@ann~1',
    JOB,
    { type: 'cancel.requested', jobId: 'j1', datacenter: 'A' },
  ],
  ['a client as a gate', 'ann~1', CLIENT, GATE_JOB, JOB, DECLARED],
];

describe('H56', () => {
  test.each(OVERSTEPPING)('%s ends the connection, and nothing comes of it', async (...given) => {
    const [, node, identity, from, to, event] = given;
    await using cluster = await running();
    const peer = await RawPeer.join(cluster, node, [], identity);
    const before = contextOf(cluster, to.startsWith('desk') ? JOB : to);
    await peer.hint(from, to, event);
    const receiver = to.endsWith('@A') ? 'A.manager-1' : 'gate-1';
    const { runtime } = receiver === 'gate-1' ? cluster.gate(receiver) : cluster.manager(receiver);
    expect(cluster.passport.expelled).toContainEqual({
      node,
      by: receiver,
      reason: expect.stringContaining(node),
    });
    expect(runtime.metrics()).toMatchObject({ peersOverstepped: 1, peersExpelled: 1 });
    expect(peer.heard).toEqual([]);
    const { status, result, progress, state } = contextOf(
      cluster,
      to.startsWith('desk') ? JOB : to,
    );
    expect({ status, result, progress, state }).toEqual({
      status: before['status'],
      result: before['result'],
      progress: before['progress'],
      state: before['state'],
    });
    expect(cluster.recorder.errors()).toEqual([]);
    await cluster.runUntil(10_000);
    expect(contextOf(cluster, JOB)).toMatchObject({ status: 'running', leaderFence: 1 });
  });

  test('what a peer says of itself that its part does not say has no effect, and it stays', async () => {
    await using cluster = await running();
    const peer = await RawPeer.join(cluster, 'B.manager-9', [], MANAGER);
    const refusal = await peer.send('gate-job/j1@B', JOB, DECLARED);
    expect(refusal?.code).toBe('SENDER_REFUSED');
    await peer.send('job/j1@B', WORKFLOW, { ...RESULT, workerId: 'B' });
    expect(contextOf(cluster, WORKFLOW)).toMatchObject({ result: null });
    expect(cluster.passport.expelled).toEqual([]);
    expect(contextOf(cluster, JOB)).toMatchObject({ status: 'running' });
  });

  test('a client asks the jobs service, and is answered', async () => {
    await using cluster = await running();
    const peer = await RawPeer.join(cluster, 'ann~1', [], CLIENT);
    const question = { type: 'job.asked', requestId: 'r1', jobId: 'j1', page: 1 };
    expect(await peer.ask('desk/main@A', question)).toMatchObject({ job: { status: 'running' } });
    // It asks everybody it knows of, other clients too: only those send it away.
    expect(cluster.passport.expelled.map(({ by }) => by)).toEqual(['client~1']);
  });
});
