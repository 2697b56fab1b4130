/** Limits of attempts: the clock, checkpoints, stalls, and what is left of an attempt after them. */

import { expect } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import {
  AGENT_TIMEOUT,
  CHECKPOINT_INTERVAL,
  CHECKPOINT_TIMEOUT,
  LONG,
  outcomesOf,
  type Scene,
  stateOf,
  test,
} from './scene.ts';

const once = { TIMEOUT_ESCALATION: 1 };
const silent = { CHECKPOINT_INTERVAL: LONG };
const BETWEEN = CHECKPOINT_INTERVAL - CHECKPOINT_TIMEOUT;

const missesOf = (scene: Scene) => scene.eventsOf('checkpoint_timeout');

/** A mute attempt misses what there is room for, and runs out of time. */
async function runOut(scene: Scene, timeouts: number): Promise<void> {
  await scene.miss();
  await scene.miss(BETWEEN);
  scene.skip(BETWEEN);
  await scene.seen('agent_timeout', timeouts);
}

test('1: an attempt that works is done', async ({ scene }) => {
  const document = await scene.run({ coder: 'work=200 answers' });
  expect(document).toMatchObject({ runId: 'demo', status: 'completed' });
  expect(outcomesOf(document)).toEqual(['done']);
  expect(document.tasks[0]).toMatchObject({ result: 'worked', question: null, timeoutCount: 0 });
});

test('2: a mute attempt runs out of time, with two misses', async ({ scene }) => {
  const run = scene.run({ coder: 'mute', timeouts: once });
  await scene.seen('agent_started');
  await runOut(scene, 1);
  const document = await run;
  expect(document.status).toBe('blocked');
  expect(outcomesOf(document)).toEqual(['timedOut']);
  expect(document.tasks[0]?.attempts[0]?.checkpointMisses).toBe(2);
  expect(scene.momentsOf('checkpoint_requested')).toHaveLength(2);
  const [first, second] = scene.momentsOf('checkpoint_timeout');
  expect(first).toBeGreaterThanOrEqual(CHECKPOINT_INTERVAL + CHECKPOINT_TIMEOUT);
  expect(second).toBeGreaterThanOrEqual(2 * CHECKPOINT_INTERVAL + CHECKPOINT_TIMEOUT);
  expect(scene.eventsOf('agent_timeout')[0]?.elapsed_ms).toBeGreaterThanOrEqual(AGENT_TIMEOUT);
});

test('3 and 30: three timeouts ask a human, once, with a warning for each miss', async ({
  scene,
}) => {
  const run = scene.run({ coder: 'mute' });
  for (const attempt of [1, 2, 3]) {
    await scene.seen('agent_started', attempt);
    await runOut(scene, attempt);
  }
  const document = await run;
  expect(outcomesOf(document)).toEqual(['timedOut', 'timedOut', 'timedOut']);
  expect(document.tasks[0]).toMatchObject({ state: 'awaitingHuman', timeoutCount: 3 });
  const { question } = document.tasks[0] ?? {};
  expect(question?.options).toHaveLength(4);
  expect(question?.text).toContain('has timed out 3 times. Possible causes');
  expect(question?.askedAtMs).toBeGreaterThan(0);
  expect(scene.eventsOf('question_asked')).toHaveLength(1);
  const misses = missesOf(scene);
  expect(misses.map((each) => each.checkpoint_count)).toEqual([1, 2, 1, 2, 1, 2]);
  expect(misses.every(({ level }) => level === 'warn')).toBe(true);
  expect(misses.every(({ message }) => String(message).startsWith('stalled agent? t#'))).toBe(true);
  expect(scene.eventsOf('task_repeated_timeout')).toMatchObject([
    { count: 3, action: 'divine_intervention' },
  ]);
});

test('4: three misses in a row are a stall', async ({ scene }) => {
  const run = scene.run({ coder: 'mute', timeouts: { ...once, AGENT_TIMEOUT: LONG } });
  await scene.seen('agent_started');
  await scene.miss();
  await scene.miss(BETWEEN);
  await scene.miss(BETWEEN);
  const document = await run;
  expect(outcomesOf(document)).toEqual(['stalled']);
  expect(document.tasks[0]).toMatchObject({ timeoutCount: 1, stallCount: 1 });
  expect(scene.momentsOf('agent_stalled')[0]).toBeGreaterThanOrEqual(
    3 * CHECKPOINT_INTERVAL + CHECKPOINT_TIMEOUT,
  );
  const names = scene.events.map(({ event }) => event);
  expect(names.indexOf('agent_stalled')).toBeLessThan(names.indexOf('stalled_agent_recovered'));
  expect(document.tasks[0]?.question?.text).toContain('1 times (1 of them stalls).');
});

