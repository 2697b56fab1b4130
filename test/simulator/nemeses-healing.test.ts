/** The moment of healing: who is in the core, what ends, and that every job does then. */

import { describe, expect, test } from 'vitest';
import type { Nemesis } from '../../simulator/faults/nemesis.ts';
import type { HistoryRecord } from '../../simulator/history/history.ts';
import { coreOf, epsilonOf } from '../../simulator/jobs/core.ts';
import type { Plan, Topology } from '../../simulator/jobs/plan.ts';
import { play, type Run } from '../../simulator/jobs/run.ts';

const HEAL_AT_MS = 60_000;
const TOPOLOGY: Topology = {
  gates: 1,
  datacenters: { A: { managers: 3, workers: 3 }, B: { managers: 2, workers: 2 } },
};

function nemesis(id: string, kind: string, given: Partial<Nemesis> = {}): Nemesis {
  return { id, kind, atMs: 20_000, durMs: 3_600_000, targets: [], params: {}, ...given };
}

function planOf(nemeses: readonly Nemesis[], given: Partial<Plan> = {}): Plan {
  return {
    version: 1,
    name: 'healing',
    system: 'jobs',
    seed: 5,
    untilMs: null,
    network: { delayMs: [1, 20], loss: 0.02, duplicate: 0.02, reorder: 0.02 },
    topology: TOPOLOGY,
    config: {},
    steps: ['j1', 'j2'].map((jobId, index) => ({
      atMs: 100 * index,
      do: 'submit',
      job: {
        jobId,
        to: jobId === 'j1' ? 'gate-1' : 'B',
        timeoutMs: 200_000,
        workflows: [
          { id: 'w1', runsMs: 50_000 },
          { id: 'w2', runsMs: 30_000, dependsOn: ['w1'] },
        ],
      },
    })),
    nemeses,
    healAtMs: HEAL_AT_MS,
    ...given,
  };
}

const coreFrames = ({ history, facts }: Run, fromMs: number): HistoryRecord[] =>
  history.records.filter(
    (record) =>
      record.type === 'frame' &&
      record.atMs > fromMs &&
      facts.core.includes(record.node) &&
      facts.core.includes(record.to),
  );

function ends({ history }: Run): string[] {
  return history.records.flatMap((record) =>
    record.type === 'actor' && record.kind.endsWith('job') && record.change === 'done'
      ? [record.address]
      : [],
  );
}

describe('the core', () => {
  const seeds = Array.from({ length: 50 }, (_, seed) => seed);

  test('is everybody where nothing heals', () => {
    expect(coreOf(planOf([], { healAtMs: null }))).toHaveLength(11);
  });

  test('is enough to go on with, and now and then not more', () => {
    const cores = seeds.map((seed) => coreOf(planOf([], { seed })));
    for (const core of cores)
      for (const part of [/^gate-1$/, /^A\.man/, /^A\.work/, /^B\.man/, /^B\.work/])
        expect(core.some((node) => part.test(node))).toBe(true);
    const sizes = cores.map(({ length }) => length);
    expect(Math.min(...sizes)).toBeLessThan(8);
    expect(Math.max(...sizes)).toBeGreaterThan(8);
  });

  test('has the workers that work is bound to', () => {
    const [step] = planOf([]).steps;
    if (step?.do !== 'submit') throw new Error('The plan begins with a job.');
    const workflows = [{ id: 'w1', onWorker: 'A.worker-3' }];
    const steps = [{ ...step, job: { ...step.job, workflows } }];
    for (const seed of seeds) expect(coreOf(planOf([], { seed, steps }))).toContain('A.worker-3');
  });
});

