/** Runs of agents on the command line: exit codes, signals, settings, metrics and what looks at a run. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { describe, expect } from 'vitest';
import { run as runProgram } from '../../../cli/program.ts';
import { Output } from '../../../cli/render/output.ts';
import { ended, escapement, start } from '../../cli/command-line.ts';
import { eventually, until } from '../../kit/eventually.ts';
import { AGENT_TIMEOUT, type Given, type Scene, standIn, test } from './scene.ts';

/** A pause waits no longer for checkpoints that nobody tells. */
const timeouts = { CHECKPOINT_TIMEOUT: 100 };
const argsOf = (scene: Scene, given: Given | string, ...args: readonly string[]) => {
  const file = typeof given === 'string' ? given : scene.write({ timeouts, ...given });
  return ['agents', 'run', file, '--data', scene.data, ...args];
};
const run = (scene: Scene, given: Given | string, ...args: readonly string[]) =>
  escapement(argsOf(scene, given, '--exit-when-blocked', ...args));
const agents = (scene: Scene, ...args: readonly string[]) =>
  escapement(['agents', ...args, '--data', scene.data]);

describe('the exit code', () => {
  test('is 0, 1 or 3 by what came of the tasks, and says so in words', async ({ scene }) => {
    const done = await run(scene, { coder: 'work=10' });
    expect([done.code, done.out]).toEqual([
      0,
      expect.stringMatching(/^run demo completed\n.*\n +t +done +1 +worked\n$/),
    ]);
    const told = await run(scene, scene.path('plan.yml'));
    expect(told.out).toContain('run demo completed before; --new begins afresh');
    const fails = { coder: 'fail=no final', rest: { name: 'failing' } };
    const failed = await run(scene, fails);
    expect(failed.code).toBe(1);
    expect(failed.out).toMatch(/t +failed +1 +failed: no\nSee "escapement agents logs t --data /);
    const asks = await run(scene, { coder: 'ask=which', rest: { name: 'asking' } });
    expect([asks.code, asks.out]).toEqual([3, expect.stringContaining('agents questions --data')]);
  });

  test('is 4 of a paused run and of a drained one, which say how to go on', async ({ scene }) => {
    const { code, out } = await run(scene, { coder: 'usage kind=session percent=1 answers' });
    expect([code, out]).toEqual([
      4,
      expect.stringContaining('Go on: escapement agents resume demo'),
    ]);
    scene.write({ coder: 'work=10', timeouts });
    expect((await run(scene, scene.path('plan.yml'), '--resume')).code).toBe(0);
    const tasks = ['t', 'u'].map((id) => ({ id, prompt: 'p', agent: 'coder' }));
    const running = run(
      scene,
      { coder: 'doneWhen=go', tasks, rest: { name: 'drained' } },
      '--json',
    );
    const statusOf = async () => (await agents(scene, 'status', 'drained', '--json')).out;
    await until(async () => (await statusOf()).includes('"state": "working"'));
    expect((await agents(scene, 'drain', 'drained')).out).toBe('run drained drains\n');
    const log = 'data/agents/runs/drained/events.jsonl';
    await until(() => scene.read(log).includes('"run_draining"'));
    scene.touch('go');
    const drained = await running;
    const document = JSON.parse(drained.out);
    const states = document.tasks.map(({ state }: { state: string }) => state);
    expect([drained.code, document.status, states]).toEqual([
      4,
      'interrupted',
      ['done', 'available'],
    ]);
    expect((await agents(scene, 'drain', 'drained')).out).toBe('run drained drains already\n');
    expect((await agents(scene, 'resume', 'drained')).code).toBe(0);
    expect((await agents(scene, 'drain', 'drained')).err).toContain('run drained has finished');
  });

  test('is 64 for wrong usage, 78 for a bad plan with its lines, and nothing starts', async ({
    scene,
  }) => {
    const file = scene.write({});
    const codes = await Promise.all(
      [
        ['agents', 'run'],
        ['agents', 'run', file, '--set', 'AGENT_TIMEOUT'],
        ['agents', 'run', file, '--set', 'AGENT_TIMEOUT=0'],
        ['agents', 'run', file, '--set', 'NO_SUCH=1'],
        ['agents', 'answer', 'demo-q1', 'x', '--timeout-ms', '-1'],
        ['agents', 'run', file, '--listen', '192.0.2.1:80'],
      ].map(async (args) => (await escapement([...args, '--data', scene.data])).code),
    );
    expect(codes).toEqual([64, 64, 64, 64, 64, 64]);
    const text = `slots: 0\nagents: { coder: [node] }\ntasks:\n  - { id: t, prompt: p, agent: cder }\n  - { id: t2, prompt: p, agent: coder, dependsOn: [x] }\n`;
    writeFileSync(scene.path('bad.yml'), text);
    const bad = await run(scene, scene.path('bad.yml'));
    expect(bad.code).toBe(78);
    expect(bad.err).toMatch(/bad\.yml:1:\d+: slots: must be/);
    expect(bad.err).toMatch(/bad\.yml:4:\d+: tasks\[0\]\.agent: .*did you mean "coder"/);
    expect(bad.err).toMatch(/bad\.yml:5:\d+: tasks\[1\]: depends on "x"/);
    const none = await run(scene, scene.path('none.yml'));
    expect([none.code, none.err]).toEqual([78, expect.stringContaining('there is no such file')]);
    const parts = ['answer', 'demo-q1', 'split', '--tasks', scene.path('none.yml')];
    expect((await agents(scene, ...parts)).code).toBe(78);
    expect([scene.read('told.log'), existsSync(scene.data)]).toEqual(['', false]);
  });

  test('is 69 on a system without POSIX process groups', async ({ scene }) => {
    const pretend = "Object.defineProperty(process,'platform',{value:'win32'})";
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(pretend)}` };
    const { code, err } = await ended(start(argsOf(scene, {}), env));
    expect([code, err]).toEqual([69, expect.stringContaining('POSIX process groups')]);
    expect(scene.read('told.log')).toBe('');
  });

  test('is 73 while another process has the directory, which can be looked at meanwhile', async ({
    scene,
  }) => {
    const child = start(argsOf(scene, { coder: 'work=60000' }));
    const end = ended(child);
    await until(() => scene.read('told.log').includes('assigned'));
    const second = await run(scene, scene.path('plan.yml'));
    const errors = second.err.split('\n').filter((line) => line.startsWith('error'));
    expect([second.code, errors]).toEqual([73, [expect.stringContaining('is in use by')]]);
    const resumed = await agents(scene, 'resume', 'demo');
    expect(resumed).toEqual({ code: 0, out: 'run demo goes on\n', err: '' });
    const status = JSON.parse((await agents(scene, 'status', '--json')).out);
    expect(status).toMatchObject({
      runId: 'demo',
      status: 'running',
      slotsInUse: 1,
      agents: [{ attemptId: 't#1', state: 'working', limitMs: AGENT_TIMEOUT }],
      timeout_tracking: {
        checkpoint_misses: { 't#1': 0 },
        stalled_agents: [],
        task_timeouts: { t: 0 },
      },
    });
    child.kill('SIGTERM');
    expect((await end).code).toBe(143);
  });

  test('is that of a signal, after which the run goes on; a second one skips the grace', async ({
    scene,
  }) => {
    const given = { coder: 'deaf', options: { terminationGraceMs: 600_000 } };
    const child = start(argsOf(scene, given, '--json'));
    const end = ended(child);
    await until(() => scene.read('told.log').includes('assigned'));
    child.kill('SIGINT');
    await until(() => scene.read('told.log').includes('stop shutdown'));
    child.kill('SIGINT');
    const { code, out } = await end;
    const { status, tasks } = JSON.parse(out);
    expect([code, status, tasks[0].attempts[0].outcome]).toEqual([130, 'interrupted', 'killed']);
    scene.write({ coder: 'work=10', timeouts });
    const again = await run(scene, scene.path('plan.yml'), '--json');
    expect([again.code, JSON.parse(again.out).tasks[0].failureCount]).toEqual([0, 0]);
  });
});

describe('--set', () => {
  test('goes before the plan, behind what a task says, and stays when the run goes on', async ({
    scene,
  }) => {
    const tasks = [
      { id: 't', prompt: 'p', agent: 'coder' },
      { id: 'u', prompt: 'p', agent: 'coder', timeouts: { AGENT_TIMEOUT: 400 } },
    ];
    const set = ['--set', 'AGENT_TIMEOUT=300ms', '--set', 'TIMEOUT_ESCALATION=1'];
    const given = { coder: 'mute', slots: 2, tasks };
    expect((await run(scene, given, ...set, '--set', 'retryOnMiss=true')).code).toBe(3);
    const limits = () =>
      scene
        .read('data/agents/runs/demo/events.jsonl')
        .split('\n')
        .filter((line) => line.includes('"agent_started"'))
        .map((line) => JSON.parse(line))
        .map(({ agent_id, limit_ms }) => `${agent_id} ${limit_ms}`)
        .sort();
    expect(limits()).toEqual(['t#1 300', 'u#1 400']);
    await agents(scene, 'answer', 'demo-q1', 'clarify', '--text', 'so');
    await agents(scene, 'answer', 'demo-q2', 'clarify', '--text', 'so');
    expect((await agents(scene, 'resume', 'demo', '--exit-when-blocked')).code).toBe(3);
    expect(limits()).toEqual(['t#1 300', 't#2 300', 'u#1 400', 'u#2 400']);
  });
});

describe('--metrics', () => {
  test('keeps counters in a file, without ids', async ({ scene }) => {
    const file = scene.path('run.prom');
    const given = {
      coder: 'delegate=nobody',
      agents: { bad: standIn('print={bad fail=no') },
      options: { maxFailures: 2 },
      tasks: [
        { id: 'tee', prompt: 'p', agent: 'coder' },
        { id: 'you', prompt: 'p', agent: 'bad' },
      ],
    };
    expect((await run(scene, given, '--metrics', file)).code).toBe(1);
    const text = readFileSync(file, 'utf8');
    const values = Object.fromEntries(
      text
        .split('\n')
        .filter((line) => line.startsWith('agents_'))
        .map((line) => line.split(' ')),
    );
    expect(values).toMatchObject({
      agents_started_total: '3',
      'agents_ended_total{outcome="done"}': '1',
      'agents_ended_total{outcome="failed"}': '2',
      'agents_delegations_total{result="unknownExpert"}': '1',
      agents_malformed_lines_total: '2',
      'agents_requeues_total{reason="agent_failed"}': '1',
      'agents_tasks{state="failed"}': '1',
      agents_active: '0',
      agents_slots: '1',
    });
    expect(text).not.toMatch(/demo|tee|you|#1/);
  });

  test('that cannot be written is told before anything begins', async ({ scene }) => {
    const { code } = await run(scene, {}, '--metrics', scene.path('none/run.prom'));
    expect([code, scene.read('told.log')]).toEqual([65, '']);
  });
});

describe('progress', () => {
  const say = (line: object) => `console.log(${JSON.stringify(JSON.stringify(line))});`;
  const asker = `${say({ type: 'ask', requestId: 'a', question: 'Which?\u001b[2J' })}setInterval(()=>{},999)`;
  const worker = `${say({ type: 'progress', message: 'half way\u001b[2J' })}setInterval(()=>{},999)`;

  test('is a table on a terminal, what needs you first, harmless whatever agents say', async ({
    scene,
  }) => {
    const file = scene.write({
      slots: 2,
      timeouts,
      agents: {
        worker: [process.execPath, '-e', worker],
        asker: [process.execPath, '-e', asker],
      },
      tasks: [
        { id: 't', prompt: 'p', agent: 'worker' },
        { id: 'u', prompt: 'p', agent: 'asker' },
      ],
    });
    const err = Object.assign(new PassThrough(), { isTTY: true, columns: 200 });
    let seen = '';
    err.on('data', (text) => {
      seen += String(text);
    });
    const out = new PassThrough();
    const running = runProgram(argsOf(scene, file, '--exit-when-blocked'), new Output(out, err));
    const table =
      /needs you {2}demo-q1 {2}Which\?.*\nu#1 {2}awaitingHuman {2}quiet \d+s {2}left \d+s {2}asked you: Which\?.*\nt#1 {2}working {2}quiet \d+s {2}left \d+s {2}half way.*\n0\/2 done · 2\/2 slots/;
    await until(() => table.test(seen));
    expect(seen).not.toContain('\u001b[2J');
    expect((await agents(scene, 'pause', 'demo')).code).toBe(0);
    expect(await running).toBe(4);
  });

  test('is a line for each thing elsewhere, and nothing with --quiet', async ({ scene }) => {
    const { err } = await run(scene, { coder: 'work=10' }, '--json');
    expect(err).toContain('t#1: begun\n');
    expect(err).toContain('t: done\n');
    const odd = { coder: 'print={bad work=10', rest: { name: 'odd' } };
    expect((await run(scene, odd)).err).toContain(
      'warning: t#1: line 1 is dropped: it is no JSON: "{bad"\n',
    );
    const given = { coder: 'work=10', rest: { name: 'quiet' } };
    expect((await run(scene, given, '--json', '--quiet')).err).toBe('');
  });
});

describe('agents logs', () => {
  test('prints what a task has printed, and with -f what comes until its attempt ends', async ({
    scene,
  }) => {
    const script =
      'console.error("first");console.log("stray");const f=require("fs");setInterval(()=>{if(!f.existsSync("go"))return;process.stderr.write("x".repeat(300000)+"END\\n",()=>{console.log(JSON.stringify({type:"done"}));process.exit()})},50)';
    const running = run(scene, { agents: { coder: [process.execPath, '-e', script] } });
    await eventually(async () =>
      expect((await agents(scene, 'logs', 't')).out.split('\n').sort()).toEqual([
        '',
        'first',
        'stray',
      ]),
    );
    const following = agents(scene, 'logs', 't', '-f');
    writeFileSync(scene.path('go'), '');
    const followed = (await following).out;
    expect(followed.slice(-4)).toBe('END\n');
    expect((await running).code).toBe(0);
    const [line] = (await agents(scene, 'logs', 't', '--json')).out.trim().split('\n');
    expect(JSON.parse(line ?? '{}')).toMatchObject({ attemptId: 't#1' });
    const missing = await agents(scene, 'logs', 'nobody');
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('no task "nobody"')]);
  });
});
