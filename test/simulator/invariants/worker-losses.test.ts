/** Loss of workers and attempts: which count as lost. */

import { describe } from 'vitest';
import type { Operation } from '../../../machines/jobs/worker-health/context.ts';
import type { WorkflowContext } from '../../../machines/jobs/workflow.ts';
import { Table } from '../../../runtime/machine.ts';
import {
  losesExactlyTheGone,
  suspectsTheSilent,
  suspectsTheSilentAtWork,
  waitsForNothingLost,
} from '../../../simulator/jobs/invariants/worker-losses.ts';
import { actor, fault, node, type Story } from './builders.ts';
import {
  beats,
  EVICTED,
  grants,
  type HealthTale,
  health,
  OPERATION,
  SUSPECT,
  WORKFLOW,
} from './health-tale.ts';
import { moment, Tale } from './tale.ts';
import { type Told, testVerdicts } from './verdicts.ts';

const LOST = { type: 'worker.lost', registration: 1 };
const GONE = { operations: Table.of<Operation>(), creditedJobs: [] };
const again = (tale: HealthTale = health()) =>
  tale.turn(20_000, { type: 'registration.told' }, { ...GONE, registration: 2, bootEpoch: 8 });
const suspect = (atMs: number) =>
  health().turn(atMs, { type: 'xstate.after.deadlineLimit' }, {}, { state: SUSPECT });

const put = (deadlineMs: number) => ({ deadline: moment(deadlineMs) });
const over = (
  atMs: number,
  tale: HealthTale,
  attemptId: string,
  change: Partial<HealthTale['context']> = {},
) =>
  tale.turn(
    atMs,
    { type: 'attempt.ended', jobId: 'j1', attemptId, registration: 1, heard: false },
    change,
  );
const silent = (atMs: number, tale: HealthTale) =>
  tale.turn(atMs, { type: 'xstate.after.deadlineLimit' }, {}, { state: SUSPECT });
/** What it was granted ends with its attempt, when its last word is older than a deadline. */
const overTooLate = () =>
  over(50_000, grants(health(), 1_000), 'w1#1', { ...put(30_000), operations: Table.of() });

describe('suspects', () => {
  testVerdicts(suspectsTheSilent, {
    good: {
      'at its deadline': () => suspect(30_001),
      'a heartbeat puts it off': () =>
        beats(health(), 20_000, ['w1#1']).turn(
          50_001,
          { type: 'xstate.after.deadlineLimit' },
          {},
          { state: SUSPECT },
        ),
      'when what it was granted ends': () => silent(50_002, overTooLate()),
    },
    bad: {
      'much later': () => suspect(40_000),
      'much later than what was granted ended': () => silent(53_000, overTooLate()),
      'much later, though something else ended since': () =>
        silent(53_000, over(52_990, overTooLate(), 'w2#1')),
      never: { told: () => health(), endedAtMs: 60_000 },
    },
  });
});

