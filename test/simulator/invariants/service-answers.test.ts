/** Good and bad histories of what jobs services answer clients. */

import { describe, expect, test } from 'vitest';
import { answersAreTrue } from '../../../simulator/jobs/invariants/service-answers.ts';
import { commit, fault, history, howOften, turn, whatBroke } from './builders.ts';
import {
  answered,
  job,
  NODE,
  type Question,
  RECORDS,
  reply,
  shownWorkflow,
  stored,
  stuck,
  TAKEN_MS,
  taken,
  view,
  whole,
  worker,
  workers,
} from './service-tale.ts';
import { EPOCH, JOBS_FACTS } from './tale.ts';

const asked = (jobId = 'j1') => ({ type: 'job.asked', jobId, page: 1 });
const list = (filters: object = {}) => ({ type: 'jobs.asked', limit: 100, ...filters });
const stuckFor = (thresholdMs: number) => ({ type: 'stuckWorkflows.asked', thresholdMs, limit: 9 });
const progressOf = (workflowId?: string) => ({
  type: 'sinceProgress.asked',
  jobId: 'j1',
  workflowId,
});
const cancel = (jobId = 'j1') => ({ type: 'jobCancel.requested', jobId });
const extend = { type: 'jobExtend.requested', jobId: 'j1', requestId: 'r', byMs: 5, by: 'o' };
const listed = (...jobs: object[]) => ({ jobs, cursor: null });
const TRUE: ReadonlyArray<readonly [string, Question, unknown]> = [
  ['a view', asked(), { found: true, job: whole }],
  ['no job', asked('j2'), { found: false, job: null }],
  ['news', { type: 'job.watched', jobId: 'j1', seenSeq: 1 }, { found: true, job: view }],
  ['a list', list(), listed(view)],
  ['a list of a status', list({ status: 'completed' }), listed()],
  ['a list of what is due', list({ deadlineBeforeMs: 60_000 }), listed(view)],
  ['a list of what is stuck', list({ stuckForMs: 7_000 }), listed()],
  ['what is stuck', stuckFor(5_000), [stuck]],
  ['nothing that is stuck', stuckFor(6_000), []],
  ['the age of a job', progressOf(), 6_000],
  ['the age of a workflow', progressOf('w1'), 6_000],
  ['the age of nothing', progressOf('w2'), null],
  ['workers', { type: 'workers.asked', limit: 9 }, workers],
  ['a cancel of nothing', cancel('j2'), { accepted: false, reason: 'unknown' }],
  ['an extension of nothing', { ...extend, jobId: 'j2' }, { accepted: false, reason: 'unknown' }],
  [
    'a submission again',
    { type: 'job.submitted', jobId: 'j1' },
    { accepted: true, status: 'running' },
  ],
];

