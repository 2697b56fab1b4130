/** Questions to a human, answers, and runs that are killed and go on. */

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openLmdbData } from '../../../cli/loaders/lmdb-data.ts';
import type { RunOptions } from '../../../programs/agents/index.ts';
import { openStoredData } from '../../../programs/agents/stored-runs.ts';
import { escapement } from '../../cli/command-line.ts';
import { compiledProgram } from '../../kit/compiled.ts';
import { eventually } from '../../kit/eventually.ts';
import { AGENT_TIMEOUT, LONG, outcomesOf, type Scene, standIn, stateOf, test } from './scene.ts';

const quick = { AGENT_TIMEOUT: 150, TIMEOUT_ESCALATION: 3 };
const ROOT = join(import.meta.dirname, '../../..');

/** A run in a process of its own, which can be killed. */
function runApart(scene: Scene, file: string): ChildProcess {
  const args = [compiledProgram('test/crash/agents-victim.ts'), file, scene.data, 'waits'];
  return spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
}

const killed = (child: ChildProcess): Promise<unknown> => {
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  return exit;
};

test('12: an answer of a human has no limit', async ({ scene }) => {
  const run = scene.run({ coder: 'ask=which' }, { exitWhenBlocked: false });
  await scene.seen('question_asked');
  scene.skip(1_000 * AGENT_TIMEOUT);
  // What was due is decided before anything that comes later.
  expect(await scene.answer({ questionId: 'demo-q1', answer: 'this one' })).toEqual({
    refusal: null,
  });
  const document = await run;
  expect(outcomesOf(document)).toEqual(['done']);
  expect(document.tasks[0]?.result).toBe('this one');
  const [{ at: begunAt } = { at: 0 }] = scene.eventsOf('agent_started');
  const [ended] = scene.eventsOf('agent_ended');
  expect((ended?.at ?? 0) - begunAt).toBeGreaterThan(1_000 * AGENT_TIMEOUT);
  expect(ended?.active_ms).toBeLessThan(AGENT_TIMEOUT);
  expect(scene.eventsOf('agent_timeout')).toEqual([]);
  expect(scene.eventsOf('checkpoint_requested')).toEqual([]);
});

test('a question that comes twice is asked once', async ({ scene }) => {
  const document = await scene.run({ coder: 'ask=which twice' });
  expect(document.status).toBe('blocked');
  expect(scene.eventsOf('question_asked')).toHaveLength(1);
  expect(outcomesOf(document)).toEqual(['killed']);
  expect(stateOf(document)).toBe('awaitingHuman');
  await scene.answer({ questionId: 'demo-q1', answer: 'so' });
  const after = await scene.run(scene.path('plan.yml'));
  expect(after.tasks[0]?.result).toEqual([{ question: 'which', answer: 'so' }]);
});

test('13: an answer survives the process that asked', async ({ scene }) => {
  const file = scene.write({ coder: 'ask=which' });
  const child = runApart(scene, file);
  await eventually(async () => {
    const { stored, close } = await openStoredData(scene.data);
    const count = stored.run('demo')?.context.questions.size ?? 0;
    await close();
    expect(count).toBe(1);
  });
  await killed(child);
  expect(await scene.answer({ questionId: 'demo-q1', answer: 'utf8' })).toEqual({ refusal: null });
  const document = await scene.run(file);
  expect(outcomesOf(document)).toEqual(['killed', 'done']);
  expect(document.tasks[0]).toMatchObject({
    timeoutCount: 0,
    result: [{ question: 'which', answer: 'utf8' }],
  });
});

test('14: an attempt of a process that was killed is ended before the next', async ({ scene }) => {
  const file = scene.write({ coder: 'mute' });
  const child = runApart(scene, file);
  await eventually(() => expect(scene.read('told.log')).toContain('t#1 assigned'));
  await killed(child);
  scene.write({ coder: 'work=50' });
  const document = await scene.run(file);
  expect(outcomesOf(document)).toEqual(['killed', 'done']);
  expect(document.tasks[0]).toMatchObject({ timeoutCount: 0, failureCount: 0 });
  expect(document.tasks[0]?.attempts[0]?.reason).toBe('runtimeRestart');
});

