/**
 * The panel of runs, of real processes that run a plan of agents or a map-reduce workflow: questions are answered on
 * the page, and what is at work is shown as it goes.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { openLmdbData } from '../../../cli/loaders/lmdb-data.ts';
import { openRested } from '../../../cli/loaders/rested.ts';
import { singleFile } from '../../../inspector/single-file.ts';
import { eventually } from '../../kit/eventually.ts';
import { faint, hasBrowser, overflow, Pages, seen, texts, ticked } from './opened.ts';
import { StartedRun } from './started-run.ts';

const pages = new Pages();
const STAND_IN = join(import.meta.dirname, '..', '..', 'agents', 'runs', 'stand-in.mjs');

const agent = (...args: string[]): readonly string[] => [process.execPath, STAND_IN, ...args];

/** The page goes on asking when its process has ended. */
const ENDED = /Failed to load|ERR_/;
let folder = '';
const runs: StartedRun[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'escapement-runs-page-'));
});
afterEach(() => Promise.all(runs.splice(0).map((run) => run.kill())));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(name: string, args: readonly string[], files: Readonly<Record<string, object>>) {
  for (const [file, value] of Object.entries(files))
    writeFileSync(join(folder, file), JSON.stringify(value));
  const run = new StartedRun([...args, '--data', join(folder, name)], folder);
  runs.push(run);
  return run;
}

/** The directory of a run as one file, as `escapement inspect DIR --html` writes it. */
async function fileOf(name: string): Promise<string> {
  const file = join(folder, `${name}.html`);
  const output = { line: () => {}, progress: () => {} };
  const { lines } = await openRested(join(folder, name), openLmdbData, output as never);
  writeFileSync(file, singleFile(lines, inject('pageFolder')));
  return pathToFileURL(file).href;
}

const answerOf = (page: Page, id: string) => page.locator('.question').filter({ hasText: id });