const FALSE: ReadonlyArray<readonly [string, Question, unknown, wrong: string]> = [
  [
    'another status',
    asked(),
    { job: { ...whole, status: 'completed' } },
    'status is "completed" and not "running"',
  ],
  [
    'a time that is over',
    asked(),
    { job: { ...whole, dueInMs: 0 } },
    'dueInMs is 0 and not "49000 to 50000"',
  ],
  ['an end that is none', asked(), { job: { ...whole, dueInMs: null } }, 'dueInMs is null'],
  ['no job', asked(), { found: false, job: null }, 'there is no job j1, and there is one'],
  [
    'a job that is none',
    asked('j2'),
    { job: { ...whole, jobId: 'j2' } },
    'there is nothing of the kind',
  ],
  ['no workflows', asked(), { job: view }, 'page 1 of 1 has the workflows  of w1'],
  [
    'another worker',
    asked(),
    { job: { ...view, workflows: [{ ...shownWorkflow, workerId: 'w-2' }] } },
    'workflow w1: workerId is "w-2" and not "w-1"',
  ],
  [
    'news that are none',
    { type: 'job.watched', jobId: 'j1' },
    { job: { ...view, seq: 3 } },
    'seq is 3 and not 2',
  ],
  ['a list without a job', list(), listed(), 'j1 is missing in the list of nothing'],
  ['a list without what is stuck', list({ stuckForMs: 5_000 }), listed(), 'j1 is missing'],
  ['a list without what is due', list({ deadlineBeforeMs: 60_000 }), listed(), 'j1 is missing'],
  [
    'a list with another status',
    list({ status: 'failed' }),
    listed(view),
    'j1 is none that was asked for',
  ],
  [
    'a list with what is not stuck',
    list({ stuckForMs: 6_000 }),
    listed(view),
    'j1 is none that was asked for',
  ],
  ['a list with a job twice', list(), listed(view, view), 'has a job twice'],
  [
    'a list that is too long',
    list({ limit: 1 }),
    listed(view, view),
    '2 jobs are more than were asked for',
  ],
  [
    'a list with a figure',
    list(),
    listed({ ...view, workflowsFailed: 1 }),
    'workflowsFailed is 1 and not 0',
  ],
  [
    'nothing that is stuck',
    stuckFor(5_000),
    [],
    'j1/w1 is stuck for more than 5000 ms and is missing',
  ],
  ['what is not stuck', stuckFor(6_000), [stuck], 'j1/w1 is not stuck for so long'],
  ['the wrong age', stuckFor(1), [{ ...stuck, sinceProgressMs: 10 }], 'sinceProgressMs is 10'],
  ['the age of a job', progressOf(), 60, 'sinceProgressMs is 60 and not "6000 to 7000"'],
  ['the age of a workflow', progressOf('w1'), 60, 'sinceProgressMs is 60'],
  ['no age', progressOf(), null, 'job/j1@A is not there, and is'],
  [
    'no worker',
    { type: 'workers.asked', limit: 9 },
    { ...workers, workers: [] },
    'the workers are  and not w-1',
  ],
  [
    'free cores',
    { type: 'workers.asked', limit: 9 },
    { ...workers, workers: [{ ...worker, freeCores: 4 }] },
    'w-1: freeCores is 4 and not 3',
  ],
  [
    'a cancel',
    cancel(),
    { accepted: true, reason: null },
    'the cancel is accepted, and the job is running',
  ],
  [
    'a late cancel',
    cancel(),
    { accepted: false, reason: 'alreadyFinal' },
    'the cancel is alreadyFinal',
  ],
  ['no job to cancel', cancel(), { accepted: false, reason: 'unknown' }, 'the cancel is unknown'],
  [
    'an extension',
    extend,
    { accepted: true, reason: null, extensionsMs: 5 },
    'the extension is accepted with 5 ms',
  ],
  [
    'a late extension',
    extend,
    { accepted: false, reason: 'alreadyReported' },
    'the extension is alreadyReported',
  ],
  [
    'a submission',
    { type: 'job.submitted', jobId: 'j2' },
    { accepted: true, status: 'running' },
    'the job is running, and the job is not there',
  ],
];