test('15: a longer limit leads to one more attempt', async ({ scene }) => {
  const file = scene.write({ coder: 'work=700', timeouts: quick });
  await scene.run(file);
  const least = await scene.answer({ questionId: 'demo-q1', answer: 'increase', timeoutMs: 150 });
  expect(least.refusal).toContain('must be greater than 150');
  await scene.answer({ questionId: 'demo-q1', answer: '3', timeoutMs: 900_000 });
  const document = await scene.run(file);
  expect(outcomesOf(document)).toEqual(['timedOut', 'timedOut', 'timedOut', 'done']);
  expect(document.tasks[0]?.timeoutCount).toBe(0);
});

test('16: a clarification reaches the next attempt', async ({ scene }) => {
  const file = scene.write({ coder: 'mute', timeouts: quick });
  await scene.run(file);
  await scene.answer({ questionId: 'demo-q1', answer: 'clarify', texts: ['utf8'] });
  scene.write({ coder: 'work=50' });
  const document = await scene.run(file);
  expect(document.status).toBe('completed');
  expect(scene.assigned('t#4').clarifications).toEqual(['utf8']);
});

const withDependent = (coder: string, timeouts: object) => ({
  coder,
  agents: { worker: standIn('work=20') },
  timeouts,
  tasks: [
    { id: 't', prompt: 'p', agent: 'coder' },
    {
      id: 'u',
      prompt: 'p',
      agent: 'worker',
      dependsOn: ['t'],
      timeouts: { AGENT_TIMEOUT: 20_000 },
    },
  ],
});

test('17 and 19: a task that is skipped frees those that wait for it', async ({ scene }) => {
  const file = scene.write(withDependent('mute', quick));
  await scene.run(file);
  const answer = (said: string) => scene.answer({ questionId: 'demo-q1', answer: said });
  expect((await answer('maybe')).refusal).toContain('none of its options');
  expect((await answer('skip')).refusal).toBeNull();
  expect((await answer('skip')).refusal).toContain('answered before');
  const document = await scene.run(file);
  expect(document.status).toBe('completed');
  expect([stateOf(document), stateOf(document, 'u')]).toEqual(['skipped', 'done']);
  expect(scene.assigned('u#1').dependencies).toEqual([{ id: 't', state: 'skipped', result: null }]);
  expect(scene.eventsOf('question_answered')).toHaveLength(1);
});

test('18: a task that is split is replaced by its parts', async ({ scene }) => {
  const file = scene.write(withDependent('mute', quick));
  await scene.run(file);
  await scene.answer({ questionId: 'demo-q1', answer: '1', texts: ['a', 'b'] });
  scene.write(withDependent('work=20', {}));
  const document = await scene.run(file);
  expect(document.tasks.map(({ id, state }) => `${id} ${state}`)).toEqual([
    't replaced',
    't.1 done',
    't.2 done',
    'u done',
  ]);
  expect(scene.assigned('t.2#1').prompt).toBe('b');
});

test('27: a plan that cannot be run starts nothing', async ({ scene }) => {
  const tasks = [
    { id: 'a', prompt: 'p', agent: 'coder', dependsOn: ['b'] },
    { id: 'b', prompt: 'p', agent: 'coder', dependsOn: ['a'] },
  ];
  await expect(scene.run({ tasks })).rejects.toMatchObject({
    code: 'AGENT_PLAN_INVALID',
    message: expect.stringContaining('dependsOn cycle: a -> b -> a'),
  });
  expect(scene.read('told.log')).toBe('');
});

