/**
 * Whole jobs through a gate: real gates, managers and workers on one simulated clock and network.
 * Each test is a scenario of the specification, by its number there.
 */

import { describe, expect, test } from 'vitest';
import type { GateJobContext } from '../../../machines/jobs/gate-job.ts';
import type { JobTerms } from '../../../machines/jobs/messages/client.ts';
import type { JobsClient } from '../../../programs/jobs/client.ts';
import type { HandlerScript } from '../../../simulator/jobs/scripted-handler.ts';
import { isAt } from '../cluster/recorder.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';

const ONE = { managers: 1, workers: 1 };
const atGate = (node: string) => node === 'gate-1';
const at = (datacenter: string) => (node: string) => node.startsWith(`${datacenter}.`);

interface Played {
  readonly cluster: Cluster;
  readonly client: JobsClient;
}

/** A job of one workflow that all datacenters run alike. */
async function play(
  plan: Partial<Parameters<typeof startCluster>[0]>,
  terms: JobTerms,
  script: HandlerScript,
): Promise<Played & AsyncDisposable> {
  const datacenters = { A: ONE, B: ONE };
  const cluster = await startCluster({ gates: 1, datacenters, ...plan });
  const workflows = [scripted('w1', script)];
  const client = await cluster.begin('gate-1', { jobId: 'j1', ...terms, workflows });
  return { cluster, client, [Symbol.asyncDispose]: () => cluster.stop() };
}

const gateJob = (cluster: Cluster) =>
  cluster.snapshot('gate-job/j1@gate-1').context as GateJobContext;

/** How the job stands now, as its gate and each datacenter say. */
async function statusOf({ cluster, client }: Played) {
  const job = await cluster.time.during(client.get('j1'));
  return { status: job?.status, reason: job?.reason };
}

/** The seconds at which the nodes noted something about the job. */
const noted = (
  cluster: Cluster,
  event: 'job.ended' | 'timeout.declared' | 'timeout.reported',
  node: string,
) =>
  cluster.recorder
    .notes(event, { jobId: 'j1' })
    .filter((line) => line.node === node)
    .map(({ atMs, fields }) => ({ atMs, ...fields }));

function expectEnd(cluster: Cluster, node: string, seconds: number, end: object): void {
  const ends = noted(cluster, 'job.ended', node);
  expect(ends).toMatchObject([end]);
  expect({ node, seconds, isAt: isAt(ends[0]?.atMs, seconds) }, `${ends[0]?.atMs}`).toEqual({
    node,
    seconds,
    isAt: true,
  });
}

const GLOBAL = { status: 'timedOut', reason: 'global' };