describe.skipIf(!hasBrowser)('the panel of runs', () => {
  test('answers questions of a plan of agents, which ends with what was said', async () => {
    const plan = {
      name: 'demo',
      slots: 2,
      timeouts: { AGENT_TIMEOUT: '60s', CHECKPOINT_INTERVAL: '30s', TIMEOUT_ESCALATION: 1 },
      options: { terminationGraceMs: 300 },
      agents: { asker: agent('ask=How many?'), mute: agent('mute') },
      tasks: [
        { id: 'count', prompt: 'count them', agent: 'asker' },
        { id: 'slow', prompt: 'never ends', agent: 'mute', timeouts: { AGENT_TIMEOUT: '300ms' } },
        { id: 'after', prompt: 'waits', agent: 'asker', dependsOn: ['count', 'slow'] },
      ],
    };
    const run = start('demo', ['agents', 'run', 'plan.yml'], { 'plan.yml': plan });
    // The page opens on what needs somebody.
    const page = await pages.open(await run.page(), { allow: ENDED });
    await seen(page, '.page-head a[aria-current]', 'Runs');
    const asked = answerOf(page, 'How many?');
    await asked.waitFor();
    await seen(page, '.worker.waits', 'needs you');
    await seen(page, '.worker.waits', 'clock stands');
    await seen(page, '.parts li', /blocked\s*after\s*waits for count, slow/);
    expect(await asked.getByRole('button', { name: 'Answer' }).isDisabled()).toBe(true);

    const escalation = answerOf(page, 'How should it proceed?');
    await escalation.waitFor();
    await page.goto(await run.page('#/overview'));
    await (await seen(page, '.attention a', 'questions to you')).click();
    await escalation.getByRole('radio', { name: 'Increase timeout for this task' }).check();
    await escalation.getByRole('spinbutton').fill('0.1');
    await seen(page, '.question', 'The limit must be greater than it is');
    await escalation.getByRole('radio', { name: 'Skip task and continue' }).check();
    await escalation.getByRole('button', { name: 'Answer' }).click();
    await seen(page, '.answer.taken', 'demo-q');
    await seen(page, '.parts li', /skipped\s*slow/);

    // What is typed stays while the panel is told of the run.
    await asked.getByRole('textbox').fill('forty two');
    await seen(page, '.worker.waits', 'quiet for');
    await asked.getByRole('button', { name: 'Answer' }).click();
    await seen(page, '.parts li', /done\s*count/);
    await answerOf(page, 'of task after').getByRole('textbox').fill('as many again');
    await answerOf(page, 'of task after').getByRole('button', { name: 'Answer' }).click();
    const { code, out } = await run.ended;
    expect(code).toBe(0);
    const { tasks } = JSON.parse(out) as {
      tasks: ReadonlyArray<{ state: string; result: unknown }>;
    };
    expect(tasks.map(({ state, result }) => [state, result])).toEqual([
      ['done', 'forty two'],
      ['skipped', null],
      ['done', 'as many again'],
    ]);
    const events = readFileSync(join(folder, 'demo/agents/runs/demo/events.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string; by?: string });
    const by = events.filter(({ event }) => event === 'question_answered').map((each) => each.by);
    expect(by).toHaveLength(3);
    expect(by.every((each) => typeof each === 'string' && each !== '')).toBe(true);
    // The process has ended, and so has its page.
    await seen(page, '.freshness.lost');
  });

  test('takes accept, edit, respond and ignore, and says who was faster', async () => {
    const inbox = [
      'const say = (line) => console.log(JSON.stringify(line));',
      "process.stdin.on('data', (data) => { for (const text of String(data).trim().split('\\n')) {",
      'const line = JSON.parse(text);',
      "if (line.type === 'task.assigned') say({ type: 'ask', requestId: 'a', question: 'Send it?',",
      "context: { to: 'all', token: 'sk-1' }, allow: ['accept', 'edit', 'ignore'] });",
      "if (line.type === 'human.answered') { say({ type: 'done', result: line.answer }); process.exit(); }",
      '} });',
    ];
    writeFileSync(join(folder, 'inbox.mjs'), inbox.join('\n'));
    const plan = {
      name: 'mail',
      agents: { inbox: [process.execPath, 'inbox.mjs'] },
      tasks: [{ id: 'mail', prompt: 'send', agent: 'inbox' }],
    };
    const run = start('mail', ['agents', 'run', 'mail.yml'], { 'mail.yml': plan });
    const page = await pages.open(await run.page('#/runs'), {
      width: 390,
      scheme: 'dark',
      allow: ENDED,
    });
    const asked = answerOf(page, 'Send it?');
    await seen(page, '.question .json', 'all');
    expect(await asked.textContent()).toContain('[redacted]');
    expect(await texts(page, '.choices label')).toEqual(['accept', 'edit', 'ignore']);
    await asked.getByRole('radio', { name: 'edit' }).check();
    expect(await asked.getByRole('button', { name: 'Answer' }).isDisabled()).toBe(true);
    await asked.getByRole('textbox').fill('To the team only.');
    expect(await overflow(page)).toEqual([]);
    expect(await faint(page)).toEqual([]);
    // Beside tags and deadlines there is room for the names of states on a phone.
    await page.goto(await run.page('#/actors'));
    await seen(page, '.row.active', 'agent/mail/mail/1');
    const rooms = await page
      .locator('.rows .state-name')
      .evaluateAll((states) =>
        states.map(({ clientWidth, scrollWidth }) => [clientWidth, scrollWidth]),
      );
    expect(rooms.every(([room = 0, needed = 0]) => room >= Math.min(needed, 200))).toBe(true);
    // A second answer to the same question changes nothing.
    const answers = await page.evaluate(async () => {
      const answer = (text: string) =>
        fetch('api/command', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ type: 'answer', question: 'mail-q1', answer: text, texts: ['x'] }),
        }).then((response) => response.json() as Promise<{ outcome: string; why: string }>);
      return [await answer('respond'), await answer('accept'), await answer('ignore')];
    });
    expect(answers.map(({ outcome }) => outcome)).toEqual(['refused', 'taken', 'refused']);
    expect(answers[0]?.why).toContain('none of accept, edit, ignore');
    const { out } = await run.ended;
    expect((JSON.parse(out) as { tasks: [{ result: unknown }] }).tasks[0].result).toEqual({
      type: 'accept',
      args: null,
    });
  });

  test('shows items of map-reduce, and gives an attempt more time', async () => {
    writeFileSync(join(folder, 'items.json'), JSON.stringify(['a', 'b', 'c', 'd']));
    const workflow = {
      name: 'work',
      mode: 'mapreduce',
      map: {
        input: 'items.json',
        json_path: '$[*]',
        max_parallel: 3,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of workflows
        agent_template: [{ shell: 'test "${item}" != c && exec sleep 300; exit 3' }],
        agent_timeout_secs: 300,
      },
    };
    const run = start('work', ['mapreduce', 'run', 'work.yml', '--run-id', 'w1'], {
      'work.yml': workflow,
    });
    const page = await pages.open(await run.page('#/runs'), { allow: ENDED });
    await seen(page, '.run-head', 'w1');
    await eventually(async () => {
      expect(await page.locator('.worker').count()).toBe(3);
      expect(await page.locator('.parts li').filter({ hasText: 'failed, kept' }).count()).toBe(1);
    });
    await seen(page, '.run-head', '3 of 3 slots in use');
    await seen(page, '.worker .countdown', /4 min \d+ s left/);
    await page.getByRole('button', { name: '1 min more' }).first().click();
    await seen(page, '.answer.taken', 'It has 60 s more');
    await seen(page, '.worker .countdown', /5 min \d+ s left/);
    await page.locator('.worker a').first().click();
    await seen(page, '.actor-head', 'map-agent/w1/');

    // What a killed run leaves on disk opens on the same panel, and stands still.
    run.child.kill('SIGKILL');
    await run.ended;
    const file = await fileOf('work');
    const dead = await pages.open(file, { width: 390 });
    await seen(dead, '.page-head a[aria-current]', 'Runs');
    await seen(dead, '.freshness', 'at rest');
    await seen(dead, '.run-head', 'w1');
    expect(await dead.locator('.worker').count()).toBe(3);
    await seen(dead, '.parts li', 'failed, kept');
    const left = await texts(dead, '.worker .countdown');
    expect(await overflow(dead)).toEqual([]);
    await ticked(dead);
    expect(await texts(dead, '.worker .countdown')).toEqual(left);
    expect(await dead.getByRole('button', { name: '1 min more', disabled: false }).count()).toBe(0);
    // The charts of its kinds are there, and what would have ended it next.
    await dead.locator('.worker a').first().click();
    await seen(dead, '.canvas svg');
    await dead.getByRole('link', { name: 'Why' }).click();
    await seen(dead, '.exits tr', 'itself, again');
  });

  test('shows a plan of agents that was ended, from its directory', async () => {
    const plan = {
      name: 'left',
      agents: { asker: agent('ask=Which one?') },
      tasks: [
        { id: 'choose', prompt: 'choose one', agent: 'asker' },
        { id: 'build', prompt: 'build it', agent: 'asker', dependsOn: ['choose'] },
      ],
    };
    const run = start('left', ['agents', 'run', 'left.yml'], { 'left.yml': plan });
    const page = await pages.open(await run.page('#/runs'), { allow: ENDED });
    await answerOf(page, 'Which one?').waitFor();
    run.child.kill('SIGKILL');
    await run.ended;
    const dead = await pages.open(await fileOf('left'));
    await seen(dead, '.run-head', 'left');
    await answerOf(dead, 'Which one?').waitFor();
    await seen(dead, '.parts li', /blocked\s*build\s*waits for choose/);
    // Nobody is there who could be told.
    expect(await dead.getByRole('button', { name: 'Answer' }).count()).toBe(0);
  });
});
