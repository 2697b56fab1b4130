/** Agents that misbehave, and options about it: each hurts its own attempt and nobody else's. */

import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { ended, start } from '../../cli/command-line.ts';
import { eventually } from '../../kit/eventually.ts';
import { AGENT_TIMEOUT, LONG, outcomesOf, type Scene, standIn, stateOf, test } from './scene.ts';

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
    options: { maxLineBytes: 1_000 },
  });
  expect([stateOf(document), document.tasks[0]?.result]).toEqual(['done', null]);
  expect(malformedOf(scene)).toEqual(['t#1']);
});

test('a line that is no UTF-8 is dropped', async ({ scene }) => {
  const line = `Buffer.from('{"type":"done","result":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')`;
  const document = await scene.run({ agents: { coder: printing(line) } });
  expect([stateOf(document), document.tasks[0]?.result]).toEqual(['done', null]);
  expect(malformedOf(scene)).toEqual(['t#1']);
});

test('the answer of an expert that outlives its asker is given to the next attempt', async ({
  scene,
}) => {
  const run = scene.run({
    coder: 'delegate=sql exitWhen=leave-%',
    experts: { sql: 'doneWhen=go' },
  });
  await scene.seen('delegation_started');
  scene.touch('leave-1');
  // The second asks as well, and waits behind the first.
  await scene.seen('delegation_queued', 2);
  scene.touch('go');
  await eventually(() =>
    expect(scene.eventsOf('delegation_answered')[0]).toMatchObject({ agent_id: 't#1' }),
  );
  scene.touch('leave-2');
  await scene.told('assigned', 't#3');
  scene.touch('leave-3');
  expect(stateOf(await run)).toBe('failed');
  const given = ['t#1', 't#2', 't#3'].map((id) => scene.assigned(id).expertAnswers);
  expect(given.slice(0, 2)).toEqual([[], []]);
  expect(given[2]).toContainEqual({ expert: 'sql', answer: 'worked' });
});

test.for([true, false])(
  'an open question stops all dispatch with blockAllOnQuestion: %s',
  async (blocks, { scene }) => {
    const run = scene.run({
      coder: 'mute',
      agents: { good: standIn('work=50') },
      timeouts: { CHECKPOINT_INTERVAL: LONG, TIMEOUT_ESCALATION: 1 },
      options: { blockAllOnQuestion: blocks },
      tasks: [
        { id: 't', prompt: 'p', agent: 'coder', priority: 1 },
        { id: 'u', prompt: 'p', agent: 'good' },
      ],
    });
    await scene.seen('agent_started');
    scene.skip(AGENT_TIMEOUT);
    const document = await run;
    expect(document.status).toBe('blocked');
    expect(stateOf(document, 'u')).toBe(blocks ? 'available' : 'done');
  },
);

test('stalls do not lead to a question where they do not count', async ({ scene }) => {
  const stopping = new AbortController();
  const timeouts = { STALL_THRESHOLD: 1, TIMEOUT_ESCALATION: 1 };
  const options = { stallsCountTowardEscalation: false };
  const run = scene.run({ coder: 'mute', timeouts, options }, { signal: stopping.signal });
  for (const attempt of [1, 2]) {
    await scene.seen('agent_started', attempt);
    await scene.miss();
  }
  await scene.seen('agent_started', 3);
  stopping.abort();
  const document = await run;
  expect(outcomesOf(document)).toEqual(['stalled', 'stalled', 'killed']);
  expect(document.tasks[0]).toMatchObject({ timeoutCount: 0, stallCount: 2, question: null });
});

test('a run whose process dies right after an attempt began, before that was saved, goes on', async ({
  scene,
}) => {
  // The agent kills the process that has started it.
  const killer = `const f=require("fs");if(f.existsSync("died")){console.log(JSON.stringify({type:"done",result:"again"}))}else{f.writeFileSync("died","");process.kill(process.ppid,"SIGKILL");setInterval(()=>{},999)}`;
  const file = scene.write({ agents: { coder: [process.execPath, '-e', killer] } });
  const first = await ended(start(['agents', 'run', file, '--data', scene.data, '--quiet']));
  expect([first.code, existsSync(scene.path('died'))]).toEqual([null, true]);
  const document = await scene.run(file);
  expect(outcomesOf(document)).toEqual(['killed', 'done']);
  expect(document.tasks[0]).toMatchObject({ failureCount: 0, timeoutCount: 0, result: 'again' });
});
