/**
 * Admission at a gate: who may say what to it, and what it makes of a datacenter that knows more than it
 * does.
 */

import { describe, expect, test } from 'vitest';
import { admitNobody, admitToGateJob } from '../../../programs/jobs/gate/admission.ts';
import { FIGURES as BEGUN } from '../figures.ts';
import { GateStage, LOST } from './stand-ins.ts';

const FIGURES = { ...BEGUN, elapsedMs: 5_000, targetDatacenters: ['A', 'B'] };
const ORIGIN = { jobId: 'j1', datacenter: 'A', managerId: 'A.manager-1', leaderFence: 1 };
const REPORT = {
  type: 'timeout.reported',
  ...ORIGIN,
  figures: FIGURES,
  reason: 'stuck',
  detail: '',
  sinceDetectedMs: 0,
};
const SPAWN_INPUT = {
  jobId: 'j1',
  gateId: 'gate-1',
  rebuiltFrom: {
    ...ORIGIN,
    figures: FIGURES,
    terms: { timeoutMs: 600_000, datacenterTimeoutQuorum: 'all' },
    digest: 'd1',
    workflowsTotal: 1,
    highestDecisionEpoch: [1, 0],
  },
};
const spawn = (input: unknown) => ({ type: 'escapement.spawn', input });

const admit = admitToGateJob(new Set(['A', 'B']), 'gate-1');
const refusal = (event: object, from = 'job/j1@A', to = 'gate-job/j1@gate-1') =>
  admit({ to, from, event: event as { type: string } });

describe('a job at a gate', () => {
  test('hears the same job of its datacenters', () => {
    expect(refusal(REPORT)).toBe(undefined);
    expect(refusal(spawn(SPAWN_INPUT))).toBe(undefined);
  });

  test.each([
    ['a place that is no datacenter of the gate', REPORT, 'job/j1@Z'],
    ['another job', REPORT, 'job/j2@A'],
    ['something that is no job', REPORT, 'workflow/j1@A'],
    ['code of another node', REPORT, 'session:1@A'],
    ['nobody', REPORT, ''],
    ['a datacenter that speaks for another one', { ...REPORT, datacenter: 'B' }, 'job/j1@A'],
    ['a job that speaks for another one', { ...REPORT, jobId: 'j2' }, 'job/j1@A'],
    ['a report without figures', { ...REPORT, figures: undefined }, 'job/j1@A'],
    ['a fence that is none', { ...REPORT, leaderFence: 0 }, 'job/j1@A'],
    ['a fence that is no number', { ...REPORT, leaderFence: Number.NaN }, 'job/j1@A'],
    ['a field that nobody knows', { ...REPORT, extra: 1 }, 'job/j1@A'],
    [
      'a cancel from elsewhere',
      { type: 'cancel.requested', jobId: 'j1', datacenter: 'A' },
      'job/j1@A',
    ],
    [
      'what only the program says',
      { type: 'status.found', datacenter: 'A', found: null },
      'job/j1@A',
    ],
    ['rules from elsewhere', { type: 'rules.given', rules: {}, fence: 9 }, 'job/j1@A'],
    ['a name of every object', { type: 'constructor' }, 'job/j1@A'],
    ['a birth without a job', spawn(undefined), 'job/j1@A'],
    ['a birth for another gate', spawn({ ...SPAWN_INPUT, gateId: 'gate-2' }), 'job/j1@A'],
    ['a birth for another job', spawn({ ...SPAWN_INPUT, jobId: 'j2' }), 'job/j1@A'],
    [
      'a birth of another datacenter',
      spawn({ ...SPAWN_INPUT, rebuiltFrom: { ...SPAWN_INPUT.rebuiltFrom, datacenter: 'B' } }),
      'job/j1@A',
    ],
  ])('does not hear %s', (_, event, from) => {
    expect(refusal(event, from)).toEqual(expect.any(String));
  });

  test('pages of submissions hear nobody', () => {
    const event = { type: 'page.dropped' };
    expect(admitNobody({ to: 'submission-page/j1/d/1@gate-1', from: 'job/j1@A', event })).toEqual(
      expect.any(String),
    );
  });
});

