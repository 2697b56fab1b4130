/** Edges of agent runs that chance seldom takes: commands, quotas and answers in states that cannot use them at once. */

import { afterEach, expect, test } from 'vitest';
import type { RunRules } from '../../../machines/agents/orchestration.ts';
import type { HumanAnswer } from '../../../machines/agents/task/context.ts';
import { DrivenRun, RULES } from './driven-run.ts';

const opened: DrivenRun[] = [];
const open = async (rules: Partial<RunRules> = {}, ...tasks: readonly string[]) => {
  const run = await new DrivenRun(
    { ...RULES, ...rules },
    tasks.length === 0 ? ['t', 'u'] : tasks,
  ).open();
  opened.push(run);
  return run;
};
afterEach(() => Promise.all(opened.splice(0).map(({ rt }) => rt.stop())));

const quota = (resetsInMs: number) => ({ type: 'quota.exhausted', resetsInMs });
const low = (kind: 'context' | 'session') => ({
  type: 'usage.reported',
  kind,
  remainingPercent: 5,
  amounts: {},
});
const done = { type: 'result.reported', result: null };
const exited = {
  ...{ type: 'process.exited', exitCode: 0, signal: null, strayLines: 0 },
  ...{ isEmpty: true, isClean: true },
};
const finish = async (run: DrivenRun, attempt: string) => {
  await run.agent(attempt, done);
  await run.agent(attempt, exited);
};

test('a drain that comes while the context is compacted is kept, and the hook is ended', async () => {
  const run = await open({ slots: 1 });
  await run.work('t/1');
  await run.run(low('context'));
  await run.run({ type: 'run.drain' });
  expect(run.state).toEqual({ compacting: 'collecting' });
  await run.rt.advance(1_500);
  expect([run.state, run.hooks]).toEqual(['finishing', ['begun', 'ended']]);
  await finish(run, 't/1');
  expect([run.state, run.started]).toEqual(['stopped', ['t#1']]);
  await run.begin();
  expect(run.started).toEqual(['t#1', 'u#1']);
});

test('a drain ends a pause, and a pause stops what a drain waits for', async () => {
  const run = await open();
  await run.work('t/1', 'u/1');
  await run.run({ type: 'run.drain' });
  expect(run.state).toBe('finishing');
  await run.run({ type: 'session.pause' });
  await run.rt.advance(2_000);
  expect(run.state).toBe('stopped');
  expect(run.eventsOf('session_paused')).toHaveLength(1);
  const again = await open();
  await again.run({ type: 'session.pause' });
  await again.rt.advance(2_000);
  expect(again.state).toBe('paused');
  await again.run({ type: 'run.drain' });
  expect(again.state).toBe('stopped');
});

test('a run that drains ends where only questions are left and it shall not wait', async () => {
  const run = await open({ slots: 1 });
  await run.begin(true);
  await run.work('t/1');
  const asked = { question: 'q', options: null, context: null, allow: null };
  await run.agent('t/1', { type: 'question.asked', requestId: 'a', ...asked });
  await run.run({ type: 'run.drain' });
  await run.rt.advance(500);
  expect(run.state).toBe('blocked');
  expect(run.eventsOf('run_blocked')).toHaveLength(1);
});

test.each(['run.drain', 'session.pause'])('%s leaves the wait for a quota', async (type) => {
  const run = await open();
  await run.work('t/1', 'u/1');
  await run.agent('t/1', quota(60_000));
  await run.rt.advance(500);
  expect(run.state).toEqual({ quota: 'waiting' });
  await run.run({ type });
  await run.rt.advance(10);
  expect(run.state).toBe(type === 'run.drain' ? 'stopped' : 'paused');
  // The quota is waited for by whatever goes on.
  await (type === 'run.drain' ? run.begin() : run.run({ type: 'session.resumed' }));
  expect([run.state, run.started]).toEqual([{ quota: 'waiting' }, ['t#1', 'u#1']]);
  await run.rt.advance(60_000);
  expect(run.started).toEqual(['t#1', 'u#1', 't#2']);
});

test('a quota is waited for across a restart, then one attempt tries, and by its end all go on', async () => {
  const run = await open();
  await run.work('t/1', 'u/1');
  await run.agent('u/1', quota(60_000));
  await run.rt.advance(500);
  await run.rt.crash();
  await run.begin();
  await run.rt.advance(10);
  expect(run.state).toEqual({ quota: 'waiting' });
  await run.rt.advance(60_000);
  expect(run.started.slice(2)).toEqual(['t#2']);
  await run.work('t/2');
  await finish(run, 't/2');
  expect([run.state, run.started.at(-1)]).toEqual(['running', 'u#2']);
});

