/** A gate that comes back, with its data or without, and the numbers that keep decisions apart. */

import { expect, test } from 'vitest';
import { type GateJobContext, initialGateJob } from '../../../machines/jobs/gate-job/context.ts';
import { tookOffice } from '../../../machines/jobs/gate-job/takeover.ts';
import type { GateJobRebuilt } from '../../../machines/jobs/messages/gate.ts';
import { FIGURES } from '../figures.ts';
import { gateWorld, RULES, type Saying } from './gate-world.ts';

test('takes no decision before all running datacenters are heard, and then at once', async () => {
  const world = await gateWorld({ targets: ['A', 'B'], timeoutMs: 60_000 });
  await world.until(50);
  await world.gate.crash();
  expect(world.state).toBe('recovering');
  expect(world.context.gateBoot).toBe(2);
  await world.until(61);
  await world.progress('A');
  expect(world.state).toBe('recovering');
  await world.until(62);
  await world.progress('B');
  expect(world.state).toBe('declaring');
  expect(world.context.decision).toMatchObject({ epoch: [2, 1], reason: 'overall' });
  expect(world.noted('gate.recovered')).toHaveLength(1);
});

test('waits twice the report interval for those who are not heard', async () => {
  const world = await gateWorld({ targets: ['A', 'B'], timeoutMs: 60_000 });
  await world.until(55);
  await world.gate.crash();
  await world.progress('A', { extensionsMs: 5_000 });
  await world.until(75);
  expect(world.state).toBe('recovering');
  await world.until(75.001);
  expect(world.state).toBe('declaring');
});

test('asks all running datacenters how they are', async () => {
  const world = await gateWorld({ targets: ['A', 'B'] });
  await world.final('B', 'completed');
  await world.gate.crash();
  expect(world.context.datacenters).toMatchObject({
    A: { contact: 'catchingUp' },
    B: { run: 'final' },
  });
  await world.correct('A', 'running');
  expect(world.state).toBe('tracking');
});

test('one question of it waits for a datacenter out of reach, however often it comes back', async () => {
  const world = await gateWorld({ targets: ['A', 'B'] });
  world.network.cut('gate-1', 'B');
  for (let times = 0; times < 5; times += 1) {
    await world.gate.crash();
    await world.correct('A', 'running');
  }
  world.network.heal('gate-1', 'B');
  await world.until(20);
  expect(world.heard('B', 'status.requested')).toHaveLength(1);
});

test('a final that comes meanwhile ends it', async () => {
  const world = await gateWorld({ targets: ['A'], timeoutMs: 200_000 });
  await world.until(60);
  await world.gate.crash();
  await world.until(61);
  await world.final('A', 'timedOut', { reason: 'fallback', localReason: 'overall' });
  expect(world.context.outcome).toMatchObject({ status: 'timedOut', reason: 'fallback' });
});

test('a late datacenter that has heard of the takeover is told to drop the job under a newer epoch', async () => {
  const world = await gateWorld({ targets: ['A', 'B'], accepting: ['A'], timeoutMs: 60_000 });
  await world.until(61);
  expect(world.state).toBe('declaring');
  expect(world.context.datacenters['B']).toMatchObject({ run: 'late', told: { epoch: [1, 1] } });
  await world.gate.crash();
  const epochs = { rejectedDecisionEpoch: [1, 1], highestDecisionEpoch: [2, 0] };
  await world.correct('B', 'running', { ...epochs, correction: 'staleDecision' });
  await world.gate.settle();
  const [, again] = world.heard('B', 'cancel.requested');
  expect(again).toMatchObject({ decisionEpoch: [2, 3] });
  expect(world.context.decision?.epoch).toEqual([1, 2]);
});

test('a decision that stands is kept, delivered under its epoch, and its settle limit goes on', async () => {
  const world = await gateWorld({ targets: ['A', 'B'], timeoutMs: 60_000 });
  world.network.cut('gate-1', 'B');
  await world.until(61);
  expect(world.state).toBe('declaring');
  await world.gate.crash();
  expect(world.state).toBe('recovering');
  world.network.heal('gate-1', 'B');
  await world.until(70);
  expect(world.heard('B', 'timeout.declared')).toMatchObject([{ decisionEpoch: [1, 1] }]);
  await world.until(82);
  expect(world.state).toBe('declaring');
  await world.until(120.001);
  expect(world.state).toBe('declaring');
  await world.until(120.002);
  expect(world.context.outcome).toMatchObject({ status: 'timedOut', unconfirmed: ['A', 'B'] });
  expect(world.context.declared).toBe(1);
});

test('a refusal that comes meanwhile is answered afterwards', async () => {
  const world = await gateWorld({ targets: ['A', 'B'], timeoutMs: 60_000 });
  await world.until(61);
  await world.gate.crash();
  await world.correct('A', 'running', {
    leaderFence: 2,
    correction: 'staleLeaderFence',
    rejectedDecisionEpoch: [1, 1],
  });
  expect(world.heard('A', 'timeout.declared')).toHaveLength(1);
  await world.progress('B');
  expect(world.heard('A', 'timeout.declared').at(-1)).toMatchObject({
    decisionEpoch: [2, 2],
    leaderFence: 2,
  });
});

