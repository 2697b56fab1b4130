/** Agents that misbehave, and options about it: each hurts its own attempt and nobody else's. */

import { expect } from 'vitest';
import { outcomesOf, type Scene, standIn, stateOf, test } from './scene.ts';

const long = { AGENT_TIMEOUT: 60_000, CHECKPOINT_INTERVAL: 50_000, DELEGATION_TIMEOUT: 60_000 };

/** A program that prints these bytes, and says that it is done. */
const printing = (bytes: string): readonly string[] => [
  process.execPath,
  '-e',
  `process.stdout.write(Buffer.concat([${bytes}, Buffer.from('\\n{"type":"done"}\\n')]))`,
];

const malformedOf = (scene: Scene): readonly unknown[] =>
  scene.eventsOf('malformed_line').map(({ agent_id }) => agent_id);

test('an agent that does not read fails once its queue is full', async ({ scene }) => {
  // It is told what others have found, which is more than a queue holds.
  const found = `console.log(JSON.stringify({ type: 'done', result: 'x'.repeat(500_000) }))`;
  const parts = ['a', 'b', 'c'].map((id) => ({ id, prompt: 'p', agent: 'finder' }));
  const document = await scene.run({
    slots: 2,
    coder: 'unread',
    agents: { finder: [process.execPath, '-e', found] },
    timeouts: long,
    options: { maxFailures: 1 },
    tasks: [...parts, { id: 't', prompt: 'p', agent: 'coder', dependsOn: ['a', 'b', 'c'] }],
  });
  expect(stateOf(document, 'a')).toBe('done');
  expect(document.tasks.at(-1)?.attempts).toMatchObject([
    { outcome: 'failed', reason: 'stdinBlocked' },
  ]);
});

test('a line that is too long is dropped up to its end', async ({ scene }) => {
  const line = `Buffer.from('{"type":"done","result":"' + 'x'.repeat(5000) + '"}')`;
  const document = await scene.run({
    agents: { coder: printing(line) },
    timeouts: long,
    options: { maxLineBytes: 1_000 },
  });
  expect([stateOf(document), document.tasks[0]?.result]).toEqual(['done', null]);
  expect(malformedOf(scene)).toEqual(['t#1']);
});

test('a line that is no UTF-8 is dropped', async ({ scene }) => {
  const line = `Buffer.from('{"type":"done","result":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')`;
  const document = await scene.run({ agents: { coder: printing(line) }, timeouts: long });
  expect([stateOf(document), document.tasks[0]?.result]).toEqual(['done', null]);
  expect(malformedOf(scene)).toEqual(['t#1']);
});

test('the answer of an expert that outlives its asker is given to the next attempt', async ({
  scene,
}) => {
  const document = await scene.run({
    coder: 'delegate=sql exit=1 exitAt=600',
    experts: { sql: 'work=700' },
    timeouts: long,
    options: { maxFailures: 8 },
  });
  expect(stateOf(document)).toBe('failed');
  const attempts = document.tasks[0]?.attempts ?? [];
  const given = attempts.map(({ attemptId }) => scene.assigned(attemptId).expertAnswers);
  expect(given[0]).toEqual([]);
  expect(given.flat()).toContainEqual({ expert: 'sql', answer: 'worked' });
});

test.for([true, false])(
  'an open question stops all dispatch with blockAllOnQuestion: %s',
  async (blocks, { scene }) => {
    const document = await scene.run({
      coder: 'mute',
      agents: { good: standIn('work=50') },
      timeouts: { ...long, AGENT_TIMEOUT: 400, TIMEOUT_ESCALATION: 1 },
      options: { blockAllOnQuestion: blocks },
      tasks: [
        { id: 't', prompt: 'p', agent: 'coder', priority: 1 },
        { id: 'u', prompt: 'p', agent: 'good', timeouts: { AGENT_TIMEOUT: 60_000 } },
      ],
    });
    expect(document.status).toBe('blocked');
    expect(stateOf(document, 'u')).toBe(blocks ? 'available' : 'done');
  },
);

test('stalls do not lead to a question where they do not count', async ({ scene }) => {
  const stopping = new AbortController();
  const document = await scene.run(
    {
      coder: 'mute',
      timeouts: { ...long, CHECKPOINT_INTERVAL: 200, STALL_THRESHOLD: 1, TIMEOUT_ESCALATION: 1 },
      options: { stallsCountTowardEscalation: false },
    },
    {
      signal: stopping.signal,
      onEvent: (event) => {
        scene.events.push(event);
        if (scene.eventsOf('agent_stalled').length === 2) stopping.abort();
      },
    },
  );
  expect(outcomesOf(document).slice(0, 2)).toEqual(['stalled', 'stalled']);
  expect(document.tasks[0]).toMatchObject({ timeoutCount: 0, question: null });
  expect(document.tasks[0]?.stallCount).toBeGreaterThanOrEqual(2);
});