test('a probe that asks a human shows that the quota is there', async () => {
  const run = await open();
  await run.work('t/1', 'u/1');
  await run.agent('t/1', quota(100));
  await run.rt.advance(500);
  await run.work('t/2');
  const asked = { question: 'q', options: null, context: null, allow: null };
  await run.agent('t/2', { type: 'question.asked', requestId: 'a', ...asked });
  expect([run.state, run.started.slice(2)]).toEqual(['running', ['t#2', 'u#2']]);
});

test('a quota that is used up during a compaction is kept, and so is one of an expert', async () => {
  const run = await open();
  await run.work('t/1', 'u/1');
  await run.run(low('context'));
  await run.agent('t/1', quota(60_000));
  await run.rt.advance(2_000);
  expect(run.state).toEqual({ quota: 'waiting' });
  const other = await open();
  await other.work('t/1', 'u/1');
  const asked = { requestId: 'd', expert: 'sql', prompt: 'p', data: null };
  await other.agent('t/1', { type: 'delegation.requested', ...asked });
  const expert = 'delegation/r/t/1.e1';
  await other.tell(expert, { type: 'process.started', group: 1, startTicks: null });
  await other.tell(expert, quota(60_000));
  await other.rt.advance(500);
  expect(other.state).toEqual({ quota: 'waiting' });
  expect(other.eventsOf('agent_ended').map(({ outcome }) => outcome)).toEqual(['killed', 'killed']);
});

test('quotas that are there again at once pause for the least time', async () => {
  const run = await open({ quotaPauseMinMs: 5_000 }, 't');
  await run.work('t/1');
  await run.agent('t/1', quota(0));
  await run.rt.advance(4_900);
  expect(run.started).toEqual(['t#1']);
  await run.rt.advance(200);
  expect(run.started).toEqual(['t#1', 't#2']);
});

test('an answer that its task cannot use is told, and the question asked again', async () => {
  const run = await open({}, 't');
  await run.work('t/1');
  await run.rt.advance(11_000);
  const said: HumanAnswer = { key: 'increase', answer: null, timeoutMs: 500, parts: [] };
  await run.run({ type: 'question.answered', questionId: 'r-q1', said });
  expect(run.eventsOf('answer_refused')).toMatchObject([{ answer: 'increase', level: 'warn' }]);
  expect(run.eventsOf('question_asked').map((each) => each.question_id)).toEqual(['r-q1', 'r-q2']);
  const skip = { ...said, key: 'skip' as const };
  await run.run({ type: 'question.answered', questionId: 'r-q2', said: skip });
  expect(run.state).toBe('finished');
});

test('a start of which nothing is heard is given up, of an attempt and of an expert', async () => {
  const run = await open({}, 't');
  await run.rt.advance(31_000);
  expect(run.eventsOf('agent_ended')).toMatchObject([{ outcome: 'failed', reason: 'spawn' }]);
  await run.work('t/2');
  const asked = { requestId: 'd', expert: 'sql', prompt: 'p', data: null };
  await run.agent('t/2', { type: 'delegation.requested', ...asked });
  await run.rt.advance(31_000);
  expect(run.eventsOf('delegation_unsuccessful')).toMatchObject([{ reason: 'failed' }]);
});

test('what an expert uses counts for the task that asked, once', async () => {
  const budget = { attempt: { ...RULES.task.attempt, budget: { tokens: 10 } } };
  const run = await open({ task: { ...RULES.task, ...budget } }, 't');
  await run.work('t/1');
  await run.agent('t/1', {
    ...{ type: 'delegation.requested', requestId: 'd', expert: 'sql', prompt: 'p', data: null },
  });
  const expert = 'delegation/r/t/1.e1';
  await run.tell(expert, { type: 'process.started', group: 1, startTicks: null });
  const used = { kind: 'agent', remainingPercent: null, amounts: { tokens: 11 } };
  await run.tell(expert, { type: 'usage.reported', ...used });
  await run.tell(expert, done);
  await run.tell(expert, exited);
  expect(run.eventsOf('agent_over_budget')).toMatchObject([{ usage: { tokens: 11 } }]);
  const { context } = run.rt.actor('task/r/t').getSnapshot();
  expect([context.usage, context.history.get('0000000001')?.reason]).toEqual([
    { tokens: 11 },
    'budget',
  ]);
});

test('a second signal ends an attempt that is being started', async () => {
  const run = await open({}, 't');
  await run.run({ type: 'run.kill' });
  expect(run.state).toBe('stopped');
  expect(run.eventsOf('agent_ended')).toMatchObject([{ outcome: 'killed', reason: 'shutdown' }]);
  expect(run.eventsOf('grace_skipped')).toHaveLength(1);
});
