/** Dispatch at a gate: which datacenters take part in a job, and until when they may. */

import { describe, expect, test } from 'vitest';
import { accepted, gateWorld } from './gate-world.ts';

const CANCEL = { type: 'cancel.requested', jobId: 'j1', datacenter: 'gate-1' } as const;

describe('dispatching', () => {
  test('tracks as soon as one has accepted, and is submitted until then', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: [] });
    expect(world.state).toBe('dispatching');
    expect(world.job.getSnapshot().hasTag('submitted')).toBe(true);
    await world.job.send(accepted('B'));
    expect(world.state).toBe('tracking');
    expect(world.context.datacenters).toMatchObject({
      A: { run: 'asked' },
      B: { run: 'running', leaderFence: 1 },
    });
  });

  test('fails when nobody accepts in time, and tells those who did not answer to drop it', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: [] });
    await world.job.send(accepted('A', false, 'invalid'));
    await world.until(10);
    expect(world.state).toBe('dispatching');
    await world.until(10.001);
    expect(world.state).toBe('settled');
    expect(world.context.outcome).toMatchObject({ status: 'failed', reason: 'noDatacenter' });
    expect(world.heard('A')).toEqual([]);
    expect(world.heard('B')).toMatchObject([{ type: 'cancel.requested', decisionEpoch: [1, 1] }]);
  });

  test('gives the whole limit again when it stood still until the limit was over', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: [] });
    world.gate.clock.advanceBy(15_000);
    await world.gate.settle();
    expect(world.state).toBe('dispatching');
    expect(world.noted('job.accepted')).toHaveLength(1);
    await world.until(24.999);
    expect(world.state).toBe('dispatching');
    await world.until(25.001);
    expect(world.context.outcome).toMatchObject({ reason: 'noDatacenter' });
  });

  test('who runs it and who was late are known under the numbers that they were sent', async () => {
    const targets = ['A', 'B', 'C', 'D'];
    const world = await gateWorld({ targets, accepting: ['B', 'C'] });
    await world.until(10.001);
    await world.job.send(CANCEL);
    await world.gate.settle();
    for (const name of targets) {
      const orders = world.heard(name, 'cancel.requested');
      const { epoch, leaderFence } = world.context.datacenters[name]?.told ?? {};
      expect(orders.at(-1)).toMatchObject({ decisionEpoch: epoch, leaderFence });
    }
    expect(world.context.counter).toBe(2);
  });

  test('of several that may have taken it too late each is known under the number that it was sent', async () => {
    const world = await gateWorld({
      targets: ['A', 'B', 'C'],
      accepting: [],
      empty: ['A', 'B', 'C'],
    });
    await world.until(10.001);
    const known = Object.values(world.context.datacenters);
    expect(known.map(({ decision, told }) => [decision, told?.epoch])).toEqual(
      Array(3).fill(['gone', [1, 1]]),
    );
    await world.until(71);
    expect(world.state).toBe('closed');
  });

  test('fails at once when all refuse', async () => {
    const world = await gateWorld({ targets: ['A'], accepting: [] });
    await world.job.send(accepted('A', false, 'conflict'));
    expect(world.context.outcome).toMatchObject({ status: 'failed', reason: 'noDatacenter' });
    expect(world.state).toBe('closed');
  });

  test('who accepts later is told to drop the job, and does not count', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: ['A'], empty: ['B'] });
    await world.until(10.001);
    expect(world.context.datacenters['B']).toMatchObject({
      run: 'late',
      decision: 'gone',
    });
    await world.job.send(accepted('B'));
    expect(world.context.datacenters['B']?.told?.epoch).toEqual([1, 2]);
    await world.final('A', 'completed');
    expect(world.context.outcome).toMatchObject({ status: 'completed', unconfirmed: [] });
  });

  test('who gave the job up before it was whole has none, and nobody waits for more', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: ['A'] });
    await world.until(10.001);
    await world.final('A', 'completed');
    expect(world.state).toBe('settled');
    const about = { ackOf: 'cancel.requested', accepted: false, reason: 'unknown' };
    await world.acknowledge('B', about);
    expect(world.context.datacenters['B']?.decision).toBe('gone');
    await world.until(80);
    expect(world.state).toBe('closed');
  });

  test('a report from somebody who was asked means that he has the job', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: ['A'] });
    await world.progress('B');
    expect(world.context.datacenters['B']?.run).toBe('running');
    expect(world.heard('B', 'ack.received')).toMatchObject([{ accepted: true }]);
  });

  test('a report from a late one is refused and answered with a cancel', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: ['A'] });
    await world.until(10.001);
    expect(world.heard('B', 'cancel.requested')).toHaveLength(1);
    await world.progress('B', { leaderFence: 2 });
    expect(world.heard('B', 'ack.received')).toMatchObject([
      { accepted: false, reason: 'notTarget' },
    ]);
    expect(world.heard('B', 'cancel.requested')).toMatchObject([
      { leaderFence: 1 },
      { leaderFence: 2 },
    ]);
  });

  test('an older report of a late one does not replace a newer one', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: ['A'] });
    await world.until(10.001);
    await world.progress('B', { reportSeq: 5 });
    await world.progress('B', { reportSeq: 4, managerId: 'B.manager-9' });
    expect(world.context.datacenters['B']).toMatchObject({ run: 'late', reportSeq: 5 });
    expect(world.context.datacenters['B']?.managerId).not.toBe('B.manager-9');
  });

  test('a rule can be due before all have answered', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: ['A'], timeoutMs: 5_000 });
    await world.until(5.001);
    expect(world.state).toBe('declaring');
    await world.job.send(accepted('B'));
    await world.gate.settle();
    expect(world.heard('B', 'timeout.declared')).toMatchObject([{ reason: 'overall' }]);
  });

  test('who accepts after the limit, while all are told a timeout, has to drop the job', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: ['A'], timeoutMs: 5_000 });
    await world.until(15);
    expect(world.context.datacenters['B']?.run).toBe('asked');
    await world.job.send(accepted('B'));
    await world.gate.settle();
    expect(world.heard('B').map(({ type }) => type)).toEqual(['cancel.requested']);
  });

  test('asks who had ended the job before this gate sent it, and learns the end at its jobs service', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: ['B'] });
    await world.end('A');
    await world.job.send({ ...accepted('A'), created: false, hasEnded: true });
    await world.gate.settle();
    expect(world.asked).toEqual(['A']);
    const found = { status: 'completed', reason: null, localReason: null, gateReason: null };
    await world.job.send({ type: 'status.found', datacenter: 'A', found } as never);
    expect(world.context.datacenters['A']?.final?.status).toBe('completed');
    await world.final('B', 'completed');
    expect(world.context.outcome).toMatchObject({ status: 'completed', unconfirmed: [] });
  });

  test('waits for the answer of the last one before it is over', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: ['A'] });
    await world.final('A', 'completed');
    expect(world.state).toBe('tracking');
    await world.until(10.001);
    expect(world.context.outcome?.status).toBe('completed');
  });
});
