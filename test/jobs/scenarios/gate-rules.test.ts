/** Scenarios of a gate with several datacenters: which rule ends a job, and when. */

import { describe, expect, test } from 'vitest';
import type { JobTerms } from '../../../machines/jobs/messages/client.ts';
import type { WorkerHealthContext } from '../../../machines/jobs/worker-health.ts';
import type { HandlerScript } from '../../../simulator/jobs/scripted-handler.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';
import { endAt, gateJobAt, goTo, hasEnded, jobAt, timesOf, watchTurns } from './scene.ts';
import { contextOf, expectAt } from './witness.ts';

type Scripts = Readonly<Record<string, HandlerScript>>;
type Terms = Partial<Omit<JobTerms, 'timeoutMs'>> & { readonly seconds: number };

/** One worker in each datacenter; what the script does not say goes on for ever. */
async function begun(names: readonly string[], scripts: Scripts, { seconds, ...terms }: Terms) {
  const datacenters = Object.fromEntries(names.map((name) => [name, { workers: 1 }]));
  const cluster = await startCluster({ gates: 1, datacenters });
  const workflows = [scripted('w1', { runs: 'never', in: scripts })];
  await cluster.begin('gate-1', { jobId: 'j1', timeoutMs: seconds * 1_000, workflows, ...terms });
  return cluster;
}

const lastProgress = (seconds: number): HandlerScript => ({ stopsProgressAt: seconds * 1_000 });

/** One decision, for that reason, at that moment, obeyed at once by all of these. */
function expectDecision(
  cluster: Cluster,
  reason: string,
  seconds: number,
  obedient: readonly string[],
): void {
  const [declared, ...others] = cluster.recorder.notes('timeout.declared');
  expect(declared?.fields).toMatchObject({ reason });
  expectAt(declared?.atMs, seconds);
  expect(others).toEqual([]);
  for (const datacenter of obedient) {
    const { fields, atMs } = endAt(cluster, `${datacenter}.manager-1`);
    const gateReason = reason;
    expect(fields).toMatchObject({ status: 'timedOut', reason: 'global', gateReason });
    expectAt(atMs, seconds);
  }
  const outcome = endAt(cluster, 'gate-1');
  expect(outcome.fields).toMatchObject({ status: 'timedOut', reason, unconfirmed: [] });
  expectAt(outcome.atMs, seconds);
  expect(cluster.recorder.errors()).toEqual([]);
}

/** Who reported a timeout, for what, in order. */
const reportsOf = (cluster: Cluster) =>
  cluster.recorder.notes('timeout.reported').map(({ node, fields }) => [node, fields['reason']]);

describe('a datacenter that has reported', () => {
  test('S11 takes no credit, and waits for a gate that answers', async () => {
    const terms = { seconds: 900, datacenterTimeoutQuorum: 'all' } as const;
    await using cluster = await begun(['A', 'B'], { A: lastProgress(30) }, terms);
    cluster.at(155_000, async () => {
      const answer = await cluster.extend('A.worker-1', { progress: 0.9 });
      expect(answer).toMatchObject({ granted: true, extensionMs: 30_000 });
    });
    const turns = watchTurns(cluster, cluster.manager('A.manager-1').runtime);
    await goTo(cluster, 160);
    expect(reportsOf(cluster)).toEqual([['A.manager-1', 'stuck']]);
    expectAt(timesOf(cluster, 'timeout.reported')[0], 150);
    const credits = turns.filter(({ event }) => event.type === 'extension.credited');
    expect(credits).toHaveLength(1);
    const answers = turns.filter(({ event }) => event.type === 'credit.answered');
    expect(answers).toMatchObject([{ event: { jobId: 'j1', answer: 'void' } }]);
    // It need not hear of the loss of a worker whose credit it did not take.
    const health = contextOf<WorkerHealthContext>(cluster, 'worker-health/A.worker-1@A');
    expect(health.creditedJobs).toEqual([]);
    await goTo(cluster, 900);
    expect(timesOf(cluster, 'timeout.declared')).toEqual([]);
    expect(hasEnded(cluster)).toBe(false);
    expect(jobAt(cluster, 'A')).toMatchObject({ status: 'running', creditByWorker: {} });
    expect(gateJobAt(cluster, 'gate-1').datacenters['A']?.extensionsMs).toBe(0);
    const acks = turns.filter(({ event }) => event['ackOf'] === 'progress.reported');
    expect(acks.filter(({ atMs }) => atMs > 150_000).length).toBeGreaterThanOrEqual(74);
    expect(acks.every(({ event }) => event['accepted'] === true)).toBe(true);
    await goTo(cluster, 902);
    expectDecision(cluster, 'overall', 900, ['A', 'B']);
    expect(timesOf(cluster, 'timeout.fallback')).toEqual([]);
    // B's own deadline is a moment after the gate's.
    expect(reportsOf(cluster)[0]).toEqual(['A.manager-1', 'stuck']);
  });

  test('S22 never ends by itself while the gate acknowledges what it says', async () => {
    const terms = { seconds: 900, datacenterTimeoutQuorum: 'all' } as const;
    await using cluster = await begun(['A', 'B'], { A: lastProgress(30) }, terms);
    await goTo(cluster, 460);
    expectAt(timesOf(cluster, 'timeout.reported')[0], 150);
    const { lastGateContactAt, status } = jobAt(cluster, 'A');
    expect(status).toBe('running');
    expect(cluster.time.sinceBegin(lastGateContactAt)).toBeGreaterThan(449_000);
    await goTo(cluster, 900);
    expect(hasEnded(cluster)).toBe(false);
    await goTo(cluster, 902);
    expectDecision(cluster, 'overall', 900, ['A', 'B']);
    expect(timesOf(cluster, 'timeout.fallback')).toEqual([]);
  });
});

