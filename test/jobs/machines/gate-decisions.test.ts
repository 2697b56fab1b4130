/** Outcomes of a gate's decision: obeyed, refused, made again, taken back, presumed. */

import { describe, expect, test } from 'vitest';
import { gateWorld } from './gate-world.ts';

/** A, B and C run; A has reported that it is stuck, so all of them have been told. */
async function declared(options: Parameters<typeof gateWorld>[0] = {}) {
  const world = await gateWorld({ targets: ['A', 'B', 'C'], ...options });
  await world.until(150);
  for (const datacenter of ['A', 'B', 'C']) await world.progress(datacenter);
  await world.timeout('A', 'stuck');
  expect(world.state).toBe('declaring');
  return world;
}

/** As a manager rejects a decision that echoes another fence than its own. */
const rejected = (epoch: readonly [number, number], leaderFence: number) => ({
  correction: 'staleLeaderFence',
  rejectedDecisionEpoch: epoch,
  highestDecisionEpoch: [1, 0],
  leaderFence,
});

describe('declaring', () => {
  test('tells every running target, the reporter included, with its own fence, and no other', async () => {
    const world = await gateWorld({ targets: ['A', 'B', 'C', 'D'] });
    await world.progress('B', { leaderFence: 4 });
    await world.final('C', 'completed');
    await world.timeout('A', 'stuck', { leaderFence: 2 });
    const told = ['A', 'B', 'D'].map((name) => world.heard(name, 'timeout.declared'));
    expect(told).toMatchObject([[{ leaderFence: 2 }], [{ leaderFence: 4 }], [{ leaderFence: 1 }]]);
    expect(world.heard('C', 'timeout.declared')).toEqual([]);
    expect(world.heard('X')).toEqual([]);
    expect(world.context.decision).toMatchObject({ reason: 'datacenterTimeout', epoch: [1, 1] });
  });

  test('three reports at the same moment make exactly one decision', async () => {
    const world = await declared();
    await world.timeout('B', 'stuck');
    await world.timeout('C', 'stuck');
    expect(world.context.declared).toBe(1);
    expect(world.heard('B', 'timeout.declared')).toHaveLength(1);
    expect(world.noted('timeout.declared')).toHaveLength(1);
  });

  test('the only datacenter that reports is told too', async () => {
    const world = await gateWorld({ targets: ['A'] });
    await world.timeout('A', 'overall');
    expect(world.heard('A', 'timeout.declared')).toMatchObject([{ reason: 'datacenterTimeout' }]);
  });

  test('a deferred report waits for the deadline of the one with more credit', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], timeoutMs: 300_000 });
    await world.progress('A');
    await world.progress('B', { extensionsMs: 45_000 });
    await world.until(300.1);
    await world.timeout('A', 'overall');
    expect(world.state).toBe('tracking');
    await world.until(345);
    expect(world.state).toBe('tracking');
    await world.until(345.001);
    expect(world.context.decision).toMatchObject({ reason: 'overall' });
  });

  test('all finals end it; the reason is that of the decision', async () => {
    const world = await declared();
    for (const datacenter of ['A', 'B', 'C'])
      await world.final(datacenter, 'timedOut', {
        reason: 'global',
        gateReason: 'datacenterTimeout',
      });
    expect(world.state).toBe('closed');
    expect(world.context.outcome).toMatchObject({
      status: 'timedOut',
      reason: 'datacenterTimeout',
      unconfirmed: [],
    });
  });

  test('a datacenter that had completed keeps its end; all of them, and nothing was timed out', async () => {
    const one = await gateWorld({ targets: ['A'], timeoutMs: 100_000 });
    await one.until(100.001);
    await one.correct('A', 'completed', { correction: 'final', rejectedDecisionEpoch: [1, 1] });
    expect(one.context.outcome).toMatchObject({ status: 'completed', reason: null });
    const two = await gateWorld({ targets: ['A', 'B'], timeoutMs: 100_000 });
    await two.until(100.001);
    await two.correct('A', 'completed', { correction: 'final', rejectedDecisionEpoch: [1, 1] });
    await two.final('B', 'timedOut', { reason: 'global', gateReason: 'overall' });
    expect(two.context.outcome).toMatchObject({ status: 'timedOut', reason: 'overall' });
  });

  test('a missing final is presumed a moment after the settle limit, and logged as late when it comes', async () => {
    const world = await declared();
    await world.final('A', 'timedOut', { reason: 'global', gateReason: 'datacenterTimeout' });
    await world.final('B', 'completed');
    const limit = ((world.context.decision?.at ?? 0) - world.startedAt + 60_000) / 1_000;
    await world.until(limit);
    expect(world.state).toBe('declaring');
    await world.until(limit + 0.001);
    expect(world.state).toBe('settled');
    const { outcome } = world.context;
    expect(outcome).toMatchObject({
      status: 'timedOut',
      reason: 'datacenterTimeout',
      unconfirmed: ['C'],
    });
    await world.final('C', 'completed');
    expect(world.context.outcome).toEqual(outcome);
    expect(world.noted('event.late')).toMatchObject([{ kind: 'final', datacenter: 'C' }]);
    expect(world.context.lateEvents).toHaveLength(1);
    expect(world.state).toBe('closed');
    expect(world.heard('C', 'ack.received').at(-1)).toMatchObject({ accepted: true });
  });

  test('a report after the outcome is answered jobFinal', async () => {
    const world = await declared({ rules: { settleLimitMs: 1_000 } });
    await world.until(152);
    await world.progress('B');
    expect(world.heard('B', 'ack.received').at(-1)).toMatchObject({
      accepted: false,
      reason: 'jobFinal',
    });
  });
});