test('a cancel is taken at once', async () => {
  const world = await gateWorld({ targets: ['A'] });
  await world.gate.crash();
  expect(world.state).toBe('recovering');
  const cancel = { type: 'cancel.requested', jobId: 'j1', datacenter: 'gate-1' } as const;
  expect(await world.job.ask(cancel)).toEqual({ accepted: true, reason: null });
  expect(world.state).toBe('cancelling');
});

test('a crash while it is dispatched goes on dispatching, with the whole limit', async () => {
  const world = await gateWorld({ targets: ['A'], accepting: [] });
  await world.until(4);
  await world.gate.crash();
  await world.until(13.999);
  expect(world.state).toBe('dispatching');
  await world.until(14.01);
  expect(world.context.outcome?.reason).toBe('noDatacenter');
});

test('what is published stays as it is', async () => {
  const world = await gateWorld({ targets: ['A'], timeoutMs: 60_000 });
  world.network.cut('gate-1', 'A');
  await world.until(121);
  const { outcome } = world.context;
  await world.gate.crash();
  expect(world.state).toBe('settled');
  expect(world.context.outcome).toEqual(outcome);
  world.network.heal('gate-1', 'A');
  await world.until(130);
  expect(world.heard('A', 'timeout.declared')).toHaveLength(1);
});

test('a clock that is behind takes nothing of the time that has passed', () => {
  const born = initialGateJob({
    jobId: 'j1',
    gateId: 'gate-1',
    gateBoot: 1,
    terms: { timeoutMs: 1 },
    targetDatacenters: ['A'],
    digest: '',
    rules: RULES,
    workflowsTotal: 1,
    pages: 0,
    at: 10_000,
  });
  const { A } = born.datacenters;
  const heard = { ...A, run: 'running', lastSeenAt: 50_000, holdUntil: 60_000, askedAt: 45_000 };
  const context = { ...born, datacenters: { A: heard } } as GateJobContext;
  expect(tookOffice(context, 2, 47_000)).toMatchObject({
    submittedAt: 7_000,
    bornAt: 7_000,
    datacenters: { A: { lastSeenAt: 47_000, holdUntil: 57_000, askedAt: 42_000 } },
    gateBoot: 2,
  });
  expect(tookOffice(context, 2, 51_000)).not.toHaveProperty('submittedAt');
});

const rebuilt = (more: Saying = {}): GateJobRebuilt =>
  ({
    jobId: 'j1',
    gateId: 'gate-1',
    rebuiltFrom: {
      jobId: 'j1',
      datacenter: 'A',
      managerId: 'A.manager-1',
      leaderFence: 1,
      figures: { ...FIGURES, elapsedMs: 200_000, targetDatacenters: ['A', 'B'] },
      terms: { timeoutMs: 600_000 },
      digest: 'd1',
      workflowsTotal: 3,
      highestDecisionEpoch: [1, 0],
      ...more,
    },
  }) as GateJobRebuilt;

test('a gate without its data goes by what it is told, of the time the earliest', async () => {
  const world = await gateWorld({ rebuilt: rebuilt() });
  expect(world.state).toBe('recovering');
  expect(world.context.rules?.settleLimitMs).toBe(60_000);
  await world.progress('A', { elapsedMs: 200_000 });
  await world.until(3);
  await world.progress('B', { elapsedMs: 203_400 });
  expect(world.state).toBe('tracking');
  expect(world.context.submittedAt).toBe(world.startedAt - 200_400);
  expect(world.job.getSnapshot().hasTag('running')).toBe(true);
  for (let seconds = 20; seconds < 400; seconds += 20) {
    await world.until(seconds);
    for (const name of ['A', 'B']) await world.progress(name, { elapsedMs: 200_000 + world.now });
  }
  await world.until(399.6);
  expect(world.state).toBe('tracking');
  await world.until(399.601);
  expect(world.context.decision).toMatchObject({ reason: 'overall' });
});

test('its numbers go above those that a datacenter knows', async () => {
  const world = await gateWorld({ rebuilt: rebuilt({ highestDecisionEpoch: [5, 2] }) });
  expect(world.context.gateBoot).toBe(6);
});

test('it learns what was reported to the gate before it, and invents nothing', async () => {
  const world = await gateWorld({ rebuilt: rebuilt(), rules: { quorum: 'all' } });
  await world.progress('A', { elapsedMs: 200_000, locallyTimedOut: true });
  expect(world.heard('A', 'status.requested')).not.toEqual([]);
  expect(world.context.datacenters['A']).toMatchObject({ run: 'running', report: null });
  await world.correct('A', 'running', {
    elapsedMs: 200_000,
    locallyTimedOut: true,
    localReason: 'stuck',
  });
  expect(world.context.datacenters['A']).toMatchObject({ run: 'reported', report: 'stuck' });
  await world.until(20.001);
  expect(world.state).toBe('tracking');
});

test('without its data learns from its jobs service how a job has ended that takes no questions any more', async () => {
  const world = await gateWorld({ targets: ['A', 'B'], empty: ['B'] });
  await world.gate.crash();
  await world.until(1);
  // There the job is not known at all: its jobs service says so, or how it has ended.
  expect(world.asked).toEqual(['B']);
  expect(world.context.datacenters['A']).toMatchObject({ run: 'running' });
});