describe('decisions', () => {
  test('S19: three reports at 150, one decision, all end', async () => {
    const datacenters = { A: ONE, B: ONE, C: ONE };
    const script = { runs: 'never', stopsProgressAt: 30_000 } as const;
    await using played = await play({ datacenters }, { timeoutMs: 600_000 }, script);
    const { cluster } = played;
    await cluster.runUntil(149_000);
    expect(await statusOf(played)).toEqual({ status: 'running', reason: null });
    await cluster.runUntil(152_000);
    expect(noted(cluster, 'timeout.declared', 'gate-1')).toHaveLength(1);
    for (const name of ['A', 'B', 'C'])
      expectEnd(cluster, `${name}.manager-1`, 150, { ...GLOBAL, gateReason: 'datacenterTimeout' });
    expectEnd(cluster, 'gate-1', 150, { status: 'timedOut', reason: 'datacenterTimeout' });
    expect(cluster.recorder.errors()).toEqual([]);
  });

  test('S12: no datacenter has moved for more than three minutes', async () => {
    const script = { runs: 'never', stopsProgressAt: 10_000 } as const;
    const config = { stuckThresholdMs: 600_000 };
    await using played = await play({ config }, { timeoutMs: 1_200_000 }, script);
    const { cluster } = played;
    await cluster.runUntil(200_000);
    expectEnd(cluster, 'gate-1', 190, { status: 'timedOut', reason: 'allDatacentersStuck' });
    expect(await statusOf(played)).toMatchObject({ reason: 'allDatacentersStuck' });
  });

  test('S16: the largest credit carries the job, and the lesser report waits for it', async () => {
    const script = { runs: 'never' } as const;
    await using played = await play({}, { timeoutMs: 300_000 }, script);
    const { cluster } = played;
    cluster.at(50_000, () => cluster.extend('A.worker-1', { progress: 0.1 }));
    cluster.at(50_000, () => cluster.extend('B.worker-1', { progress: 0.1 }));
    cluster.at(60_000, () => cluster.extend('B.worker-1', { progress: 0.2 }));
    await cluster.runUntil(344_000);
    expect(noted(cluster, 'timeout.reported', 'A.manager-1')).toHaveLength(1);
    expect(gateJob(cluster).decision).toBe(null);
    await cluster.runUntil(347_000);
    expectEnd(cluster, 'gate-1', 345, { status: 'timedOut', reason: 'overall' });
    expect(gateJob(cluster).datacenters).toMatchObject({
      A: { extensionsMs: 30_000, report: 'overall' },
      B: { extensionsMs: 45_000 },
    });
  });

  test('S51: a datacenter that only queues blocks rule 3, and its stuck neighbour decides', async () => {
    const datacenters = { A: { managers: 1, workers: 1, cores: 1 }, B: ONE };
    const config = { stuckThresholdMs: 600_000 };
    await using cluster = await startCluster({ gates: 1, datacenters, config });
    const script = { runs: 'never', stopsProgressAt: 10_000 } as const;
    const workflows = [scripted('w1', script, { cores: 2 })];
    await cluster.begin('gate-1', { jobId: 'j1', timeoutMs: 3_600_000, workflows });
    await cluster.runUntil(600_000);
    expect(gateJob(cluster).datacenters['A']?.queued).toBe(true);
    expect(gateJob(cluster).decision).toBe(null);
    await cluster.runUntil(613_000);
    expectEnd(cluster, 'gate-1', 610, { status: 'timedOut', reason: 'datacenterTimeout' });
  });
});

describe('messages that are lost or come twice', () => {
  const stuck = { runs: 'never', stopsProgressAt: 30_000 } as const;

  test('S20: a report that is lost three times is sent until it arrives', async () => {
    await using played = await play({ datacenters: { A: ONE } }, { timeoutMs: 900_000 }, stuck);
    const { cluster } = played;
    const between = [atGate, at('A')] as const;
    cluster.network.intercept({ between, type: 'timeout.reported', count: 3, action: 'drop' });
    await cluster.runUntil(160_000);
    expectEnd(cluster, 'gate-1', 157, { status: 'timedOut', reason: 'datacenterTimeout' });
    expect(noted(cluster, 'timeout.reported', 'A.manager-1')).toHaveLength(1);
  });

  test('S21: a decision that is lost on its way to one reaches it by repetition', async () => {
    const datacenters = { A: ONE, B: ONE, C: ONE };
    await using played = await play({ datacenters }, { timeoutMs: 600_000 }, stuck);
    const { cluster } = played;
    const between = [atGate, at('C')] as const;
    cluster.network.intercept({ between, type: 'timeout.declared', count: 3, action: 'drop' });
    await cluster.runUntil(160_000);
    expectEnd(cluster, 'A.manager-1', 150, GLOBAL);
    expectEnd(cluster, 'C.manager-1', 157, GLOBAL);
    expectEnd(cluster, 'gate-1', 157, { reason: 'datacenterTimeout', unconfirmed: [] });
  });

  test('S27: the same decision three times is one end', async () => {
    await using played = await play({ datacenters: { A: ONE } }, { timeoutMs: 600_000 }, stuck);
    const { cluster } = played;
    const between = [atGate, at('A')] as const;
    const action = { duplicate: 2 };
    cluster.network.intercept({ between, type: 'timeout.declared', count: 1, action });
    await cluster.runUntil(160_000);
    expectEnd(cluster, 'A.manager-1', 150, GLOBAL);
    expect(gateJob(cluster)).toMatchObject({ declared: 1, counter: 1 });
  });

  test('S42: credit that is heard of in time counts; when it comes too late it is lost', async () => {
    for (const isHeld of [false, true]) {
      const script = { runs: 'never' } as const;
      await using played = await play({ datacenters: { A: ONE } }, { timeoutMs: 300_000 }, script);
      const { cluster } = played;
      cluster.at(299_700, () => cluster.extend('A.worker-1', { progress: 0.5 }));
      cluster.at(299_600, () => {
        const between = [atGate, at('A')] as const;
        const action = { holdMs: 1_200 };
        if (isHeld) cluster.network.intercept({ between, type: 'progress.reported', action });
      });
      await cluster.runUntil(332_000);
      const [decision] = noted(cluster, 'timeout.declared', 'gate-1');
      expect(isAt(decision?.atMs, isHeld ? 300 : 330), `${decision?.atMs}`).toBe(true);
    }
  });
});

