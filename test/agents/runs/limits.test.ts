/** Limits of attempts: the clock, checkpoints, stalls, and what is left of an attempt after them. */

import { expect } from 'vitest';
import { outcomesOf, type Scene, standIn, stateOf, test } from './scene.ts';

const once = { TIMEOUT_ESCALATION: 1 };

const missesOf = (scene: Scene) => scene.eventsOf('checkpoint_timeout');

test('1: an attempt that works is done', async ({ scene }) => {
  const timeouts = { AGENT_TIMEOUT: 20_000 };
  const document = await scene.run({ coder: 'work=200 answers', timeouts });
  expect(document).toMatchObject({ runId: 'demo', status: 'completed' });
  expect(outcomesOf(document)).toEqual(['done']);
  expect(document.tasks[0]).toMatchObject({ result: 'worked', question: null, timeoutCount: 0 });
});

test('2: a mute attempt runs out of time, with two misses', async ({ scene }) => {
  const document = await scene.run({ coder: 'mute', timeouts: once });
  expect(document.status).toBe('blocked');
  expect(outcomesOf(document)).toEqual(['timedOut']);
  expect(document.tasks[0]?.attempts[0]?.checkpointMisses).toBe(2);
  expect(scene.momentsOf('checkpoint_requested')).toHaveLength(2);
  const [first, second] = scene.momentsOf('checkpoint_timeout');
  expect(first).toBeGreaterThanOrEqual(600);
  expect(second).toBeGreaterThanOrEqual(1_100);
  expect(scene.eventsOf('agent_timeout')[0]?.elapsed_ms).toBeGreaterThanOrEqual(1_500);
});

test('3 and 30: three timeouts ask a human, once, with a warning for each miss', async ({
  scene,
}) => {
  const document = await scene.run({ coder: 'mute' });
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
  const document = await scene.run({ coder: 'mute', timeouts: { ...once, AGENT_TIMEOUT: 5_000 } });
  expect(outcomesOf(document)).toEqual(['stalled']);
  expect(document.tasks[0]).toMatchObject({ timeoutCount: 1, stallCount: 1 });
  expect(scene.momentsOf('agent_stalled')[0]).toBeGreaterThanOrEqual(1_600);
  const names = scene.events.map(({ event }) => event);
  expect(names.indexOf('agent_stalled')).toBeLessThan(names.indexOf('stalled_agent_recovered'));
  expect(document.tasks[0]?.question?.text).toContain('1 times (1 of them stalls).');
});

test('5: an answer makes up for the misses before it', async ({ scene }) => {
  const coder = 'doneOn=4 then=1400 answersOnly=2';
  const timeouts = { AGENT_TIMEOUT: 20_000, CHECKPOINT_INTERVAL: 1_200, CHECKPOINT_TIMEOUT: 1_100 };
  const document = await scene.run({ coder, timeouts });
  expect(outcomesOf(document)).toEqual(['done']);
  expect(scene.eventsOf('agent_stalled')).toEqual([]);
  expect(missesOf(scene).map((each) => each.checkpoint_count)).toEqual([1, 1, 2]);
});

test('6: a late answer is kept and counts for nothing', async ({ scene }) => {
  const timeouts = { AGENT_TIMEOUT: 20_000, CHECKPOINT_INTERVAL: 1_500 };
  const document = await scene.run({ coder: 'doneOn=2 then=300 answers answerIn=180', timeouts });
  expect(outcomesOf(document)).toEqual(['done']);
  expect(document.tasks[0]?.attempts[0]?.checkpointMisses).toBe(2);
  expect(scene.eventsOf('checkpoint_late')).toHaveLength(2);
});

test('an answer that comes twice is one answer', async ({ scene }) => {
  const timeouts = { AGENT_TIMEOUT: 20_000, CHECKPOINT_INTERVAL: 1_300, CHECKPOINT_TIMEOUT: 1_200 };
  const document = await scene.run({ coder: 'work=2500 answers answersTwice', timeouts });
  expect(document.tasks[0]?.attempts[0]?.checkpointMisses).toBe(0);
  expect(scene.eventsOf('checkpoint_late')).toEqual([]);
});

test('7: what ignores SIGTERM is killed after the grace', async ({ scene }) => {
  const document = await scene.run({
    coder: 'deaf',
    timeouts: { ...once, AGENT_TIMEOUT: 3_000, CHECKPOINT_INTERVAL: 9_000 },
  });
  expect(outcomesOf(document)).toEqual(['timedOut']);
  const [timedOut = 0] = scene.momentsOf('agent_timeout');
  const [ended = 0] = scene.momentsOf('agent_ended');
  expect(ended - timedOut).toBeGreaterThanOrEqual(300);
  expect(scene.eventsOf('agent_ended')[0]?.signal).toBe('SIGKILL');
});

test('8: a result after the timeout is discarded', async ({ scene }) => {
  const timeouts = { ...once, AGENT_TIMEOUT: 3_000, CHECKPOINT_INTERVAL: 9_000 };
  const document = await scene.run({ coder: 'lateDone', timeouts });
  expect(document.status).toBe('blocked');
  expect(outcomesOf(document)).toEqual(['timedOut']);
  expect(scene.eventsOf('late_result_discarded').length).toBeGreaterThanOrEqual(1);
});

test('25: nothing of an attempt is left, wherever it went', async ({ scene }) => {
  await scene.run({ coder: 'mute child detached', timeouts: once });
  expect(scene.processesLeft()).toEqual([]);
});

test('28: a miss is asked again at once where that is wanted', async ({ scene }) => {
  const document = await scene.run({
    coder: 'mute',
    timeouts: { ...once, AGENT_TIMEOUT: 5_000 },
    options: { retryOnMiss: true },
  });
  expect(outcomesOf(document)).toEqual(['stalled']);
  expect(scene.eventsOf('checkpoint_requested').map(({ reason }) => reason)).toEqual([
    'interval',
    'retry',
    'retry',
  ]);
  expect(scene.momentsOf('agent_stalled')[0]).toBeGreaterThanOrEqual(800);
});

test('an attempt that prints nothing for too long is ended, and any line moves that', async ({
  scene,
}) => {
  const timeouts = {
    ...once,
    IDLE_TIMEOUT: 2_500,
    AGENT_TIMEOUT: 30_000,
    CHECKPOINT_INTERVAL: 800,
  };
  const quiet = await scene.run({ coder: 'mute', timeouts: { ...timeouts, STALL_THRESHOLD: 9 } });
  expect(quiet.tasks[0]?.attempts[0]).toMatchObject({ outcome: 'timedOut', reason: 'idle' });
  const lively = await scene.run({
    coder: 'work=4500 answers',
    timeouts: { ...timeouts, CHECKPOINT_TIMEOUT: 700 },
    rest: { name: 'lively' },
  });
  expect(outcomesOf(lively)).toEqual(['done']);
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
  const document = await scene.run({
    agents: { coder: { command: ['sh', '-c', script], protocol: 'plain', checkpoints: 'file' } },
    timeouts: {
      ...once,
      AGENT_TIMEOUT: 2_500,
      CHECKPOINT_INTERVAL: 1_200,
      CHECKPOINT_TIMEOUT: 1_100,
    },
  });
  expect(document.tasks[0]?.attempts[0]).toMatchObject({
    outcome: 'timedOut',
    checkpointMisses: 0,
  });
  expect(scene.eventsOf('checkpoint_received')[0]?.status).toBe('still on it');
  expect(standIn('').length).toBe(2);
});