describe('a decision that is refused', () => {
  test('is made again for those who have not obeyed, with the fence that is known now', async () => {
    const world = await declared();
    await world.acknowledge('B');
    await world.correct('A', 'running', { ...rejected([1, 1], 2), locallyTimedOut: true });
    expect(world.heard('A', 'timeout.declared').at(-1)).toMatchObject({
      decisionEpoch: [1, 2],
      leaderFence: 2,
    });
    expect(world.heard('C', 'timeout.declared')).toMatchObject([
      { decisionEpoch: [1, 1] },
      { decisionEpoch: [1, 2], leaderFence: 1 },
    ]);
    expect(world.heard('B', 'timeout.declared')).toHaveLength(1);
    expect(world.context.declared).toBe(1);
  });

  test('stands because a rule is still due', async () => {
    const world = await gateWorld({ targets: ['A'] });
    await world.timeout('A', 'stuck');
    await world.correct('A', 'running', { ...rejected([1, 1], 2), locallyTimedOut: true });
    expect(world.state).toBe('declaring');
    expect(world.heard('A', 'timeout.declared')).toHaveLength(2);
  });

  test('stands because somebody has ended by it, though no rule is due any more', async () => {
    const world = await declared();
    await world.acknowledge('B');
    await world.correct('A', 'running', rejected([1, 1], 2));
    expect(world.state).toBe('declaring');
    expect(world.heard('A', 'timeout.declared')).toHaveLength(2);
  });

  test('is taken back when nobody has ended by it and no rule is due', async () => {
    const world = await declared();
    await world.correct('A', 'running', rejected([1, 1], 2));
    expect(world.state).toBe('tracking');
    expect(world.context).toMatchObject({ decision: null, declared: 1, withdrawn: 1 });
    expect(world.noted('timeout.withdrawn')).toHaveLength(1);
    await world.timeout('A', 'stuck', { leaderFence: 2 });
    expect(world.context).toMatchObject({ declared: 2, decision: { epoch: [1, 2] } });
  });

  test('is taken back when credit comes with the correction', async () => {
    const world = await gateWorld({ targets: ['A'], timeoutMs: 100_000 });
    await world.until(100.001);
    await world.correct('A', 'running', { ...rejected([1, 1], 2), extensionsMs: 60_000 });
    expect(world.state).toBe('tracking');
    await world.until(160.001);
    expect(world.state).toBe('declaring');
  });

  test('is made again as soon as any message tells a higher fence', async () => {
    const world = await declared();
    await world.acknowledge('B');
    await world.say('C', 'leader.transferred', { term: 2, leaderFence: 2 });
    expect(world.heard('C', 'timeout.declared').at(-1)).toMatchObject({
      decisionEpoch: [1, 2],
      leaderFence: 2,
    });
  });

  test('goes above an epoch that a datacenter knows and we do not', async () => {
    const world = await declared();
    await world.acknowledge('B');
    await world.correct('A', 'running', {
      ...rejected([1, 1], 1),
      correction: 'staleDecision',
      highestDecisionEpoch: [7, 3],
    });
    expect(world.heard('A', 'timeout.declared').at(-1)?.['decisionEpoch']).toEqual([8, 2]);
    expect(world.context.gateBoot).toBe(8);
    expect(world.noted('leader.fenceRaised')).toMatchObject([{ told: 7 }]);
    await world.acknowledge('C', {
      accepted: false,
      reason: 'notLeader',
      highestDecisionEpoch: [9, 0],
    });
    expect(world.context.gateBoot).toBe(10);
  });

  test('is not sent again at once when nothing is new, but with the next report', async () => {
    const world = await declared();
    await world.acknowledge('B');
    await world.acknowledge('A', { accepted: false, reason: 'notLeader' });
    await world.correct('C', 'running', { ...rejected([1, 1], 1), highestDecisionEpoch: [1, 0] });
    expect(world.heard('A', 'timeout.declared')).toHaveLength(1);
    expect(world.heard('C', 'timeout.declared')).toHaveLength(1);
    await world.progress('A');
    expect(world.heard('A', 'timeout.declared')).toHaveLength(2);
  });

  test('a correction about an older issue changes nothing', async () => {
    const world = await declared();
    await world.acknowledge('B');
    await world.say('A', 'leader.transferred', { term: 2, leaderFence: 2, locallyTimedOut: true });
    expect(world.heard('A', 'timeout.declared')).toHaveLength(2);
    await world.correct('A', 'running', { ...rejected([1, 1], 2), locallyTimedOut: true });
    await world.progress('A', { leaderFence: 2, locallyTimedOut: true });
    expect(world.heard('A', 'timeout.declared')).toHaveLength(2);
  });

  test('by a job that has ended, the jobs service there is asked how', async () => {
    const world = await gateWorld({ targets: ['A'], timeoutMs: 100_000 });
    await world.end('A');
    await world.until(100.001);
    expect(world.asked).toEqual(['A']);
    expect(world.context.datacenters['A']?.decision).toBe('deferred');
    await world.job.send({
      type: 'status.found',
      datacenter: 'A',
      found: {
        status: 'completed',
        reason: null,
        localReason: null,
        gateReason: null,
      },
    });
    expect(world.context.outcome).toMatchObject({ status: 'completed', unconfirmed: [] });
  });

  test('by a datacenter that does not know the job: its end is presumed, and nobody waits for more', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], empty: ['B'], timeoutMs: 100_000 });
    await world.until(100.001);
    expect(world.context.datacenters['B']?.decision).toBe('gone');
    await world.final('A', 'timedOut', { reason: 'global', gateReason: 'overall' });
    expect(world.state).toBe('declaring');
    await world.until(160.002);
    expect(world.context.outcome).toMatchObject({ status: 'timedOut', unconfirmed: ['B'] });
    expect(world.state).toBe('closed');
  });
});