describe('datacenters and gates that are away', () => {
  test('S14: a datacenter that is cut off falls back, the gate decides at its own deadline and presumes it', async () => {
    const config = { stuckThresholdMs: 600_000 };
    const script = { runs: 'never', stopsProgressAt: 10_000 } as const;
    const terms = { timeoutMs: 1_200_000, datacenterTimeoutQuorum: 'all' } as const;
    await using played = await play({ config }, terms, script);
    const { cluster } = played;
    cluster.at(100_000, () => cluster.network.cut(atGate, at('B')));
    await cluster.runUntil(1_300_000);
    expectEnd(cluster, 'A.manager-1', 1_200, { ...GLOBAL, localReason: 'stuck' });
    expectEnd(cluster, 'B.manager-1', 910, { status: 'timedOut', reason: 'fallback' });
    expectEnd(cluster, 'gate-1', 1_260, { reason: 'overall', unconfirmed: ['B'] });
    cluster.network.heal(atGate, at('B'));
    await cluster.runUntil(1_320_000);
    expect(cluster.recorder.notes('event.late').map(({ fields }) => fields['kind'])).toContain(
      'final',
    );
    expect(gateJob(cluster).outcome).toMatchObject({ reason: 'overall', unconfirmed: ['B'] });
    expect(cluster.snapshot('gate-job/j1@gate-1').value).toBe('closed');
  });

  test('10.7.10: the gate is gone, its datacenter falls back, and the gate takes that over', async () => {
    const script = { runs: 'never' } as const;
    await using played = await play({ datacenters: { A: ONE } }, { timeoutMs: 200_000 }, script);
    const { cluster } = played;
    cluster.at(60_500, () => cluster.crash('gate-1'));
    cluster.at(600_000, () => cluster.restart('gate-1'));
    await cluster.runUntil(602_000);
    expectEnd(cluster, 'A.manager-1', 500, { reason: 'fallback', localReason: 'overall' });
    expectEnd(cluster, 'gate-1', 600, { status: 'timedOut', reason: 'fallback' });
  });

  test('S24: a gate that is away decides nothing and loses nothing', async () => {
    const script = { runs: 'never' } as const;
    await using played = await play({ datacenters: { A: ONE } }, { timeoutMs: 3_600_000 }, script);
    const { cluster } = played;
    cluster.at(60_000, () => cluster.crash('gate-1'));
    cluster.at(1_000_000, () => cluster.restart('gate-1'));
    await cluster.runUntil(1_030_000);
    expect(gateJob(cluster)).toMatchObject({ decision: null, outcome: null, gateBoot: 2 });
    expect(cluster.snapshot('gate-job/j1@gate-1').value).toHaveProperty('tracking');
    expect(cluster.recorder.notes('gate.recovered')).toHaveLength(1);
    expect(noted(cluster, 'timeout.reported', 'A.manager-1')).toEqual([]);
  });

  test('S41: a gate without its data is given the job back, and keeps its deadline', async () => {
    const script = { runs: 'never' } as const;
    await using played = await play({}, { timeoutMs: 600_000 }, script);
    const { cluster, client } = played;
    const { submittedAt } = gateJob(cluster);
    cluster.at(200_000, async () => {
      cluster.crash('gate-1');
      await cluster.restart('gate-1', { forgets: true });
    });
    await cluster.runUntil(225_000);
    expect(gateJob(cluster).isRebuilt).toBe(true);
    expect(Math.abs(gateJob(cluster).submittedAt - submittedAt)).toBeLessThan(1_000);
    const again = { jobId: 'j1', timeoutMs: 600_000, workflows: [scripted('w1', script)] };
    const answer = await cluster.time.during(client.submit(again));
    expect(answer).toMatchObject({ accepted: true, created: false, status: 'running' });
    await cluster.runUntil(603_000);
    expectEnd(cluster, 'gate-1', 600, { status: 'timedOut', reason: 'overall' });
  });

  test('10.7.6: a decision under the fence of a dead leader is refused, corrected and made again', async () => {
    const datacenters = { A: { managers: 2, workers: 1, isAppointed: true } };
    const script = { runs: 'never', progressEvery: 'never' } as const;
    await using played = await play({ datacenters }, { timeoutMs: 600_000 }, script);
    const { cluster } = played;
    // Its report has reached the gate, the gate's answer is on its way.
    cluster.at(120_225, () => cluster.crash('A.manager-1'));
    cluster.at(138_000, () => cluster.network.cut(atGate, at('A')));
    cluster.at(138_000, () => cluster.lead('A.manager-2'));
    cluster.at(141_900, () => cluster.network.heal(atGate, at('A')));
    await cluster.runUntil(150_000);
    expect(noted(cluster, 'timeout.declared', 'gate-1')).toHaveLength(1);
    expect(gateJob(cluster)).toMatchObject({ declared: 1, withdrawn: 0 });
    const [end] = noted(cluster, 'job.ended', 'A.manager-2');
    expect(end).toMatchObject({ ...GLOBAL, leaderFence: 2 });
    expect(end?.atMs).toBeGreaterThan(141_900);
    expect(end?.atMs).toBeLessThanOrEqual(143_000);
  });
});

