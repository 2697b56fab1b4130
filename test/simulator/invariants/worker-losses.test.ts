/** Which workers and attempts count as lost. */

import { describe } from 'vitest';
import type { WorkflowContext } from '../../../machines/jobs/workflow.ts';
import {
  losesExactlyTheGone,
  suspectsTheSilent,
  waitsForNothingLost,
} from '../../../simulator/invariants/worker-losses.ts';
import { actor, type Story } from './builders.ts';
import { beats, type HealthTale, health, WORKFLOW } from './health-tale.ts';
import { Tale } from './tale.ts';
import { type Told, testVerdicts } from './verdicts.ts';

const LOST = { type: 'worker.lost', registration: 1 };
const GONE = { operations: {}, creditedJobs: [] };
const anew = (tale: HealthTale = health()) =>
  tale.turn(20_000, { type: 'registration.told' }, { ...GONE, registration: 2, bootEpoch: 8 });
const suspect = (atMs: number) =>
  health().turn(atMs, { type: 'xstate.after.deadlineLimit' }, {}, { state: 'suspect' });

describe('suspects', () => {
  testVerdicts(suspectsTheSilent, {
    good: {
      'at its deadline': () => suspect(30_001),
      'a heartbeat puts it off': () =>
        beats(health(), 20_000, ['w1#1']).turn(
          50_001,
          { type: 'xstate.after.deadlineLimit' },
          {},
          { state: 'suspect' },
        ),
    },
    bad: {
      'much later': () => suspect(40_000),
      never: { told: () => health(), endedAtMs: 60_000 },
    },
  });
});

describe('attempts', () => {
  const attemptLost = { type: 'attempt.lost', attemptId: 'w1#1' };
  const OTHER = 'workflow/j1/w2@A';
  testVerdicts(losesExactlyTheGone, {
    good: {
      'all of a registration that is replaced': () => anew().says(WORKFLOW, LOST),
      'all of one that is evicted': () =>
        suspect(30_001)
          .turn(60_002, { type: 'xstate.after.evictionLimit' }, GONE, { state: 'evicted' })
          .says(WORKFLOW, LOST),
      'one that is not listed': () =>
        beats(health(), 5_000, [], { operations: {} }).says(WORKFLOW, attemptLost),
      'one on two pages': () => {
        const listed = { heartbeatSeq: 2, pages: [1], ids: [] };
        const tale = beats(health(), 5_000, [], { listed }, { event: { pages: 2 } });
        return beats(
          tale,
          5_001,
          [],
          { operations: {}, listed: null },
          { event: { page: 2, pages: 2 } },
        ).says(WORKFLOW, attemptLost);
      },
      'one that was placed too late': () =>
        health()
          .turn(20_000, { type: 'attempt.placed', jobId: 'j1', attemptId: 'w2#1', registration: 0 })
          .says(OTHER, LOST),
    },
    bad: {
      'one of a replaced registration stays': () => anew(),
      'one of an evicted registration stays': () =>
        suspect(30_001).turn(60_002, { type: 'xstate.after.evictionLimit' }, GONE, {
          state: 'evicted',
        }),
      'one that is not listed stays': () => beats(health(), 5_000, []),
      'one that is listed is lost': () =>
        beats(health(), 5_000, ['w1#1']).says(WORKFLOW, attemptLost),
      'one that was taken after the heartbeat left is lost': () =>
        beats(health(), 5_000, [], {}, { event: { heartbeatSeq: 1 } }).says(WORKFLOW, attemptLost),
      'another worker`s is lost': () => anew().says(WORKFLOW, LOST).says(OTHER, LOST),
      'all are lost by one heartbeat': () => beats(health(), 5_000, ['w1#1']).says(WORKFLOW, LOST),
    },
  });
});

describe('workflows', () => {
  const slot = { workerId: 'W', registration: 1, bootEpoch: 7, cores: 1 };
  const running = { jobId: 'j1', workflowId: 'w1', slot } as unknown as WorkflowContext;
  const workflow = () => new Tale(WORKFLOW, running, 'RUNNING').turn(5, { type: 'slot.granted' });
  const told = () => anew().says(WORKFLOW, LOST);
  /** Two tales of one run, in the order of their times. */
  const both = (one: { readonly story: Story }, other: { readonly story: Story }): Told => ({
    records: [...one.story.records, ...other.story.records]
      .sort((a, b) => a.atMs - b.atMs)
      .map((record, index) => ({ ...record, index })),
    endsAtMs: 60_000,
  });
  const leaves = (atMs: number) =>
    workflow().turn(atMs, LOST, { slot: null }, { state: 'PENDING' });
  testVerdicts(waitsForNothingLost, {
    good: {
      'it leaves at once': () => both(told(), leaves(20_001)),
      'and its worker is told of nothing that was before': () =>
        both(told().add(actor('worker-health/V@A', 'born')), leaves(20_010)),
    },
    bad: {
      'it stays': () => both(told(), workflow()),
      'it leaves much later': () => both(told(), leaves(30_000)),
    },
  });
});
