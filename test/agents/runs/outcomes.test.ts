/** Outcomes of tasks: experts, failures, protocols that are broken, the order of dispatch, compaction and pauses. */

import { expect } from 'vitest';
import { pauseRun } from '../../../programs/agents/pausing.ts';
import { eventually } from '../../kit/eventually.ts';
import {
  AGENT_TIMEOUT,
  CHECKPOINT_TIMEOUT,
  DELEGATION_TIMEOUT,
  LONG,
  outcomesOf,
  type Scene,
  standIn,
  stateOf,
  test,
} from './scene.ts';

const once = { TIMEOUT_ESCALATION: 1 };

const told = (scene: Scene, attemptId: string): string =>
  scene
    .read('told.log')
    .split('\n')
    .filter((line) => line.startsWith(`${attemptId} `))
    .join('\n');

test('9: a clock stands while an expert is at work', async ({ scene }) => {
  const run = scene.run({
    coder: 'delegate=sql answers',
    experts: { sql: 'doneWhen=go' },
    timeouts: { DELEGATION_TIMEOUT: LONG },
  });
  await scene.seen('delegation_started');
  scene.skip(2 * AGENT_TIMEOUT);
  scene.touch('go');
  const document = await run;
  expect(outcomesOf(document)).toEqual(['done']);
  expect(document.tasks[0]?.result).toMatchObject({ ok: true, answer: 'worked' });
  expect(scene.eventsOf('agent_ended')[0]?.active_ms).toBeLessThan(AGENT_TIMEOUT);
  expect(scene.eventsOf('agent_timeout')).toEqual([]);
  expect(scene.eventsOf('checkpoint_requested')).toEqual([]);
});

test('10: an expert that never answers is ended, and its asker is told', async ({ scene }) => {
  const run = scene.run({ coder: 'delegate=sql', experts: { sql: 'mute' } });
  await scene.seen('delegation_started');
  scene.skip(DELEGATION_TIMEOUT);
  const document = await run;
  expect(outcomesOf(document)).toEqual(['done']);
  expect(document.tasks[0]?.result).toMatchObject({ ok: false, reason: 'timedOut' });
});

test('11: experts have a queue, whose waiting counts for nobody', async ({ scene }) => {
  const run = scene.run({
    slots: 2,
    coder: 'delegate=sql',
    experts: { sql: 'doneWhen=go' },
    tasks: ['t', 'u'].map((id) => ({ id, prompt: 'p', agent: 'coder' })),
  });
  await scene.seen('delegation_queued', 2);
  await scene.seen('delegation_started', 1);
  // Nearly the limit of the first, and with what the second needs, more than it.
  scene.skip(DELEGATION_TIMEOUT - 60_000);
  scene.touch('go');
  const document = await run;
  expect(document.tasks.map(({ result }) => (result as { ok: boolean }).ok)).toEqual([true, true]);
  const [, second] = scene.eventsOf('delegation_started');
  const [first] = scene.eventsOf('delegation_answered');
  expect(second?.at).toBeGreaterThanOrEqual(first?.at ?? Number.POSITIVE_INFINITY);
});

test('an expert may not delegate, and an unknown one is refused at once', async ({ scene }) => {
  const document = await scene.run({
    slots: 2,
    agents: { lost: standIn('delegate=nobody') },
    coder: 'delegate=sql',
    experts: { sql: 'delegate=sql' },
    tasks: [
      { id: 't', prompt: 'p', agent: 'coder' },
      { id: 'u', prompt: 'p', agent: 'lost' },
    ],
  });
  expect(document.tasks.map(({ result }) => (result as { reason: string }).reason)).toEqual([
    'notAllowed',
    'unknownExpert',
  ]);
});