describe('completion and cancelling', () => {
  test('all complete', async () => {
    await using played = await play({}, { timeoutMs: 600_000 }, { runs: 40_000, result: 'fine' });
    const { cluster, client } = played;
    await cluster.runUntil(45_000);
    expectEnd(cluster, 'gate-1', 40, { status: 'completed', reason: null });
    const job = await cluster.time.during(client.get('j1'));
    expect(job?.workflows).toMatchObject([{ status: 'completed', result: 'fine' }]);
    expect(cluster.snapshot('gate-job/j1@gate-1').value).toBe('closed');
    expect(cluster.recorder.errors()).toEqual([]);
  });

  test('S45: a cancel through the gate ends what still runs', async () => {
    await using played = await play({}, { timeoutMs: 600_000 }, { runs: 'never' });
    const { cluster, client } = played;
    cluster.at(50_000, () => client.cancel('j1'));
    await cluster.runUntil(60_000);
    expectEnd(cluster, 'A.manager-1', 50, { status: 'cancelled' });
    expectEnd(cluster, 'B.manager-1', 50, { status: 'cancelled' });
    expect(await statusOf(played)).toEqual({ status: 'cancelled', reason: null });
  });

  test('S25: who completed before the decision reached him keeps his end', async () => {
    const datacenters = { A: ONE };
    await using played = await play({ datacenters }, { timeoutMs: 100_000 }, { runs: 99_830 });
    const { cluster } = played;
    await cluster.runUntil(102_000);
    expect(noted(cluster, 'timeout.declared', 'gate-1')).toHaveLength(1);
    expect(noted(cluster, 'job.ended', 'A.manager-1')[0]?.atMs).toBeLessThan(100_000);
    expectEnd(cluster, 'gate-1', 100, { status: 'completed', reason: null });
  });
});