describe('when nothing moves anywhere', () => {
  const terms = { seconds: 1_200, stuckThresholdMs: 600_000 };

  test('S12 the job ends 180 s after the last progress', async () => {
    await using cluster = await begun(
      ['A', 'B'],
      { A: lastProgress(10), B: lastProgress(10) },
      terms,
    );
    await goTo(cluster, 190);
    expect(timesOf(cluster, 'timeout.declared')).toEqual([]);
    await goTo(cluster, 200);
    expectDecision(cluster, 'allDatacentersStuck', 190, ['A', 'B']);
    expect(reportsOf(cluster)).toEqual([]);
  });

  test('S13 the progress of one of them counts for all', async () => {
    await using cluster = await begun(
      ['A', 'B'],
      { A: lastProgress(100), B: lastProgress(10) },
      terms,
    );
    await goTo(cluster, 280);
    expect(timesOf(cluster, 'timeout.declared')).toEqual([]);
    await goTo(cluster, 290);
    expectDecision(cluster, 'allDatacentersStuck', 280, ['A', 'B']);
  });
});

describe('reports of a timeout', () => {
  test('S15 count when they are a majority', async () => {
    const terms = { seconds: 900, datacenterTimeoutQuorum: 'majority' } as const;
    const scripts = { A: lastProgress(30), B: lastProgress(80) };
    await using cluster = await begun(['A', 'B', 'C'], scripts, terms);
    await goTo(cluster, 200);
    expectAt(timesOf(cluster, 'timeout.reported')[0], 150);
    expect(reportsOf(cluster)).toEqual([['A.manager-1', 'stuck']]);
    expect(timesOf(cluster, 'timeout.declared')).toEqual([]);
    await goTo(cluster, 210);
    expectAt(timesOf(cluster, 'timeout.reported')[1], 200);
    expectDecision(cluster, 'datacenterTimeout', 200, ['A', 'B', 'C']);
  });

  test('S19 that come together make one decision', async () => {
    const stuck = lastProgress(30);
    await using cluster = await begun(
      ['A', 'B', 'C'],
      { A: stuck, B: stuck, C: stuck },
      { seconds: 900 },
    );
    await goTo(cluster, 150);
    expect(timesOf(cluster, 'timeout.reported')).toEqual([]);
    await goTo(cluster, 300);
    const reports = timesOf(cluster, 'timeout.reported');
    expect(reports).toHaveLength(3);
    for (const atMs of reports) expectAt(atMs, 150);
    expectDecision(cluster, 'datacenterTimeout', 150, ['A', 'B', 'C']);
    const { counters } = cluster.gate('gate-1');
    expect(counters.total('gate_global_timeouts_declared_total')).toBe(1);
    expect(counters.value('gate_dc_timeout_reports_received_total')).toBe(3);
  });
});

describe('a report of a used-up budget is deferred while another datacenter has more credit', () => {
  /** Asks for this many grants at each of them, from 10 on: 30 s, then 15 s. */
  async function extended(grants: Readonly<Record<string, number>>, scripts: Scripts = {}) {
    const cluster = await begun(['A', 'B'], scripts, { seconds: 300 });
    for (const [datacenter, count] of Object.entries(grants))
      for (let grant = 1; grant <= count; grant += 1)
        cluster.at(grant * 10_000, async () => {
          const answer = await cluster.extend(`${datacenter}.worker-1`, { progress: grant / 10 });
          expect(answer.granted).toBe(true);
        });
    await goTo(cluster, 40);
    return cluster;
  }

  const creditsOf = (cluster: Cluster) => {
    const { datacenters } = gateJobAt(cluster, 'gate-1');
    return [datacenters['A']?.extensionsMs, datacenters['B']?.extensionsMs];
  };

  test('S16 also when the reporter has credit itself', async () => {
    await using cluster = await extended({ A: 1, B: 2 });
    expect(creditsOf(cluster)).toEqual([30_000, 45_000]);
    await goTo(cluster, 330);
    expect(reportsOf(cluster)).toEqual([]);
    await goTo(cluster, 345);
    expect(reportsOf(cluster)).toEqual([['A.manager-1', 'overall']]);
    expectAt(timesOf(cluster, 'timeout.reported')[0], 330);
    expect(timesOf(cluster, 'timeout.declared')).toEqual([]);
    await goTo(cluster, 350);
    expectDecision(cluster, 'overall', 345, ['A', 'B']);
  });

  test('S17 also when the reporter has none', async () => {
    await using cluster = await extended({ B: 2 });
    expect(creditsOf(cluster)).toEqual([0, 45_000]);
    await goTo(cluster, 300);
    expect(reportsOf(cluster)).toEqual([]);
    await goTo(cluster, 345);
    expect(reportsOf(cluster)).toEqual([['A.manager-1', 'overall']]);
    expectAt(timesOf(cluster, 'timeout.reported')[0], 300);
    expect(timesOf(cluster, 'timeout.declared')).toEqual([]);
    await goTo(cluster, 350);
    expectDecision(cluster, 'overall', 345, ['A', 'B']);
  });

  test('S18 but not when that one has finished', async () => {
    await using cluster = await extended({ A: 1, B: 2 }, { B: { runs: 200_000 } });
    await goTo(cluster, 210);
    expect(endAt(cluster, 'B.manager-1').fields).toMatchObject({ status: 'completed' });
    expectAt(endAt(cluster, 'B.manager-1').atMs, 200);
    await goTo(cluster, 330);
    expect(timesOf(cluster, 'timeout.declared')).toEqual([]);
    await goTo(cluster, 340);
    expectDecision(cluster, 'overall', 330, ['A']);
    expect(endAt(cluster, 'B.manager-1').fields).toMatchObject({ status: 'completed' });
  });
});