test('a task that was attempted cannot be changed, and a finished run is told again', async ({
  scene,
}) => {
  const file = scene.write({ coder: 'mute', timeouts: quick });
  await scene.run(file);
  scene.write({
    coder: 'mute',
    timeouts: quick,
    tasks: [{ id: 't', prompt: 'other', agent: 'coder' }],
  });
  await expect(scene.run(file)).rejects.toMatchObject({ code: 'AGENT_PLAN_INVALID' });
  scene.write({ coder: 'work=20' });
  await scene.answer({ questionId: 'demo-q1', answer: 'skip' });
  expect((await scene.run(file)).status).toBe('completed');
  expect(await scene.run(file)).toMatchObject({ runId: 'demo', status: 'completed' });
  const fresh = await scene.run(file, { isNew: true });
  expect(fresh).toMatchObject({ runId: 'demo~2', status: 'completed' });
  expect(outcomesOf(fresh)).toEqual(['done']);
});

test('an aborted run stops in order and goes on later', async ({ scene }) => {
  const file = scene.write({ coder: 'mute' });
  const stopping = new AbortController();
  const run = scene.run(file, { signal: stopping.signal });
  await eventually(() => expect(scene.read('told.log')).toContain('assigned'));
  stopping.abort();
  expect((await run).status).toBe('interrupted');
  expect(scene.read('told.log')).toContain('stop shutdown');
  scene.write({ coder: 'work=20' });
  expect(outcomesOf(await scene.run(file))).toEqual(['killed', 'done']);
});

test('a driver runs attempts in this process, with the limits of processes', async ({ scene }) => {
  const started: string[] = [];
  const drivers = {
    coder: {
      start: ({ attemptId }: { readonly attemptId: string }) => {
        started.push(attemptId);
        const { promise, resolve } = deferred();
        async function* lines() {
          yield { type: 'checkpoint', status: 'begun' };
          if (attemptId === 't#1') await promise;
          yield { type: 'done', result: attemptId };
          resolve();
        }
        return { send: () => {}, lines: lines(), stop: () => resolve(), ended: promise };
      },
    },
  };
  const run = scene.run({ timeouts: { CHECKPOINT_INTERVAL: LONG } }, { drivers });
  await scene.seen('checkpoint_received');
  scene.skip(AGENT_TIMEOUT);
  const document = await run;
  expect(outcomesOf(document)).toEqual(['timedOut', 'done']);
  expect(document.tasks[0]?.result).toBe('t#2');
  expect(started).toEqual(['t#1', 't#2']);
});

test('code that hosts a run says what is left of its session, and pauses it so', async ({
  scene,
}) => {
  const refused: unknown[] = [];
  const options: RunOptions = {
    onBegun: async ({ reportUsage }) => {
      await reportUsage({ sessionRemainingPercent: 101 }).catch((thrown) =>
        refused.push(thrown.code),
      );
      await reportUsage({ contextRemainingPercent: 50, sessionRemainingPercent: 5 });
    },
  };
  const file = scene.write({ coder: 'work=3000 answers' });
  expect((await scene.run(file, options)).status).toBe('paused');
  expect(refused).toEqual(['OPTION_INVALID']);
  expect(scene.eventsOf('session_paused')).toMatchObject([{ cause: 'threshold' }]);
});

test('timers of a run are listed under the kind agents', async ({ scene }) => {
  const file = scene.write({ coder: 'work=60000' });
  const stopping = new AbortController();
  const run = scene.run(file, { signal: stopping.signal });
  const from = { openStoredData: openLmdbData };
  const listed = async () => {
    const args = ['timers', '--kind', 'agents', '--from', join(scene.data, 'agents'), '--json'];
    return JSON.parse((await escapement(args, from)).out).timers;
  };
  await eventually(() => expect(scene.read('told.log')).toContain('assigned'));
  await eventually(async () =>
    expect(await listed()).toContainEqual(
      expect.objectContaining({ kind: 'agent', address: 'agent/demo/t/1@agents' }),
    ),
  );
  stopping.abort();
  await run;
  expect(await listed()).toEqual([]);
});

function deferred() {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