test('20: lines that mean nothing are counted and hurt nobody', async ({ scene }) => {
  const say =
    'process.stdout.write("hello\\n{bad\\n{\\"type\\":\\"nope\\"}\\n{\\"type\\":\\"done\\"}\\n")';
  const document = await scene.run({
    agents: { odd: [process.execPath, '-e', say] },
    tasks: [{ id: 't', prompt: 'p', agent: 'odd' }],
  });
  expect(outcomesOf(document)).toEqual(['done']);
  expect(scene.eventsOf('agent_ended')[0]).toMatchObject({ stray_lines: 1, malformed_lines: 2 });
  expect(scene.eventsOf('malformed_line')).toMatchObject([
    { line: 2, text: '"{bad"', why: 'it is no JSON' },
    { line: 3, why: 'there is no type "nope"' },
  ]);
});

test('21: too many of them end the attempt', async ({ scene }) => {
  const document = await scene.run({
    coder: 'print={bad times=21',
    options: { maxFailures: 1 },
  });
  expect(document.status).toBe('failed');
  expect(document.tasks[0]?.attempts[0]).toMatchObject({ outcome: 'failed', reason: 'protocol' });
});

test('a flood ends the attempt, and nobody else', async ({ scene }) => {
  const document = await scene.run({
    slots: 2,
    coder: 'flood=2000000',
    agents: { good: standIn('work=100') },
    options: { maxFailures: 1, maxOutputBytes: 1_000_000 },
    tasks: [
      { id: 't', prompt: 'p', agent: 'coder' },
      { id: 'u', prompt: 'p', agent: 'good' },
    ],
  });
  expect(document.tasks[0]?.attempts[0]).toMatchObject({ reason: 'outputLimit' });
  expect(stateOf(document, 'u')).toBe('done');
});

test('an exit without a result is a failure, and is tried again', async ({ scene }) => {
  const document = await scene.run({
    coder: 'exit=0',
    options: { maxFailures: 2 },
  });
  expect(outcomesOf(document)).toEqual(['failed', 'failed']);
  expect(document.tasks[0]).toMatchObject({ state: 'failed', failureCount: 2, timeoutCount: 0 });
});

test('22: what most wait for is dispatched first', async ({ scene }) => {
  await scene.run({
    coder: 'work=50',
    tasks: [
      { id: 'b', prompt: 'p', agent: 'coder' },
      { id: 'a', prompt: 'p', agent: 'coder' },
      { id: 'c', prompt: 'p', agent: 'coder', dependsOn: ['a'] },
      { id: 'd', prompt: 'p', agent: 'coder', dependsOn: ['a'] },
    ],
  });
  expect(scene.eventsOf('agent_started').map(({ task_id }) => task_id)).toEqual([
    'a',
    'b',
    'c',
    'd',
  ]);
});

test('23: a context that runs low is compacted once, with the checkpoints there are', async ({
  scene,
}) => {
  const script =
    'require("fs").appendFileSync("hook.log", require("fs").readFileSync(0, "utf8") + "\\n")';
  const run = scene.run({
    slots: 2,
    coder: 'answers usage kind=context percent=9 doneWhen=go',
    agents: { mute: standIn('mute') },
    options: { compactCommand: [process.execPath, '-e', script] },
    timeouts: { ...once, CHECKPOINT_INTERVAL: LONG },
    tasks: [
      { id: 'm', prompt: 'p', agent: 'mute' },
      { id: 't', prompt: 'p', agent: 'coder' },
    ],
  });
  await scene.seen('checkpoint_received');
  expect(scene.eventsOf('compaction_completed')).toEqual([]);
  scene.skip(CHECKPOINT_TIMEOUT);
  await scene.seen('compaction_completed');
  scene.touch('go');
  await scene.seen('task_done');
  scene.skip(AGENT_TIMEOUT);
  const document = await run;
  const hooks = scene.read('hook.log').trim().split('\n');
  expect(hooks).toHaveLength(1);
  expect(JSON.parse(hooks[0] ?? '{}')).toMatchObject({
    runId: 'demo',
    checkpoints: [{ taskId: 't', status: 'at 1' }],
  });
  expect(document.tasks[0]?.attempts[0]?.checkpointMisses).toBe(1);
  expect(scene.eventsOf('compaction_completed')).toHaveLength(1);
});

