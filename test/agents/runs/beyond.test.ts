/** Quotas, budgets, inboxes, hooks and drivers: what runs do beyond clocks and checkpoints, with real processes. */

import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { openLmdbData } from '../../../cli/loaders/lmdb-data.ts';
import type { Driver } from '../../../programs/agents/index.ts';
import { drainRun } from '../../../programs/agents/pausing.ts';
import { escapement } from '../../cli/command-line.ts';
import { eventually, until } from '../../kit/eventually.ts';
import { AGENT_TIMEOUT, outcomesOf, type Scene, standIn, stateOf, test } from './scene.ts';

const node = (script: string): readonly string[] => [process.execPath, '-e', script];
const say = (line: object) => `console.log(${JSON.stringify(JSON.stringify(line))});`;

const why = async (scene: Scene, address: string): Promise<string> => {
  const from = { openStoredData: openLmdbData };
  const args = ['why', address, '--from', `${scene.data}/agents`, '--json'];
  return JSON.parse((await escapement(args, from)).out).verdict;
};

describe('a quota', () => {
  test('that standard error tells pauses all, an expert too, and counts for nothing', async ({
    scene,
  }) => {
    const script = `const f=require("fs");const d=process.env.ESCAPEMENT_ROLE;if(f.existsSync(d))${say({ type: 'done', result: 'so' })}else{f.writeFileSync(d,"");console.error("error: rate limit reached");setInterval(()=>{},999)}`;
    const command = { command: node(script), quotaMatches: ['rate limit'] };
    const document = await scene.run({
      slots: 2,
      agents: { limited: command, asker: standIn('delegate=sql') },
      options: { quotaResetMs: 300, quotaPauseMinMs: 300 },
      tasks: [
        { id: 't', prompt: 'p', agent: 'limited' },
        { id: 'u', prompt: 'p', agent: 'asker', dependsOn: ['t'] },
      ],
      rest: { experts: { sql: command } },
    });
    expect(document.status).toBe('completed');
    for (const id of ['t', 'u']) expect(outcomesOf(document, id)).toEqual(['killed', 'done']);
    for (const { failureCount, timeoutCount } of document.tasks)
      expect(failureCount + timeoutCount).toBe(0);
    expect(scene.eventsOf('quota_exhausted')).toHaveLength(2);
    expect(await why(scene, 'agent/demo/t/1')).toContain('because a quota is used up');
  });
});

describe('a budget', () => {
  test('of a run pauses it, until the plan has a larger one', async ({ scene }) => {
    const uses = say({ type: 'usage', kind: 'agent', tokens: 60 });
    const done = `${say({ type: 'done' })}process.exit();`;
    const given = (tokens: number) => ({
      agents: {
        coder: node(`${uses}${done}`),
        stays: node(`${uses}setInterval(()=>{if(require("fs").existsSync("go")){${done}}},10)`),
      },
      timeouts: { CHECKPOINT_TIMEOUT: 100 },
      rest: { budget: { run: { tokens } } },
      tasks: [
        { id: 't', prompt: 'p', agent: 'coder' },
        { id: 'u', prompt: 'p', agent: 'stays' },
      ],
    });
    const paused = await scene.run(given(100));
    expect(paused.status).toBe('paused');
    expect(scene.eventsOf('session_paused')).toMatchObject([{ cause: 'budget' }]);
    expect(await why(scene, 'orchestration/demo')).toContain(
      'paused, because its budget is used up',
    );
    scene.touch('go');
    const document = await scene.run(given(1_000), { resume: true });
    expect(document.status).toBe('completed');
    expect(document.tasks.every(({ timeoutCount }) => timeoutCount === 0)).toBe(true);
  });

  test('of a task counts what its attempts used before, and is a timeout', async ({ scene }) => {
    const script = `${say({ type: 'usage', kind: 'agent', cost: 6 })}setTimeout(()=>process.exit(1),50)`;
    const document = await scene.run({
      agents: { coder: node(script) },
      timeouts: { TIMEOUT_ESCALATION: 1 },
      rest: { budget: { task: { cost: 10 } } },
    });
    expect(outcomesOf(document)).toEqual(['failed', 'timedOut']);
    expect(document.tasks[0]).toMatchObject({ timeoutCount: 1, failureCount: 1 });
    expect(await why(scene, 'agent/demo/t/2')).toContain('went over its budget: 12 cost of 10');
  });
});