test('5: an answer makes up for the misses before it', async ({ scene }) => {
  const coder = 'doneWhen=go answersOnly=2';
  const run = scene.run({ coder, timeouts: { AGENT_TIMEOUT: LONG } });
  await scene.seen('agent_started');
  await scene.miss();
  scene.skip(BETWEEN);
  await scene.seen('checkpoint_received');
  await scene.miss();
  await scene.miss(BETWEEN);
  scene.touch('go');
  const document = await run;
  expect(outcomesOf(document)).toEqual(['done']);
  expect(scene.eventsOf('agent_stalled')).toEqual([]);
  expect(missesOf(scene).map((each) => each.checkpoint_count)).toEqual([1, 1, 2]);
});

test('6: a late answer is kept and counts for nothing', async ({ scene }) => {
  const coder = 'doneWhen=go answersWhen=late-%';
  const run = scene.run({ coder, timeouts: { AGENT_TIMEOUT: LONG } });
  await scene.seen('agent_started');
  for (const number of [1, 2]) {
    await scene.miss(CHECKPOINT_INTERVAL);
    scene.touch(`late-${number}`);
    await scene.seen('checkpoint_late', number);
  }
  scene.touch('go');
  const document = await run;
  expect(outcomesOf(document)).toEqual(['done']);
  expect(document.tasks[0]?.attempts[0]?.checkpointMisses).toBe(2);
  expect(missesOf(scene).map((each) => each.checkpoint_count)).toEqual([1, 2]);
});

test('an answer that comes twice is one answer', async ({ scene }) => {
  const run = scene.run({ coder: 'doneWhen=go answers answersTwice' });
  await scene.told('assigned');
  scene.skip(CHECKPOINT_INTERVAL);
  await scene.seen('checkpoint_received', 2);
  scene.touch('go');
  expect((await run).tasks[0]?.attempts[0]?.checkpointMisses).toBe(0);
  expect(scene.eventsOf('checkpoint_late')).toEqual([]);
});

test('7: what ignores SIGTERM is killed after the grace', async ({ scene }) => {
  const terminationGraceMs = 600_000;
  const run = scene.run({
    coder: 'deaf',
    timeouts: { ...once, ...silent },
    options: { terminationGraceMs },
  });
  await scene.told('assigned');
  scene.skip(AGENT_TIMEOUT);
  await scene.told('stop timedOut');
  scene.skip(terminationGraceMs);
  expect(outcomesOf(await run)).toEqual(['timedOut']);
  const [timedOut = 0] = scene.momentsOf('agent_timeout');
  const [ended = 0] = scene.momentsOf('agent_ended');
  expect(ended - timedOut).toBeGreaterThanOrEqual(terminationGraceMs);
  expect(scene.eventsOf('agent_ended')[0]?.signal).toBe('SIGKILL');
});

test('8: a result after the timeout is discarded', async ({ scene }) => {
  const timeouts = { ...once, ...silent };
  const options = { terminationGraceMs: 600_000 };
  const run = scene.run({ coder: 'lateDone', timeouts, options });
  await scene.told('assigned');
  scene.skip(AGENT_TIMEOUT);
  const document = await run;
  expect(document.status).toBe('blocked');
  expect(outcomesOf(document)).toEqual(['timedOut']);
  expect(scene.eventsOf('late_result_discarded').length).toBeGreaterThanOrEqual(1);
  expect(scene.eventsOf('agent_ended')[0]?.signal).toBe('SIGTERM');
});

test('25: nothing of an attempt is left, wherever it went', async ({ scene }) => {
  const run = scene.run({ coder: 'mute child detached', timeouts: { ...once, ...silent } });
  await scene.told('assigned');
  expect(scene.processesLeft()).toHaveLength(3);
  scene.skip(AGENT_TIMEOUT);
  expect(outcomesOf(await run)).toEqual(['timedOut']);
  expect(scene.processesLeft()).toEqual([]);
});

