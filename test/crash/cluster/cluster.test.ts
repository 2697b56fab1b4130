/**
 * Ten kills of a whole cluster under load, and planted faults that the rig must find.
 *
 * The rig itself is for longer runs: `npm run test:crash -- --cluster --cycles 100`.
 */

import { describe, expect, test } from 'vitest';
import { runClusterCycles } from './cluster-cycles.ts';
import { ClusterTally } from './cluster-tally.ts';

const NOTHING = { lost: [], unfinished: [], changed: [], wrong: [], fences: [] };

describe('a cluster whose nodes are killed again and again', () => {
  test('keeps every accepted job, with one end, through ten kills', async () => {
    const report = await runClusterCycles({ cycles: 10, seed: 3 });
    expect(report).toMatchObject({ ...NOTHING, refused: [], unwanted: [], hasHeld: true });
    // Otherwise nothing was tried.
    expect(report.accepted).toBe(report.submitted);
    expect(report.byOutcome.completed).toBeGreaterThan(0);
    expect(report.takeoverMs.count + report.restartMs.count).toBeGreaterThan(0);
  });

  test('is found out when its gate keeps jobs in memory', async () => {
    const report = await runClusterCycles({
      cycles: 1,
      seed: 1,
      jobsPerSecond: 10,
      topology: { gates: 1, datacenters: { A: { managers: 1, workers: 1 } } },
      plant: 'forgetfulGate',
    });
    expect(report.lost.length).toBeGreaterThan(0);
    expect(report.hasHeld).toBe(false);
  });
});

describe('what the rig makes of what it is told', () => {
  const job = { jobId: 'j1', mustEnd: 'completed' } as const;
  const view = { jobId: 'j1', status: 'completed', reason: null, leaderFence: 1 } as const;
  const told = (): ClusterTally => {
    const tally = new ClusterTally();
    tally.accept(job);
    tally.see('gate-1', view);
    return tally;
  };
  const judged = (tally: ClusterTally) => tally.judge('gate-1', new Map());

  test('a job that is not found any more is lost', () => {
    expect(judged(told())).toMatchObject({ ...NOTHING, lost: ['j1'] });
  });

  test('a job that has ended and runs again has two ends', () => {
    const tally = told();
    tally.see('gate-1', { ...view, status: 'running' });
    expect(judged(tally).changed).toEqual(['j1@gate-1 was completed/null and is running']);
  });

  test('another reason is another end', () => {
    const tally = told();
    tally.see('gate-1', { ...view, reason: 'overall' });
    expect(judged(tally).changed).toEqual([
      'j1@gate-1 was completed/null and is completed/overall',
    ]);
  });

  test('the fence of a job must not fall', () => {
    const tally = told();
    tally.see('gate-1', { ...view, leaderFence: 3 });
    tally.see('gate-1', { ...view, leaderFence: 2 });
    expect(judged(tally).fences).toEqual(['j1@gate-1: the fence was 3 and is 2']);
  });

  test('the fence of a place must rise with each host', () => {
    const tally = new ClusterTally();
    tally.host('A', 'A.manager-1', 1);
    tally.host('A', 'A.manager-2', 2);
    tally.host('A', 'A.manager-1', 2);
    expect(judged(tally).fences).toEqual(['A.manager-1 hosts A with fence 2 after 2']);
  });
});