test('a hook that fails is told, and the run goes on', async ({ scene }) => {
  const run = scene.run({
    coder: 'answers usage kind=context percent=9 doneWhen=go',
    options: { compactCommand: ['false'] },
  });
  await scene.seen('compaction_failed');
  scene.touch('go');
  const document = await run;
  expect(document.status).toBe('completed');
  expect(scene.eventsOf('compaction_failed')[0]).toMatchObject({ level: 'warn' });
});

test('24: a session that runs low pauses the run, and it goes on with a new attempt', async ({
  scene,
}) => {
  const file = scene.write({
    coder: 'answers usage kind=session percent=10',
  });
  const paused = await scene.run(file);
  expect(paused.status).toBe('paused');
  expect(outcomesOf(paused)).toEqual(['killed']);
  expect(told(scene, 't#1')).toContain('stop pause');
  expect(scene.eventsOf('session_paused')).toMatchObject([{ cause: 'threshold' }]);
  expect((await scene.run(file)).status).toBe('paused');
  scene.write({ coder: 'work=100' });
  const document = await scene.run(file, { resume: true });
  expect(document.status).toBe('completed');
  expect(document.tasks[0]).toMatchObject({ timeoutCount: 0, failureCount: 0 });
  expect(outcomesOf(document)).toEqual(['killed', 'done']);
  expect(scene.assigned('t#2').lastCheckpoint).toMatchObject({ status: 'at 1' });
});

test('29: a pause by command is applied once', async ({ scene }) => {
  const file = scene.write({ coder: 'answers' });
  const run = scene.run(file);
  await eventually(() => expect(told(scene, 't#1')).toContain('assigned'));
  const first = await pauseRun(scene.data, 'demo');
  const second = await pauseRun(scene.data, 'demo');
  expect([first.refusal, second.refusal]).toEqual([null, null]);
  expect((await run).status).toBe('paused');
  expect(scene.eventsOf('session_paused')).toMatchObject([{ cause: 'command' }]);
  scene.write({ coder: 'work=100' });
  const document = await scene.run(file, { resume: true });
  expect(outcomesOf(document)).toEqual(['killed', 'done']);
  expect(scene.assigned('t#2').lastCheckpoint).toMatchObject({ status: 'at 1' });
  expect((await pauseRun(scene.data, 'demo')).refusal).toContain('finished');
  expect((await pauseRun(scene.data, 'other')).refusal).toContain('no run');
});

test('a quota that is used up pauses all, and one attempt tries again', async ({ scene }) => {
  const script =
    'const f=require("fs");if(!f.existsSync("q")){f.writeFileSync("q","");console.log(JSON.stringify({type:"quota",resetsInMs:300}));setTimeout(()=>process.exit(1),20)}else console.log(JSON.stringify({type:"done"}))';
  const document = await scene.run({
    agents: { coder: [process.execPath, '-e', script] },
  });
  expect(outcomesOf(document)).toEqual(['killed', 'done']);
  expect(document.tasks[0]).toMatchObject({ failureCount: 0, timeoutCount: 0 });
  expect(scene.eventsOf('quota_available')).toHaveLength(1);
});

test('a budget that is used up ends the attempt as a timeout does', async ({ scene }) => {
  const script =
    'console.log(JSON.stringify({type:"usage",kind:"agent",tokens:11}));setTimeout(()=>{},9999)';
  const document = await scene.run({
    agents: { coder: [process.execPath, '-e', script] },
    timeouts: once,
    rest: { budget: { task: { tokens: 10 } } },
  });
  expect(document.tasks[0]?.attempts[0]).toMatchObject({ outcome: 'timedOut', reason: 'budget' });
  expect(document.tasks[0]?.question?.kind).toBe('escalation');
});