describe('a question in the form of an inbox', () => {
  test.for([
    [['accept'], { type: 'accept', args: null }],
    [['2', '--text', 'To the team only.'], { type: 'edit', args: 'To the team only.' }],
    [['respond', '--text', 'Why?'], { type: 'respond', args: 'Why?' }],
    [['ignore'], { type: 'ignore', args: null }],
  ] as ReadonlyArray<readonly [readonly string[], object]>)(
    'is answered with %j',
    async ([answer, told], { scene }) => {
      const allow = ['accept', 'edit', 'respond', 'ignore'];
      const script = `${say({ type: 'ask', requestId: 'a', question: 'Send it?', context: { to: 'all' }, allow })}process.stdin.on("data",(d)=>{const l=String(d).trim().split("\\n").map(JSON.parse).find((l)=>l.type==="human.answered");if(l){console.log(JSON.stringify({type:"done",result:l.answer}));process.exit()}})`;
      const file = scene.write({ agents: { coder: node(script) } });
      const run = scene.run(file, { exitWhenBlocked: false });
      await eventually(() => expect(scene.eventsOf('question_asked')).toHaveLength(1));
      const agents = (...args: readonly string[]) =>
        escapement(['agents', ...args, '--data', scene.data]);
      const listed = await agents('questions');
      expect(listed.out).toContain(
        'Send it?\n  about: {"to":"all"}\n  1. accept\n  2. edit\n  3. respond\n  4. ignore\n',
      );
      for (const bad of [['edit'], ['respond'], ['no'], ['5']])
        expect((await agents('answer', 'demo-q1', ...bad)).code).toBe(1);
      expect((await agents('answer', 'demo-q1', ...answer)).code).toBe(0);
      expect((await agents('answer', 'demo-q1', 'accept')).code).toBe(1);
      expect((await run).tasks[0]?.result).toEqual(told);
    },
  );

  test('may not have options too: the line is malformed, and says why', async ({ scene }) => {
    const ask = {
      type: 'ask',
      requestId: 'a',
      question: 'q',
      options: ['a', 'b'],
      allow: ['edit'],
    };
    const script = `${say(ask)}${say({ type: 'done' })}`;
    await scene.run({ agents: { coder: node(script) } });
    expect(scene.eventsOf('malformed_line')).toMatchObject([
      { why: 'options and allow exclude each other' },
    ]);
  });
});

test('a drain lets what runs end and begins nothing, and is told', async ({ scene }) => {
  const file = scene.write({
    coder: 'doneWhen=go',
    tasks: ['t', 'u'].map((id) => ({ id, prompt: 'p', agent: 'coder' })),
  });
  const run = scene.run(file);
  await eventually(() => expect(scene.read('told.log')).toContain('t#1 assigned'));
  expect(await drainRun(scene.data, 'demo')).toEqual({ refusal: null, isLate: false });
  await scene.seen('run_draining');
  scene.touch('go');
  const document = await run;
  expect([stateOf(document), stateOf(document, 'u')]).toEqual(['done', 'available']);
  expect(scene.eventsOf('run_draining')).toMatchObject([{ cause: 'command' }]);
  expect(scene.read('told.log')).not.toContain('stop');
  expect(await why(scene, 'orchestration/demo')).toContain('was drained');
  expect((await scene.run(file)).status).toBe('completed');
});

test('a hook that never ends is ended with all it has started, and the run goes on', async ({
  scene,
}) => {
  const script = 'setsid sleep 600 & trap "" TERM; touch at-work; sleep 600; sleep 600';
  const run = scene.run({
    coder: 'answers usage kind=context percent=9 doneWhen=go',
    options: { compactCommand: ['sh', '-c', script], compactionTimeoutMs: 60_000 },
  });
  await until(() => existsSync(scene.path('at-work')));
  scene.skip(60_000);
  await scene.seen('compaction_failed');
  scene.touch('go');
  const document = await run;
  expect(document.status).toBe('completed');
  expect(scene.eventsOf('compaction_failed')).toMatchObject([{ reason: 'it took too long' }]);
  expect(scene.processesLeft()).toEqual([]);
});

