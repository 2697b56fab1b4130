/** Cancels, and how a job at a gate is closed. */

import { describe, expect, test } from 'vitest';
import { accepted, gateWorld } from './gate-world.ts';

describe('a job that is over', () => {
  test('is closed when every target has confirmed', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], timeoutMs: 60_000 });
    await world.until(120.002);
    expect(world.state).toBe('settled');
    await world.final('A', 'timedOut', { reason: 'global', gateReason: 'overall' });
    expect(world.state).toBe('settled');
    await world.correct('B', 'timedOut', { correction: 'final' });
    expect(world.state).toBe('closed');
    expect(world.job.getSnapshot().status).toBe('done');
  });

  test('lingers for somebody who did not know it when he was told to drop it', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: ['A'], empty: ['B'] });
    await world.until(11);
    await world.final('A', 'completed');
    expect(world.job.getSnapshot().value).toEqual({ settled: 'lingering' });
    await world.until(70.999);
    expect(world.state).toBe('settled');
    await world.until(71.001);
    expect(world.state).toBe('closed');
  });

  test('tells him again when he turns out to have it, and waits for his answer', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: ['A'], empty: ['B'] });
    await world.until(11);
    await world.final('A', 'completed');
    await world.until(20);
    world.network.cut('gate-1', 'B');
    await world.job.send(accepted('B'));
    expect(world.job.getSnapshot().value).toEqual({ settled: 'confirming' });
    expect(world.context.datacenters['B']).toMatchObject({
      decision: 'sent',
      told: { epoch: [1, 2] },
    });
    await world.until(200);
    expect(world.state).toBe('settled');
    world.network.heal('gate-1', 'B');
    await world.until(210);
    expect(world.job.getSnapshot().value).toEqual({ settled: 'lingering' });
  });
});

describe('cancelling', () => {
  const cancel = { type: 'cancel.requested', jobId: 'j1', datacenter: 'gate-1' } as const;

  test('ends the rules, tells all who run it, and keeps an end that came before', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], timeoutMs: 60_000 });
    await world.until(40);
    await world.final('A', 'completed');
    await world.until(50);
    expect(await world.job.ask(cancel)).toEqual({ accepted: true, reason: null });
    await world.gate.settle();
    expect(world.heard('B', 'cancel.requested')).toMatchObject([
      { decisionEpoch: [1, 1], leaderFence: 1 },
    ]);
    expect(await world.job.ask(cancel)).toEqual({ accepted: true, reason: 'alreadyCancelled' });
    await world.until(61);
    expect(world.state).toBe('cancelling');
    await world.final('B', 'cancelled');
    expect(world.context.outcome).toMatchObject({ status: 'cancelled', reason: null });
    expect(world.context.declared).toBe(0);
  });

  test('after a declaration it is late', async () => {
    const world = await gateWorld();
    await world.timeout('A', 'stuck');
    expect(await world.job.ask(cancel)).toEqual({ accepted: false, reason: 'alreadyFinal' });
    expect(world.state).toBe('declaring');
    expect(world.noted('event.late')).toMatchObject([{ kind: 'cancel' }]);
    expect(world.context.lateEvents).toMatchObject([{ what: 'cancel' }]);
  });

  test('while it is dispatched, those who accept afterwards are told as well', async () => {
    const world = await gateWorld({ targets: ['A', 'B'], accepting: [] });
    expect(await world.job.ask(cancel)).toEqual({ accepted: true, reason: null });
    await world.job.send(accepted('A'));
    await world.gate.settle();
    expect(world.heard('A', 'cancel.requested')).toHaveLength(1);
    await world.job.send(accepted('B', false, 'invalid'));
    await world.final('A', 'cancelled');
    expect(world.context.outcome).toMatchObject({ status: 'cancelled', unconfirmed: [] });
  });

  test('before anybody has it, it is over with the last refusal', async () => {
    const world = await gateWorld({ targets: ['A'], accepting: [] });
    await world.job.ask(cancel);
    await world.job.send(accepted('A', false, 'invalid'));
    expect(world.context.outcome).toMatchObject({ status: 'cancelled', reason: null });
  });

  test('who has never answered by then is told to drop it, and is no part of the outcome', async () => {
    const world = await gateWorld({ targets: ['A'], accepting: [] });
    await world.job.ask(cancel);
    await world.until(60.001);
    expect(world.context.outcome).toMatchObject({ status: 'cancelled', unconfirmed: [] });
    expect(world.heard('A', 'cancel.requested')).toHaveLength(1);
  });

  test('is never taken back: a new leader is told again', async () => {
    const world = await gateWorld({ targets: ['A'] });
    await world.job.ask(cancel);
    await world.correct('A', 'running', {
      leaderFence: 2,
      correction: 'staleLeaderFence',
      rejectedDecisionEpoch: [1, 1],
    });
    expect(world.state).toBe('cancelling');
    expect(world.heard('A', 'cancel.requested').at(-1)).toMatchObject({
      decisionEpoch: [1, 2],
      leaderFence: 2,
    });
  });

  test('what does not confirm is presumed cancelled; afterwards the answer stays', async () => {
    const world = await gateWorld({ targets: ['A', 'B'] });
    await world.job.ask(cancel);
    await world.final('B', 'failed', { reason: 'workflowFailed' });
    await world.until(60.001);
    expect(world.context.outcome).toMatchObject({ status: 'failed', unconfirmed: ['A'] });
    expect(await world.job.ask(cancel)).toEqual({ accepted: false, reason: 'alreadyFinal' });
  });
});