test('28: a miss is asked again at once where that is wanted', async ({ scene }) => {
  const run = scene.run({ coder: 'mute', timeouts: once, options: { retryOnMiss: true } });
  await scene.seen('agent_started');
  await scene.miss();
  await scene.miss(0);
  await scene.miss(0);
  const document = await run;
  expect(outcomesOf(document)).toEqual(['stalled']);
  expect(scene.eventsOf('checkpoint_requested').map(({ reason }) => reason)).toEqual([
    'interval',
    'retry',
    'retry',
  ]);
  expect(scene.momentsOf('agent_stalled')[0]).toBeGreaterThanOrEqual(
    CHECKPOINT_INTERVAL + 3 * CHECKPOINT_TIMEOUT,
  );
});

test('an attempt that prints nothing for too long is ended, and any line moves that', async ({
  scene,
}) => {
  const IDLE_TIMEOUT = 8 * 60_000;
  const timeouts = { ...once, IDLE_TIMEOUT, AGENT_TIMEOUT: LONG };
  const quiet = scene.run({ coder: 'mute', timeouts: { ...timeouts, ...silent } });
  await scene.seen('agent_started');
  scene.skip(IDLE_TIMEOUT);
  expect((await quiet).tasks[0]?.attempts[0]).toMatchObject({
    outcome: 'timedOut',
    reason: 'idle',
  });
  const rest = { name: 'lively' };
  const lively = scene.run({ coder: 'doneWhen=go answers', timeouts, rest });
  // It says something every five minutes, for longer than it may be silent.
  for (const number of [1, 2, 3]) {
    await scene.seen('agent_started', 2);
    scene.skip(CHECKPOINT_INTERVAL);
    await scene.seen('checkpoint_received', number);
  }
  scene.touch('go');
  expect(outcomesOf(await lively)).toEqual(['done']);
});

test('26: a program that is not there fails for good', async ({ scene }) => {
  const document = await scene.run({
    agents: { nobody: ['no-such-binary'] },
    tasks: [
      { id: 't', prompt: 'p', agent: 'nobody' },
      { id: 'u', prompt: 'p', agent: 'coder', dependsOn: ['t'] },
    ],
  });
  expect(document.status).toBe('failed');
  expect(outcomesOf(document)).toEqual(['failed']);
  expect(stateOf(document, 'u')).toBe('unreachable');
});

test('a plain program is an agent without a line of glue', async ({ scene }) => {
  const document = await scene.run({
    agents: {
      coder: { command: ['sh', '-c', 'read line; echo "did: $line"'], protocol: 'plain' },
      other: {
        command: ['sh', '-c', 'echo "$0"', '{prompt}'],
        protocol: 'plain',
        prompt: 'argument',
      },
      bad: { command: ['sh', '-c', 'exit 3'], protocol: 'plain' },
    },
    options: { maxFailures: 1 },
    tasks: [
      { id: 't', prompt: 'do it', agent: 'coder' },
      { id: 'u', prompt: 'and that', agent: 'other' },
      { id: 'v', prompt: 'no', agent: 'bad' },
    ],
  });
  expect(document.tasks.map(({ state, result }) => [state, result])).toEqual([
    ['done', 'did: do it'],
    ['done', 'and that'],
    ['failed', null],
  ]);
});

test('a plain program answers a request by touching its file', async ({ scene }) => {
  const script = 'while :; do echo "still on it" > "$ESCAPEMENT_CHECKPOINT_FILE"; sleep 0.05; done';
  const run = scene.run({
    agents: { coder: { command: ['sh', '-c', script], protocol: 'plain', checkpoints: 'file' } },
    timeouts: once,
  });
  await scene.seen('agent_started');
  for (const number of [1, 2]) {
    scene.skip(CHECKPOINT_INTERVAL);
    await eventually(() => expect(answered(scene)).toHaveLength(number));
  }
  scene.skip(CHECKPOINT_INTERVAL);
  const document = await run;
  expect(document.tasks[0]?.attempts[0]).toMatchObject({
    outcome: 'timedOut',
    checkpointMisses: 0,
  });
  expect(answered(scene)[0]?.status).toBe('still on it');
});

/** Checkpoints that somebody had asked for. */
const answered = (scene: Scene) =>
  scene.eventsOf('checkpoint_received').filter(({ request_id: id }) => id !== null);