describe('a coding agent that knows no protocol', () => {
  /** Reads its prompt as today's do, talks on both streams, and works in files. */
  const CODER = `#!/bin/sh
prompt="$1"; [ -n "$prompt" ] || prompt=$(cat)
echo "thinking about: $prompt" >&2
[ -n "$ESCAPEMENT_CHECKPOINT_FILE" ] && echo "reading files" > "$ESCAPEMENT_CHECKPOINT_FILE"
case "$prompt" in
  *hangs*) sleep 600 ;;
  *fails*) echo "cannot do that" >&2; exit 2 ;;
esac
echo "$prompt" > "out-$ESCAPEMENT_TASK_ID"
echo "I have done it: $prompt"
`;
  test('works by its prompt, and its text is the result', async ({ scene }) => {
    writeFileSync(scene.path('coder.sh'), CODER, { mode: 0o755 });
    const command = ['./coder.sh'];
    const run = scene.run({
      slots: 4,
      agents: {
        piped: { command, protocol: 'plain', checkpoints: 'file' },
        argued: { command: ['./coder.sh', '{prompt}'], protocol: 'plain', prompt: 'argument' },
      },
      timeouts: { TIMEOUT_ESCALATION: 1 },
      options: { maxFailures: 1 },
      tasks: [
        { id: 'a', prompt: 'Say "hi" & $HOME', agent: 'argued' },
        { id: 'b', prompt: 'Write\nit down', agent: 'piped' },
        { id: 'c', prompt: 'one that fails', agent: 'piped' },
        { id: 'd', prompt: 'one that hangs', agent: 'piped' },
      ],
    });
    await scene.seen('agent_ended', 3);
    await scene.seen('checkpoint_received');
    scene.skip(AGENT_TIMEOUT);
    const document = await run;
    expect(document.tasks.map(({ state, result }) => [state, result])).toEqual([
      ['done', 'I have done it: Say "hi" & $HOME'],
      ['done', 'I have done it: Write\nit down'],
      ['failed', null],
      ['awaitingHuman', null],
    ]);
    expect(scene.read('out-b')).toBe('Write\nit down\n');
    expect(document.tasks[2]?.attempts[0]?.error).toBe('it exited with code 2');
    expect(scene.eventsOf('checkpoint_received').map(({ status }) => status)).toContain(
      'reading files',
    );
    const log = await escapement(['agents', 'logs', 'c', '--data', scene.data]);
    expect(log.out).toContain('cannot do that');
    expect(scene.processesLeft()).toEqual([]);
  });
});

describe('a driver', () => {
  const lines = (...all: readonly unknown[]): Driver => ({
    start: () => {
      async function* told() {
        yield* all;
      }
      return { send: () => {}, lines: told(), stop: () => {}, ended: Promise.resolve() };
    },
  });

  test('has the limits of a program, and one that throws fails at once', async ({ scene }) => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const drivers: Readonly<Record<string, Driver>> = {
      good: lines(circle, 7, { type: 'done', result: 'x'.repeat(2_000) }, { type: 'done' }),
      flood: lines(...Array.from({ length: 2_000 }, () => ({ type: 'progress', message: 'm' }))),
      throws: {
        start: () => {
          throw new Error('no model');
        },
      },
    };
    const document = await scene.run(
      {
        slots: 3,
        options: { maxFailures: 1, maxLineBytes: 1_000, maxOutputBytes: 10_000 },
        tasks: ['good', 'flood', 'throws'].map((agent) => ({ id: agent, prompt: 'p', agent })),
      },
      { drivers },
    );
    expect(document.tasks.map(({ id, attempts }) => [id, attempts[0]?.outcome])).toEqual([
      ['good', 'done'],
      ['flood', 'failed'],
      ['throws', 'failed'],
    ]);
    const [good, flood, throws] = document.tasks.map(({ attempts }) => attempts[0]);
    expect([good?.reason, flood?.reason, throws?.reason]).toEqual([null, 'outputLimit', 'spawn']);
    expect(throws?.error).toBe('no model');
    expect(scene.eventsOf('malformed_line').map(({ why: reason }) => reason)).toEqual([
      'it is no object of JSON',
      'it is no object of JSON',
      'it is longer than 1000 bytes',
    ]);
  });

  test('may be an expert, and tells hundreds of lines at once without losing one', async ({
    scene,
  }) => {
    const progress = Array.from({ length: 300 }, () => ({ type: 'checkpoint', status: 's' }));
    const drivers = {
      sql: lines({ type: 'done', result: 'an index' }),
      many: lines(...progress, { type: 'done' }),
    };
    const document = await scene.run(
      {
        coder: 'delegate=sql',
        rest: { experts: { sql: { maxActive: 2 } } },
        tasks: [
          { id: 't', prompt: 'p', agent: 'coder' },
          { id: 'u', prompt: 'p', agent: 'many' },
        ],
      },
      { drivers, agentTimeoutMs: 50_000 },
    );
    expect(document.tasks[0]?.result).toMatchObject({ ok: true, answer: 'an index' });
    expect(scene.assigned('t#1').timeoutMs).toBe(50_000);
    expect(stateOf(document, 'u')).toBe('done');
    expect(scene.eventsOf('checkpoint_received')).toHaveLength(300);
  });
});
