/** Deadlines, silence and the outcome of a gate's job, on virtual time. */

import { describe, expect, test } from 'vitest';
import { gateWorld } from './gate-world.ts';

describe('deadlines', () => {
  test('overall is declared a moment after the deadline, not at it', async () => {
    const world = await gateWorld({ targets: ['A'], timeoutMs: 60_000 });
    await world.until(60);
    expect(world.state).toBe('tracking');
    await world.until(60.001);
    expect(world.state).toBe('declaring');
    expect(world.heard('A', 'timeout.declared')).toMatchObject([
      {
        at: 60_001,
        reason: 'overall',
        decisionEpoch: [1, 1],
        leaderFence: 1,
        timeoutMs: 60_000,
        elapsedMs: 60_001,
        sinceDeclaredMs: 0,
      },
    ]);
    expect(world.noted('timeout.declared')).toMatchObject([{ reason: 'overall', jobId: 'j1' }]);
  });

  test('credit that was heard of in time moves it, also for 40 days', async () => {
    const world = await gateWorld({
      targets: ['A', 'B'],
      timeoutMs: 40 * 86_400_000,
      // Nobody speaks in this test, and each silence would be asked about.
      rules: { silentAfterMs: 50 * 86_400_000 },
    });
    await world.progress('A', { extensionsMs: 30_000 });
    await world.progress('B', { extensionsMs: 45_000 });
    await world.until(40 * 86_400 + 45);
    expect(world.state).toBe('tracking');
    await world.until(40 * 86_400 + 45.001);
    expect(world.state).toBe('declaring');
  });

  test('credit that comes after the deadline is lost', async () => {
    const world = await gateWorld({ targets: ['A'], timeoutMs: 300_000 });
    await world.until(301);
    await world.progress('A', { extensionsMs: 30_000 });
    expect(world.state).toBe('declaring');
  });

  test('the end of the one with most credit brings the deadline of the others', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], timeoutMs: 300_000 });
    await world.progress('A', { extensionsMs: 30_000 });
    await world.progress('B', { extensionsMs: 45_000 });
    await world.until(200);
    await world.final('B', 'completed', { extensionsMs: 45_000 });
    await world.until(330);
    expect(world.state).toBe('tracking');
    await world.until(330.001);
    expect(world.context.decision).toMatchObject({
      reason: 'overall',
      at: world.startedAt + 330_001,
    });
  });

  test('a deadline that has passed when it moves is due at once', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], timeoutMs: 300_000 });
    await world.progress('B', { extensionsMs: 100_000 });
    await world.until(350);
    await world.final('B', 'completed');
    expect(world.state).toBe('declaring');
  });

  test('where timeouts are only looked at, one is logged and nobody is told', async () => {
    const world = await gateWorld({ targets: ['A'], timeoutMs: 60_000, terms: { enforce: false } });
    await world.until(120);
    await world.progress('A');
    expect(world.state).toBe('tracking');
    expect(world.context.shadowed).toMatchObject({ reason: 'overall' });
    expect(world.noted('timeout.shadowed')).toHaveLength(1);
    expect(world.heard('A', 'timeout.declared')).toEqual([]);
    await world.final('A', 'completed');
    expect(world.context.outcome?.status).toBe('completed');
  });
});

describe('silence', () => {
  test('a silent datacenter is asked after 30 s and every 30 s, and noted once', async () => {
    const world = await gateWorld({ targets: ['A'] });
    await world.until(30);
    expect(world.heard('A', 'status.requested')).toEqual([]);
    await world.until(95);
    const moments = world.heard('A', 'status.requested').map(({ at }) => at);
    expect(moments).toEqual([30_001, 60_002, 90_003]);
    expect(world.noted('datacenter.silent')).toHaveLength(1);
    await world.correct('A', 'running');
    expect(world.noted('datacenter.heard')).toMatchObject([{ silentMs: 95_000 }]);
    // Heard again, it is asked how things are now.
    expect(world.heard('A', 'status.requested').at(-1)).toMatchObject({
      at: 95_000,
      nonce: expect.stringMatching(/^1\./),
    });
    await world.until(125);
    expect(world.heard('A', 'status.requested')).toHaveLength(4);
    await world.until(125.001);
    expect(world.heard('A', 'status.requested')).toHaveLength(5);
  });

  test('it keeps its credit, and blocks rule 3', async () => {
    const world = await gateWorld({ targets: ['A', 'B'] });
    await world.progress('B', { extensionsMs: 60_000 });
    for (let seconds = 10; seconds <= 250; seconds += 10) {
      await world.until(seconds);
      await world.progress('A', { sinceProgressMs: seconds * 1_000 });
    }
    expect(world.state).toBe('tracking');
    expect(world.context.datacenters['B']).toMatchObject({ extensionsMs: 60_000 });
    await world.until(255);
    await world.progress('B', { sinceProgressMs: 255_000 });
    expect(world.context.decision).toMatchObject({ reason: 'allDatacentersStuck' });
  });
});

describe('the outcome', () => {
  test('comes with the last final and is published once', async () => {
    const world = await gateWorld({ targets: ['A', 'B'] });
    await world.until(40);
    await world.final('A', 'completed');
    await world.until(90);
    await world.final('B', 'completed');
    expect(world.state).toBe('closed');
    expect(world.context.outcome).toMatchObject({
      status: 'completed',
      reason: null,
      at: world.startedAt + 90_000,
      unconfirmed: [],
    });
    expect(world.noted('job.ended')).toHaveLength(1);
  });

  test('keeps the results of who completed and marks the others', async () => {
    const world = await gateWorld({ targets: ['A', 'B'] });
    const results = [{ workflowId: 'w1', ok: true, result: 'r', truncated: false }];
    await world.final('A', 'completed', { results });
    await world.final('B', 'failed', {
      results: [],
      resultsOmitted: true,
      reason: 'workflowFailed',
    });
    expect(world.context.outcome).toMatchObject({
      status: 'failed',
      reason: 'workflowFailed',
      results: [
        { datacenter: 'A', isPartial: false, isOmitted: false, entries: results },
        { datacenter: 'B', isPartial: true, isOmitted: true, entries: [] },
      ],
    });
  });

  test('results that do not fit stay where they are', async () => {
    const world = await gateWorld({ targets: ['A', 'B'] });
    const result = 'x'.repeat(40_000);
    const results = [{ workflowId: 'w1', ok: true, result, truncated: false }];
    await world.final('A', 'completed', { results });
    await world.final('B', 'completed', { results });
    expect(world.context.outcome?.results).toMatchObject([
      { isOmitted: false },
      { isOmitted: true, entries: [] },
    ]);
  });

  test('an early final does not hide a later correction', async () => {
    const world = await gateWorld({ targets: ['A', 'B'] });
    await world.final('A', 'failed', { reason: 'workflowFailed' });
    await world.correct('A', 'completed', { leaderFence: 2 });
    await world.final('B', 'completed');
    expect(world.context.outcome?.status).toBe('completed');
  });

  test.each([
    [['A', 'B', 'C', 'A'], 'cancelled', 'failed'],
    [['C', 'B', 'B', 'A'], 'cancelled', 'failed'],
    [['B', 'A', 'C', 'C'], 'timedOut', 'timedOut'],
  ])('is the same in the order %s', async (order, endOfC, status) => {
    const world = await gateWorld({ targets: ['A', 'B', 'C'], rules: { quorum: 'all' } });
    const ends: Record<string, string> = { A: 'completed', B: 'failed', C: endOfC };
    for (const datacenter of order) await world.final(datacenter, ends[datacenter] as string);
    expect(world.context.outcome?.status).toBe(status);
  });
});
