/**
 * A process may end at any of its commits: after one that it has not heard of, or before it. Whatever
 * the moment, the job ends as if nothing had happened, and nothing is left over.
 */

import { describe, expect, test } from 'vitest';
import type { Disks } from '../cluster/disks.ts';
import { type Cluster, scripted } from '../cluster.ts';
import { contextOf, endsOf } from '../scenarios/witness.ts';
import { startOnDisks } from './on-disks.ts';

interface Place {
  readonly node: string;
  readonly place: string;
  /** From when on the process has only this many groups to live. */
  readonly dyingAtMs: number;
}

interface Death {
  /** Groups that it still hears of. */
  readonly heardMax: number;
  /** The outcome of the one after them. */
  readonly lastWords: 'written' | 'lost';
  /** Messages within a place are taken in groups of their own. */
  readonly splits: boolean;
}

const GONE_AFTER_MS = 2_600;

function killAt(
  cluster: Cluster,
  disks: Disks,
  { node, place, dyingAtMs }: Place,
  death: Death,
): void {
  cluster.at(dyingAtMs, () => disks.kill(place, death));
  cluster.at(dyingAtMs + GONE_AFTER_MS, () => {
    const isKilled = disks.isKilled(place);
    cluster.crash(node);
    expect(isKilled, 'there were fewer groups than that').toBe(true);
  });
  cluster.at(dyingAtMs + GONE_AFTER_MS + 1_000, () => cluster.restart(node));
}

const deaths = (whole: readonly number[], split: readonly number[]): readonly Death[] =>
  [false, true].flatMap((splits) =>
    (splits ? split : whole).flatMap((heardMax) =>
      (['written', 'lost'] as const).map((lastWords) => ({ heardMax, lastWords, splits })),
    ),
  );

describe('a manager that dies', () => {
  const workflows = [
    // Ends while the disk dies, and is followed by one that fails once.
    scripted('w1', { runs: 4_900, result: 'one' }),
    scripted('w2', { runs: 500, failsTimes: 1, result: 'two' }, { dependsOn: ['w1'] }),
  ];
  const leader = { node: 'A.manager-1', place: 'A', dyingAtMs: 4_900 };

  test.each(deaths([0, 1, 2, 3, 4], [0, 1, 2, 3, 5, 8, 12]))(
    'after $heardMax groups, the last one $lastWords (split: $splits), has its job completed',
    async (death) => {
      const { cluster, disks } = await startOnDisks(
        { datacenters: { A: { workers: 1 } } },
        death.splits,
      );
      const client = await cluster.begin('A', { jobId: 'j1', timeoutMs: 600_000, workflows });
      killAt(cluster, disks, leader, death);
      await cluster.runUntil(60_000);
      const view = await cluster.time.during(client.get('j1'));
      expect(view).toMatchObject({ status: 'completed', workflowsCompleted: 2, leaderFence: 2 });
      expect(view?.workflows.map(({ result }) => result)).toEqual(['one', 'two']);
      expect(contextOf(cluster, 'worker-pool/main@A')).toMatchObject({
        lanes: {},
        workers: { 'A.worker-1': { coresReserved: 0 } },
      });
      const { operations, pending } = contextOf(cluster, 'worker-health/A.worker-1@A');
      expect({ operations, pending }).toEqual({ operations: {}, pending: [] });
      expect(cluster.manager('A.manager-1').runtime.counts()).toMatchObject({ underWay: 0 });
      expect(endsOf(cluster).map(({ status }) => status)).toContain('completed');
    },
  );
});

describe('a manager that dies while it grants an extension', () => {
  const leader = { node: 'A.manager-1', place: 'A', dyingAtMs: 5_100 };

  test.each(deaths([0], [0, 1, 2, 3]))(
    'after $heardMax groups, the last one $lastWords (split: $splits), has it granted once',
    async (death) => {
      const { cluster, disks } = await startOnDisks(
        { datacenters: { A: { workers: 1 } } },
        death.splits,
      );
      const workflows = [scripted('w1', { runs: 'never', progressEvery: 'never' })];
      const client = await cluster.begin('A', { jobId: 'j1', timeoutMs: 60_000, workflows });
      const second = { jobId: 'j2', timeoutMs: 60_000, workflows };
      await cluster.time.during(client.submit(second));
      killAt(cluster, disks, leader, death);
      const answers: unknown[] = [];
      cluster.at(5_150, async () => {
        const answer = await cluster.extend('A.worker-1', { progress: 0.5 });
        // It is told when both jobs have it on disk, and not before.
        for (const jobId of ['j1', 'j2'])
          expect(contextOf(cluster, `job/${jobId}@A`)).toMatchObject({
            creditByWorker: { 'A.worker-1': 30_000 },
          });
        answers.push(answer);
      });
      await cluster.runUntil(30_000);
      expect(answers).toMatchObject([
        { granted: true, extensionMs: 30_000, remainingExtensions: 4 },
      ]);
      await cluster.runUntil(89_999);
      expect(endsOf(cluster)).toEqual([]);
      await cluster.runUntil(92_000);
      for (const jobId of ['j1', 'j2']) {
        const ends = endsOf(cluster, jobId);
        expect(ends).toMatchObject([{ status: 'timedOut', reason: 'overall' }]);
        expect(ends[0]?.atMs).toBeGreaterThan(90_000);
      }
      expect(contextOf(cluster, 'worker-health/A.worker-1@A')).toMatchObject({ pending: [] });
    },
  );
});

describe('a gate that dies', () => {
  const STUCK = { runs: 'never', in: { A: { stopsProgressAt: 5_000 } } } as const;
  const gate = { node: 'gate-1', place: 'gate-1', dyingAtMs: 15_000 };

  test.each(deaths([0, 1, 2, 3, 4], [0, 1, 2, 3, 4]))(
    'after $heardMax groups, the last one $lastWords (split: $splits), has its job ended once',
    async (death) => {
      const { cluster, disks } = await startOnDisks(
        {
          gates: 1,
          datacenters: { A: { workers: 1 }, B: { workers: 1 } },
          config: { stuckThresholdMs: 10_000 },
        },
        death.splits,
      );
      const workflows = [scripted('w1', STUCK)];
      const client = await cluster.begin('gate-1', { jobId: 'j1', timeoutMs: 600_000, workflows });
      killAt(cluster, disks, gate, death);
      await cluster.runUntil(80_000);
      const view = await cluster.time.during(client.get('j1'));
      expect(view).toMatchObject({ status: 'timedOut', reason: 'datacenterTimeout' });
      for (const datacenter of ['A', 'B'])
        expect(endsOf(cluster).filter(({ node }) => node.startsWith(datacenter))).toMatchObject([
          { status: 'timedOut', reason: 'global' },
        ]);
      expect(contextOf(cluster, 'gate-job/j1@gate-1')).toMatchObject({
        declared: 1,
        withdrawn: 0,
        outcome: { unconfirmed: [] },
      });
      expect(cluster.snapshot('gate-job/j1@gate-1').value).toBe('closed');
      for (const { runtime } of [cluster.gate('gate-1'), cluster.manager('A.manager-1')])
        expect(runtime.counts()).toMatchObject({ underWay: 0 });
    },
  );
});
