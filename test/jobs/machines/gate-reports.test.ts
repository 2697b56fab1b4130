/** Messages of datacenters as a gate takes them: what counts, what is too old, what is no target's. */

import { describe, expect, test } from 'vitest';
import { gateWorld } from './gate-world.ts';

describe('reports', () => {
  test('each is acknowledged, with the boot of the gate and the number of the report', async () => {
    const world = await gateWorld({ targets: ['A'] });
    await world.progress('A', { reportSeq: 7 });
    await world.timeout('A', 'stuck');
    expect(world.heard('A', 'ack.received')).toMatchObject([
      { ackOf: 'progress.reported', accepted: true, gateBoot: 1, reportSeq: 7, leaderFence: 1 },
      { ackOf: 'timeout.reported', accepted: true, duplicate: false, reportSeq: null },
    ]);
  });

  test('a lower fence changes nothing and is told the known one', async () => {
    const world = await gateWorld({ targets: ['A', 'B'] });
    await world.progress('A', { leaderFence: 3, extensionsMs: 10 });
    const before = world.context.datacenters['A'];
    await world.until(5);
    await world.timeout('A', 'stuck', { leaderFence: 2 });
    await world.final('A', 'failed', { leaderFence: 1 });
    expect(world.context.datacenters['A']).toEqual(before);
    expect(world.state).toBe('tracking');
    expect(world.heard('A', 'ack.received').slice(1)).toMatchObject([
      { accepted: false, reason: 'staleFence', leaderFence: 3 },
      { accepted: false, reason: 'staleFence', leaderFence: 3 },
    ]);
    expect(world.noted('timeout.rejected')).toMatchObject([
      { rejection: 'staleFence' },
      { rejection: 'staleFence' },
    ]);
  });

  test('an equal fence with a lower number only shows that somebody is there', async () => {
    const world = await gateWorld({ targets: ['A'] });
    await world.progress('A', { reportSeq: 5, extensionsMs: 20, sinceProgressMs: 9 });
    await world.until(10);
    await world.progress('A', { reportSeq: 4, extensionsMs: 10, sinceProgressMs: 1 });
    expect(world.context.datacenters['A']).toMatchObject({
      reportSeq: 5,
      extensionsMs: 20,
      sinceProgressMs: 9,
      lastSeenAt: world.startedAt + 10_000,
    });
    expect(world.heard('A', 'ack.received').at(-1)).toMatchObject({
      accepted: true,
      duplicate: true,
    });
  });

  test('the same report again is a duplicate', async () => {
    const world = await gateWorld({ targets: ['A'] });
    await world.progress('A', { reportSeq: 5 });
    await world.progress('A', { reportSeq: 5, extensionsMs: 10 });
    const acks = world.heard('A', 'ack.received').map(({ duplicate }) => duplicate);
    expect(acks).toEqual([false, true]);
    expect(world.context.datacenters['A']?.extensionsMs).toBe(0);
  });

  test('progress is acknowledged without guarantee, everything else until it is taken', async () => {
    const world = await gateWorld({ targets: ['A', 'B'] });
    // The acknowledgement of the first one lets the job begin.
    await world.progress('A', { reportSeq: 1 });
    const kept: unknown[] = [];
    world.gate.runtime.inspect((record) => {
      if (record.type === 'messageSent') kept.push(record.event);
    });
    await world.progress('A', { reportSeq: 2 });
    await world.timeout('A', 'overall', { extensionsMs: 0 });
    expect(kept).toMatchObject([
      { ackOf: 'timeout.reported' },
      expect.anything(),
      expect.anything(),
    ]);
  });

  test('figures that were longer on their way do not replace later ones', async () => {
    const world = await gateWorld({ targets: ['A'], timeoutMs: 900_000, rules: { quorum: 'all' } });
    await world.until(60);
    await world.progress('A', { extensionsMs: 30_000 });
    await world.say('A', 'leader.transferred', { term: 1, elapsedMs: 40_000, extensionsMs: 0 });
    expect(world.context.datacenters['A']?.extensionsMs).toBe(30_000);
  });

  test('who is no target is refused', async () => {
    const world = await gateWorld({ targets: ['A', 'B'] });
    await world.timeout('X', 'stuck');
    await world.final('X', 'failed');
    expect(world.state).toBe('tracking');
    expect(Object.keys(world.context.datacenters)).toEqual(['A', 'B']);
    expect(world.heard('X')).toMatchObject([{ reason: 'notTarget' }, { reason: 'notTarget' }]);
  });

  test('a new leader adopts the figures; one that knows of no timeout takes the report back', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], rules: { quorum: 'all' } });
    await world.timeout('A', 'stuck');
    expect(world.context.datacenters['A']?.run).toBe('reported');
    await world.say('A', 'leader.transferred', { term: 2, leaderFence: 2, locallyTimedOut: true });
    expect(world.context.datacenters['A']).toMatchObject({
      run: 'reported',
      leaderFence: 2,
      managerId: 'A.manager-2',
    });
    await world.progress('A', { leaderFence: 3 });
    expect(world.context.datacenters['A']).toMatchObject({ run: 'running', report: null });
  });

  test('a datacenter does not come back from its end', async () => {
    const world = await gateWorld({ targets: ['A', 'B'] });
    await world.final('A', 'failed', { reason: 'workflowFailed' });
    await world.progress('A');
    await world.timeout('A', 'stuck', { leaderFence: 2 });
    expect(world.context.datacenters['A']).toMatchObject({
      run: 'final',
      final: { status: 'failed' },
    });
    expect(world.state).toBe('tracking');
  });
});
