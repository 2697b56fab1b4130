/** Remains of a job that has ended. */

import { describe, expect, test } from 'vitest';
import { Table } from '../../../runtime/machine.ts';
import type { HistoryFact } from '../../../simulator/history/history.ts';
import {
  nothingFiresAfterTheEnd,
  tracksNothingAgain,
} from '../../../simulator/jobs/invariants/cleanup.ts';
import { leavesNothing } from '../../../simulator/jobs/invariants/leftovers.ts';
import { deadlinesOf } from '../../../simulator/jobs/invariants/reading-timers.ts';
import { actor, commit, record, turn } from './builders.ts';
import { G1, gate } from './gate-tale.ts';
import { accepted, type Circumstances, ended, JOB, moment, TIMER } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const ENDING = { state: 'ending' };
const over = (how: Circumstances = ENDING) =>
  accepted().turn(60_001, TIMER, ended(moment(60_001), 'timedOut', 'overall'), how);
const change = { type: 'workflow.changed', workflowId: 'w1', state: 'CANCELLED', final: true };
const REPORT = { type: 'xstate.after.reportInterval' };

describe('nothing fires', () => {
  const outcome = { outcome: { status: 'completed', reason: null, at: moment(1_000) } as never };
  const settled = () =>
    gate().turn(1_000, { type: 'final.reported' }, outcome, { ...G1, state: 'settled' });
  testVerdicts(nothingFiresAfterTheEnd, {
    good: {
      'it winds up': () => over().turn(60_050, change).add(actor(JOB, 'done')),
      'a gate lingers': () =>
        settled().turn(61_002, { type: 'xstate.after.lingerLimit.gateJob.settled' }, {}, G1),
      'the same name again': () =>
        over()
          .add(actor(JOB, 'done'))
          .add(actor(JOB, 'born'))
          .turn(70_000, { type: 'escapement.spawn' }, { endedAt: null })
          .turn(80_000, REPORT),
      'another life that nobody saw begin': () =>
        over().add(
          turn('submission-page/j1/d/1@gate-1', { turn: 2 }),
          actor('submission-page/j1/d/1@gate-1', 'done'),
          turn('submission-page/j1/d/1@gate-1', { turn: 4 }),
        ),
    },
    bad: {
      'a deadline comes': () => over().turn(70_000, REPORT),
      'a deadline comes, and nobody saw the end': () =>
        over({ ...ENDING, isUnseen: true }).turn(70_000, REPORT),
      'a deadline comes at the gate': () =>
        settled().turn(61_002, { type: 'xstate.after.settleLimit.gateJob.declaring' }, {}, G1),
      'something comes after its end': () => over().add(actor(JOB, 'done')).turn(70_000, change),
      'any actor takes something after its end': () =>
        over().add(
          turn('workflow/j1/w1@A', { turn: 4 }),
          actor('workflow/j1/w1@A', 'done'),
          turn('workflow/j1/w1@A', { turn: 5 }),
        ),
    },
  });
});

describe('nothing is tracked again', () => {
  testVerdicts(tracksNothingAgain, {
    good: {
      'late comers': () =>
        over().turn(60_050, change).waits().turn(61_000, { type: 'job.extend' }).waits(),
    },
    bad: {
      'a deadline is armed': () => over().turn(60_050, change).waits('overallLimit.job.active'),
      'it is tracked': () =>
        over().turn(61_000, { type: 'job.extend' }, {}, { state: '{"active":{}}' }),
      'the end changes': () => over().turn(61_000, change, { status: 'completed', reason: null }),
    },
  });
});

describe('nothing is left', () => {
  const WORKFLOW = 'workflow/j1/w1@A';
  const stored = (address: string, parts: object) =>
    commit('A', 1, { [address]: record(9, { ...parts }) });
  const quiet = (...facts: readonly HistoryFact[]) => ({
    told: () => {
      const told = over().add(
        stored(JOB, { status: 'done' }),
        stored(WORKFLOW, { status: 'done' }),
      );
      return told.add(...facts);
    },
    endedAtMs: 1_000_000,
  });
  const health = (context: object) =>
    stored('worker-health/W@A', {
      snapshot: { value: '', context: { operations: {}, creditedJobs: [], ...context } },
    });
  const pool = (coresReserved: number, waiting: readonly object[] = []) =>
    stored('worker-pool/main@A', {
      snapshot: {
        value: '',
        context: { workers: { W: { coresReserved } }, lanes: { l: { waiting } } },
      },
    });
  const WORKER = 'worker/7@W';
  const worker = (attempts: Readonly<Record<string, object>>) =>
    turn(WORKER, { context: { datacenter: 'A', attempts: Table.of(attempts) } });
  const holding = worker({ 'j1/w1#1': {} });
  const facts = { places: { 'A.manager-1': 'A' }, core: ['A.manager-1'] };
  testVerdicts(leavesNothing, {
    good: {
      'all is done': quiet(health({}), pool(0), holding, worker({})),
      'its worker has ended': quiet(health({}), pool(0), holding, actor(WORKER, 'done')),
    },
    bad: {
      'the job is alive': quiet(stored(JOB, { status: 'active' })),
      'the job waits for something': quiet(stored(JOB, { status: 'done', timers: [['x', 1]] })),
      'the job has something to say': quiet(
        stored(JOB, { status: 'done', outbox: [[1, 'a', {}]] }),
      ),
      'a workflow is alive': quiet(stored(WORKFLOW, {})),
      'a worker has an attempt of it': quiet(health({ operations: { 'j1/w1#1': {} } })),
      'a worker knows it for credit': quiet(health({ creditedJobs: ['j1'] })),
      'cores are reserved': quiet(pool(1)),
      'a request of it waits': quiet(pool(0, [{ jobId: 'j1' }])),
      'a worker holds an attempt of it': {
        ...quiet(holding),
        facts: {
          places: { ...facts.places, 'A.manager-1': 'A', W: 'W' },
          core: ['A.manager-1', 'W'],
        },
      },
      'it waits for what its state does not': quiet(
        turn('gate-job/j2@gate-1', { state: 'dispatching', context: { outcome: null } }),
        { type: 'timers', place: 'gate-1', address: 'gate-job/j2@gate-1', timers: [] },
      ),
    },
  });

  test('deadlines are those that the machines are drawn with', () => {
    const state =
      '{"trusted":{"hearing":{},"standing":"healthy","credit":"settled","contact":"heard"}}';
    const expected = 'xstate.after.deadlineLimit.workerHealth.trusted.contact.heard';
    expect([...(deadlinesOf('worker-health', state) ?? [])]).toEqual([expected]);
    expect(deadlinesOf('worker-health', '{"evicted":"silent"}')?.size).toBe(1);
    expect(deadlinesOf('desk', 'open')).toBeUndefined();
  });
});