describe('a gate without its data', () => {
  test('is given a job by a datacenter that runs it, goes by its own rules, and knows the submission', async () => {
    const stage = new GateStage({ settleLimitMs: 7_000 });
    await stage.open('A');
    await stage.open('B');
    await stage.start();
    await stage.say('A', 'gate-job/j1@gate-1', spawn(SPAWN_INPUT));
    await stage.say('A', 'gate-job/j1@gate-1', REPORT);
    const { context, value } = stage.job().getSnapshot();
    expect(value).toMatchObject({ recovering: 'listening' });
    expect(context).toMatchObject({
      gateBoot: 1,
      digest: 'd1',
      rules: { quorum: 'all', settleLimitMs: 7_000 },
      datacenters: { A: { run: 'reported', report: 'stuck' }, B: { run: 'running' } },
    });
    const client = await stage.connect();
    const other = { jobId: 'j1', timeoutMs: 1, workflows: [{ id: 'w1', handler: 'h' }] };
    expect(await stage.during(client.submit(other))).toMatchObject({ reason: 'conflict' });
  });

  test('is given it once', async () => {
    const stage = new GateStage();
    await stage.open('A');
    await stage.open('B');
    await stage.start();
    await stage.say('A', 'gate-job/j1@gate-1', spawn(SPAWN_INPUT));
    const fromB = {
      ...SPAWN_INPUT,
      rebuiltFrom: { ...SPAWN_INPUT.rebuiltFrom, datacenter: 'B', digest: 'd2' },
    };
    await stage.say('B', 'gate-job/j1@gate-1', spawn(fromB));
    expect(stage.job().getSnapshot().context.digest).toBe('d1');
  });

  test('is given nothing by anybody else', async () => {
    const stage = new GateStage();
    await stage.open('A');
    await stage.open('Z');
    await stage.start(['A']);
    await stage.say('Z', 'gate-job/j1@gate-1', spawn(SPAWN_INPUT));
    await stage.say('A', 'gate-job/j2@gate-1', spawn(SPAWN_INPUT));
    const { actors } = stage.gate.runtime.query({ kind: 'gate-job' });
    expect(actors).toEqual([]);
    expect(stage.gate.runtime.metrics().messagesRefused).toMatchObject({ SENDER_REFUSED: 2 });
  });
});

/** A gate whose only datacenter has ended the job j1, and answers a look at it as told. */
async function endedElsewhere(answer: unknown) {
  const stage = new GateStage();
  await stage.open('A', { submit: { accepted: true }, 'job.asked': answer });
  await stage.start(['A']);
  const client = await stage.connect();
  const workflows = [{ id: 'w1', handler: 'h' }];
  await stage.during(client.submit({ jobId: 'j1', timeoutMs: 100_000, workflows }));
  await stage.until(1);
  const job = await stage.datacenter('A').runtime.spawn('job/j1');
  await job.send({ type: 'end' } as never);
  return stage;
}

const THERE = { status: 'completed', reason: null, localReason: null, gateReason: null };
const FOUND = { ...THERE, leaderFence: 1, workflowsCompleted: 1, workflowsFailed: 0 };
const ANSWER = { found: true, job: FOUND };

test('a decision to a job that has ended is followed by a look at the jobs service there', async () => {
  const stage = await endedElsewhere(ANSWER);
  await stage.until(101);
  expect(stage.job().getSnapshot().context.outcome).toMatchObject({
    status: 'completed',
    unconfirmed: [],
  });
  expect(stage.notes.filter(({ event }) => event === 'timeout.declared')).toHaveLength(1);
});

test('an answer of the jobs service that gets lost costs seconds, and not all the patience', async () => {
  const stage = await endedElsewhere(LOST);
  await stage.until(102);
  expect(stage.job().getSnapshot().context.outcome).toBeNull();
  stage.datacenter('A').script = { 'job.asked': ANSWER };
  await stage.until(107);
  expect(stage.job().getSnapshot().context.outcome).toMatchObject({ status: 'completed' });
});