describe('suspects at work', () => {
  const given = (atMs: number, tale = health()) =>
    tale.turn(atMs, { type: 'attempt.placed', jobId: 'j1', attemptId: 'w2#1', registration: 1 });
  const LEADER = 'A.manager-1';
  /** Another fault begins and ends after its last word, while its leader does what it does. */
  const slowed = () =>
    given(20_000)
      .at(21_000, LEADER, fault('slowConsumer', null))
      .at(24_000, LEADER, fault('slowConsumer', null, 'ended'));
  const stood = () =>
    given(20_000)
      .at(20_500, LEADER, node('paused'))
      .at(21_000, LEADER, fault('slowConsumer', null))
      .at(24_000, LEADER, fault('slowConsumer', null, 'ended'))
      .at(80_000, LEADER, node('resumed'));
  /** Its leader goes on after a pause, while its disk stands still. */
  const hindered = () =>
    given(20_000)
      .at(20_100, LEADER, fault('stalledDisk', null))
      .at(20_500, LEADER, node('paused'))
      .at(21_000, LEADER, node('resumed'))
      .at(80_000, LEADER, fault('stalledDisk', null, 'ended'));
  testVerdicts(suspectsTheSilentAtWork, {
    good: {
      'once its disk writes again, though its leader went on before': () =>
        silent(80_001, hindered()),
      'once its leader stands still no more, whatever else ended meanwhile': () =>
        silent(80_001, stood()),
      'at its deadline': () => silent(30_001, given(20_000)),
      'after what it was granted': () => silent(60_001, given(20_000, grants(health(), 1_000))),
      'after its last heartbeat': () =>
        silent(45_001, given(40_000, beats(health(), 15_000, ['w1#1']))),
      'after its last word, once nothing holds grants': () =>
        silent(
          45_001,
          over(40_000, beats(grants(health(), 1_000), 15_000, ['w1#1']), 'w1#1', put(45_000)),
        ),
      'when what it was granted ends': () => silent(50_002, overTooLate()),
    },
    bad: {
      'much later than what was granted ended': () => silent(53_000, overTooLate()),
      'long after another fault ended': () => silent(80_001, slowed()),
      'an attempt that was given up puts it off': () =>
        silent(60_001, over(30_000, given(20_000), 'w2#1', put(60_000))),
      'each attempt does, for ever': {
        told: () =>
          over(55_000, over(28_000, given(20_000), 'w2#1', put(58_000)), 'w3#1', put(85_000)),
        endedAtMs: 80_000,
      },
      'what was granted to an attempt that is over': () =>
        silent(60_001, over(20_000, given(15_000, grants(health(), 1_000)), 'w1#1')),
      'a heartbeat of another life': () =>
        silent(50_001, beats(given(20_000), 20_500, [], put(50_000), { event: { bootEpoch: 1 } })),
    },
  });
});

describe('attempts', () => {
  const attemptLost = { type: 'attempt.lost', attemptId: 'w1#1' };
  const OTHER = 'workflow/j1/w2@A';
  testVerdicts(losesExactlyTheGone, {
    good: {
      'all of a registration that is replaced': () => again().says(WORKFLOW, LOST),
      'all of one that is evicted': () =>
        suspect(30_001)
          .turn(60_002, { type: 'xstate.after.evictionLimit' }, GONE, { state: EVICTED })
          .says(WORKFLOW, LOST),
      'one that is not listed': () =>
        beats(health(), 5_000, [], { operations: Table.of() }).says(WORKFLOW, attemptLost),
      'one on two pages': () => {
        const listed = { heartbeatSeq: 2, pages: [1], ids: [] };
        const tale = beats(health(), 5_000, [], { listed }, { event: { pages: 2 } });
        return beats(
          tale,
          5_001,
          [],
          { operations: Table.of(), listed: null },
          { event: { page: 2, pages: 2 } },
        ).says(WORKFLOW, attemptLost);
      },
      'one that was placed too late': () =>
        health()
          .turn(20_000, { type: 'attempt.placed', jobId: 'j1', attemptId: 'w2#1', registration: 0 })
          .says(OTHER, LOST),
    },
    bad: {
      'one of a replaced registration stays': () => again(),
      'one of an evicted registration stays': () =>
        suspect(30_001).turn(60_002, { type: 'xstate.after.evictionLimit' }, GONE, {
          state: EVICTED,
        }),
      'one that is not listed stays': () => beats(health(), 5_000, []),
      'one that is not listed stays, and the record does not know that it was taken': () =>
        beats(
          health().turn(
            1_000,
            { type: 'told' },
            { operations: Table.of<Operation>({ [OPERATION]: {} }) },
          ),
          5_000,
          [],
        ),
      'one that is listed is lost': () =>
        beats(health(), 5_000, ['w1#1']).says(WORKFLOW, attemptLost),
      'one that was taken after the heartbeat left is lost': () =>
        beats(health(), 5_000, [], {}, { event: { heartbeatSeq: 1 } }).says(WORKFLOW, attemptLost),
      'another worker`s is lost': () => again().says(WORKFLOW, LOST).says(OTHER, LOST),
      'all are lost by one heartbeat': () => beats(health(), 5_000, ['w1#1']).says(WORKFLOW, LOST),
    },
  });
});

describe('workflows', () => {
  const slot = { workerId: 'W', registration: 1, bootEpoch: 7, cores: 1 };
  const running = { jobId: 'j1', workflowId: 'w1', slot } as unknown as WorkflowContext;
  const workflow = () => new Tale(WORKFLOW, running, 'RUNNING').turn(5, { type: 'slot.granted' });
  const told = () => again().says(WORKFLOW, LOST);
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