describe('how far off clocks can be', () => {
  test('is nothing when nobody touches them', () => {
    expect(epsilonOf(planOf([nemesis('n1', 'powerCut')]))).toBe(0);
  });

  test('is the largest step, and all drift beside it', () => {
    const drift = { durMs: 100_000, params: { ppm: -5_000 } };
    const plan = planOf(
      [
        nemesis('n1', 'stepLeaderClock', { params: { byMs: -700 } }),
        nemesis('n2', 'driftingClocks', drift),
      ],
      {
        steps: [
          { atMs: 0, do: 'skew', node: 'gate-1', byMs: -40 },
          { atMs: 9, do: 'skew', node: 'gate-1', byMs: 10 },
        ],
      },
    );
    expect(epsilonOf(plan)).toBe(40 + 700 + 500);
  });
});

describe('from the moment of healing on', () => {
  const crashed = nemesis('n1', 'powerCut', { targets: ['A'] });
  const parted = nemesis('n2', 'partition', { params: { shape: 'shattered', how: 'silent' } });
  const noisy = nemesis('n3', 'lostFrames', { params: { share: 0.5 } });
  const full = nemesis('n4', 'fullDisk', { targets: ['B'], params: { reason: 'ENOSPC' } });
  const still = nemesis('n5', 'pauseNodes', { targets: ['gate-1'] });
  const drifting = nemesis('n6', 'driftingClocks', { params: { ppm: 9_000 } });
  const all = [crashed, parted, noisy, full, still, drifting];

  test.each([1, 2, 3])('every job ends, whatever was wrong before (seed %i)', async (seed) => {
    const run = await play(planOf(all, { seed }));
    expect(run.endedAtMs).toBeLessThan(400_000);
    expect(new Set(ends(run))).toEqual(
      new Set(['job/j1@A', 'job/j1@B', 'gate-job/j1@gate-1', 'job/j2@B']),
    );
    expect(run.judgement.violations).toEqual([]);
  });

  let healed: Promise<Run> | undefined;
  const played = (): Promise<Run> => {
    healed ??= play(planOf(all), { invariants: [] });
    return healed;
  };

  test('no frame of the core is lost, late, doubled or damaged', async () => {
    const run = await played();
    const settledMs = HEAL_AT_MS + 1_000;
    const changes = coreFrames(run, settledMs).map((record) => 'change' in record && record.change);
    expect(new Set(changes)).toEqual(new Set(['sent', 'delivered']));
    expect(coreFrames(run, 0).length).toBeGreaterThan(changes.length);
  });

  test('the rest is down, still or alone', async () => {
    const run = await played();
    const { core, places } = run.facts;
    expect(core.length).toBeLessThan(Object.keys(places).length);
    const heard = run.history.records.filter(
      (record) =>
        record.type === 'frame' &&
        record.atMs > HEAL_AT_MS + 1_000 &&
        record.change === 'delivered' &&
        record.node in places &&
        record.to in places &&
        core.includes(record.node) !== core.includes(record.to),
    );
    expect(heard).toEqual([]);
  });
});

describe('a run', () => {
  test('is over when all jobs have ended, though nobody could tell of the last end', async () => {
    const point = 'beforeAcknowledgement';
    const params = { point, message: 'final.reported', times: 10, downMs: 900 };
    const network = { delayMs: [1, 20], loss: 0, duplicate: 0, reorder: 0 } as const;
    const killed = nemesis('n1', 'killAtFailpoint', { params });
    const run = await play(planOf([killed], { network, healAtMs: 500_000, untilMs: null }), {
      invariants: [],
    });
    expect(ends(run)).not.toContain('gate-job/j1@gate-1');
    expect(run.endedAtMs).toBeLessThan(300_000);
  });

  test('hears of a node again that died while it stood still', async () => {
    const still = nemesis('n1', 'pauseNodes', { targets: ['A.worker-1'], durMs: 9_000 });
    const dead = nemesis('n2', 'crashNodes', {
      targets: ['A.worker-1'],
      atMs: 22_000,
      durMs: 1_000,
    });
    const run = await play(planOf([still, dead], { healAtMs: null }), { invariants: [] });
    const heard = run.history.records.filter(
      (record) =>
        record.type === 'turn' &&
        record.node === 'A.worker-1' &&
        record.atMs > 24_000 &&
        record.from,
    );
    expect(heard.length).toBeGreaterThan(0);
  });
});