describe('TS-8', () => {
  test.each(TRUE)('holds: %s', (_, question, value) => {
    expect(whatBroke(answersAreTrue, answered(question, value), JOBS_FACTS)).toEqual([]);
    expect(howOften(answersAreTrue, answered(question, value), JOBS_FACTS)).toBe(1);
  });

  test.each(FALSE)('is broken: %s', (_, question, value, wrong) => {
    const broken = whatBroke(answersAreTrue, answered(question, value), JOBS_FACTS);
    expect(broken).toEqual([expect.stringContaining(wrong)]);
  });

  test('holds: what was true when the jobs service looked, and is not any more', () => {
    const later = { ...job, seq: 3, status: 'cancelled', endedAt: EPOCH + TAKEN_MS };
    const told = (value: unknown) =>
      history()
        .at(1_000)
        .add(NODE, commit('A', 1, RECORDS))
        .at(TAKEN_MS)
        .add(NODE, taken(asked()))
        .at(TAKEN_MS + 5)
        .add(NODE, commit('A', 1, { 'job/j1@A': stored('cancelled', later) }))
        .add(NODE, reply({ value }));
    expect(whatBroke(answersAreTrue, told({ job: whole }), JOBS_FACTS)).toEqual([]);
    const ended = { ...whole, seq: 3, status: 'cancelled', dueInMs: null };
    expect(whatBroke(answersAreTrue, told({ job: ended }), JOBS_FACTS)).toEqual([]);
    const neither = { ...ended, seq: 4 };
    expect(whatBroke(answersAreTrue, told({ job: neither }), JOBS_FACTS)).toHaveLength(1);
  });

  test('holds: what was true until the turn of a commit was shown, by a node that stalls', () => {
    const later = { ...job, seq: 3, status: 'cancelled', endedAt: EPOCH + TAKEN_MS };
    const cancelled = commit('A', 1, { 'job/j1@A': stored('cancelled', later) });
    const stalled = (isShown: boolean) =>
      history()
        .at(1_000)
        .add(NODE, commit('A', 1, RECORDS), turn('job/j1@A', { state: 'active', context: job }))
        .at(TAKEN_MS - 300)
        .add(NODE, cancelled)
        .at(TAKEN_MS - 100)
        .add(NODE, ...(isShown ? [turn('job/j1@A', { state: 'cancelled', context: later })] : []))
        .at(TAKEN_MS)
        .add(NODE, taken(asked()), reply({ value: { job: whole } }));
    expect(whatBroke(answersAreTrue, stalled(false), JOBS_FACTS)).toEqual([]);
    expect(whatBroke(answersAreTrue, stalled(true), JOBS_FACTS)).toHaveLength(1);
  });

  test('holds: what was true between two turns of one commit', () => {
    const later = { ...job, seq: 3, status: 'cancelled', endedAt: EPOCH + TAKEN_MS };
    const between = (context: object) =>
      history()
        .at(1_000)
        .add(NODE, commit('A', 1, { ...RECORDS, 'job/j1@A': stored('active', { ...job, seq: 1 }) }))
        .at(TAKEN_MS)
        .add(NODE, commit('A', 1, { 'job/j1@A': stored('cancelled', later) }))
        .add(NODE, turn('job/j1@A', { state: 'active', context }))
        .add(NODE, taken(asked()), reply({ value: { job: whole } }));
    expect(whatBroke(answersAreTrue, between(job), JOBS_FACTS)).toEqual([]);
    expect(whatBroke(answersAreTrue, between({ ...job, seq: 4 }), JOBS_FACTS)).toHaveLength(1);
  });

  test('judges nothing where another node leads, a disk was lost, or an error is the answer', () => {
    const wrong = { found: false, job: null };
    const deposed = history()
      .add(NODE, commit('A', 1, RECORDS))
      .add(NODE, taken(asked()))
      .add('A.manager-2', commit('A', 2, RECORDS))
      .add(NODE, reply({ value: wrong }));
    const lost = history()
      .add(NODE, commit('A', 1, RECORDS))
      .add('', fault('diskLost', { place: 'A' }), fault('diskLost', {}, 'ended'))
      .add(NODE, taken(asked()), reply({ value: wrong }));
    const refused = history()
      .add(NODE, commit('A', 1, RECORDS))
      .add(NODE, taken(asked()), reply({ error: { code: 'ASK_LOST' } }));
    for (const story of [deposed, lost, refused]) {
      expect(whatBroke(answersAreTrue, story, JOBS_FACTS)).toEqual([]);
      expect(howOften(answersAreTrue, story, JOBS_FACTS)).toBe(0);
    }
  });
});

test('an answer to a copy of what was refused is not judged: the performer of the first one may give it', () => {
  const tale = (isRefused: boolean) =>
    history()
      .at(1_000)
      .add(NODE, commit('A', 1, RECORDS))
      .at(TAKEN_MS)
      .add(NODE, taken(asked()), ...(isRefused ? [reply({ error: { code: 'ASK_LOST' } })] : []))
      .add(
        NODE,
        taken(asked()),
        reply({ value: { found: true, job: { ...whole, elapsedMs: 9 } } }),
      );
  expect(whatBroke(answersAreTrue, tale(true), JOBS_FACTS)).toEqual([]);
  expect(whatBroke(answersAreTrue, tale(false), JOBS_FACTS)).toHaveLength(1);
});

test('a copy of a submission may have the answer that was given, and no other that is false', () => {
  const submission = { type: 'job.submitted', jobId: 'j1' } as const;
  const later = { ...job, seq: 3, status: 'cancelled', endedAt: EPOCH + TAKEN_MS };
  const tale = (again: string) =>
    history()
      .at(1_000)
      .add(NODE, commit('A', 1, RECORDS))
      .at(TAKEN_MS)
      .add(NODE, taken(submission), reply({ value: { accepted: true, status: 'running' } }))
      .at(TAKEN_MS + 5)
      .add(NODE, commit('A', 1, { 'job/j1@A': stored('cancelled', later) }))
      .at(TAKEN_MS + 50)
      .add(NODE, taken(submission), reply({ value: { accepted: true, status: again } }));
  expect(whatBroke(answersAreTrue, tale('running'), JOBS_FACTS)).toEqual([]);
  expect(whatBroke(answersAreTrue, tale('submitted'), JOBS_FACTS)).toHaveLength(1);
});
