/** The comparison of processes with the simulator can fail, and allows what it says it allows. */

import { describe, expect, test } from 'vitest';
import type { JobEnd, ScenarioResult, WorkerEnd } from '../../simulator/jobs/scenario/result.ts';
import { differences, toleranceOf } from './agreement.ts';
import { readScenario } from './conformance.ts';
import { fallenFences } from './fences.ts';
import type { RealResult } from './outcome.ts';
import { judgeOutcomes, lostJobs } from './random-agreement.ts';
import { scaledPlan } from './scaled-plan.ts';

const FACTOR = 20;
const counters = {
  staleFencesRejected: 0,
  statusCorrections: 0,
  timeoutReports: 0,
  globalTimeoutsDeclared: 0,
  extensionsGranted: 0,
  extensionsDenied: 0,
  staleAttempts: 0,
};
const worker: WorkerEnd = {
  health: 'healthy',
  extensions: 0,
  extendedMs: 0,
  denials: 0,
  lastDenial: null,
};

function ended(more: object): JobEnd {
  const end = {
    status: 'timedOut',
    reason: 'overall',
    gateReason: null,
    atMs: 60_000,
    leader: 'A/manager-1',
    leaderFence: 1,
    startedAtMs: 0,
    extensionsMs: 0,
    authority: 'localAuthority',
    localReason: 'overall',
    reportedAtMs: null,
    workflows: { w1: { state: 'cancelled', attempts: 1, atMs: 60_000 } },
    lateEvents: 0,
    ...more,
  } as const;
  return { gate: null, datacenters: { A: end as JobEnd['datacenters'][string] } };
}

const resultWith = (more: object): RealResult => ({
  jobs: { j1: ended(more) },
  workers: { 'A/worker-1': worker },
  counters,
});
const simulated = resultWith({}) as unknown as ScenarioResult;
const found = (more: object) => differences(simulated, resultWith(more), toleranceOf(FACTOR));

describe('a comparison with the simulator', () => {
  test('finds nothing where all is the same, or a little later', () => {
    expect(found({})).toEqual([]);
    expect(found({ atMs: 61_000 })).toEqual([]);
  });

  test.each([
    [{ status: 'completed' }, 'jobs.j1.datacenters.A.status: expected timedOut, got completed'],
    [{ reason: 'stuck' }, 'jobs.j1.datacenters.A.reason: expected overall, got stuck'],
    [{ leaderFence: 2 }, 'jobs.j1.datacenters.A.leaderFence: expected 1, got 2'],
    [
      { extensionsMs: 30_000 },
      'jobs.j1.datacenters.A.extensionsMs: expected -120 to 120, got 30000',
    ],
    [
      { workflows: { w1: { state: 'cancelled', attempts: 2, atMs: 1 } } },
      'jobs.j1.datacenters.A.workflows.w1.attempts: expected 1, got 2',
    ],
  ])('finds %j', (more, sentence) => {
    expect(found(more)).toEqual([sentence]);
  });

  test('leaves a moment for which the file has a range to the range', () => {
    const atMs = { from: 50_000, to: 70_000 };
    const fileExpects = new Map([
      [
        'jobs',
        new Map([['j1', new Map([['datacenters', new Map([['A', new Map([['atMs', atMs]])]])]])]]),
      ],
    ]);
    const real = resultWith({ atMs: 52_000, status: 'completed' });
    expect(differences(simulated, real, toleranceOf(FACTOR), fileExpects)).toEqual([
      'jobs.j1.datacenters.A.status: expected timedOut, got completed',
    ]);
  });

  test('allows no deadline that is early', () => {
    expect(found({ atMs: 50_000 })).toHaveLength(1);
  });
});

describe('the judgement of a plan of chance', () => {
  const allowed = new Map([
    ['j1@A', new Set(['timedOut/overall'])],
    ['j2@A', new Set(['completed/null', 'timedOut/stuck'])],
  ]);
  const judge = (j1: object, j2: object) =>
    judgeOutcomes(allowed, { j1: ended(j1), j2: ended(j2) });

  test('holds the processes to an end that leaves no choice', () => {
    const { wrong, among } = judge({ reason: 'stuck' }, { reason: 'stuck' });
    expect(wrong).toEqual(['j1@A: expected timedOut/overall, got timedOut/stuck']);
    expect(among).toBe(1);
  });

  test('tells of an end that no variant came to', () => {
    const { wrong, unseen, decided } = judge({}, { status: 'failed', reason: 'workflowFailed' });
    expect({ wrong, decided }).toEqual({ wrong: [], decided: 1 });
    expect(unseen).toHaveLength(1);
  });

  test('misses a job that was accepted', () => {
    const answer = { status: 201, body: { accepted: true } };
    const call = { request: 'submit', jobId: 'j9', to: 'A', answer };
    expect(lostJobs([call], {})).toEqual(['j9 was accepted by A and is lost']);
  });

  test('finds a fence that did not rise', () => {
    const hosting = (node: string, fence: number) => ({
      node,
      event: 'node.hosting',
      at: 0,
      fields: { fence },
    });
    expect(fallenFences([hosting('A.manager-1', 2), hosting('A.manager-2', 2)])).toHaveLength(1);
    expect(fallenFences([hosting('A.manager-1', 1), hosting('A.manager-2', 2)])).toEqual([]);
  });
});

describe('a plan at another pace', () => {
  test('is twenty times as fast, options as well', () => {
    const { plan } = readScenario('03-extension-lets-a-job-finish');
    const { steps, config } = scaledPlan(plan, FACTOR);
    expect(steps.map(({ atMs }) => atMs)).toEqual([0, 1_000]);
    expect(config).toMatchObject({ stuckThresholdMs: 6_000, baseDeadlineMs: 1_500 });
  });

  test('is not less patient than a busy machine needs', () => {
    const { plan } = readScenario('03-extension-lets-a-job-finish');
    expect(scaledPlan(plan, FACTOR).config).toMatchObject({ dispatchAckTimeoutMs: 3_000 });
  });
});
