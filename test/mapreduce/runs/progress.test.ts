/** Progress of a run for people and programs: the table of a terminal, lines of JSON, and output. */

import { writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { describe, expect } from 'vitest';
import { run } from '../../../cli/program.ts';
import { Output } from '../../../cli/render/output.ts';
import { ended, escapement, start } from '../../cli/command-line.ts';
import { until } from '../../kit/eventually.ts';
import { type Scene, test } from './scene.ts';

/** Item a prints, and waits for a file; b ends at once. */
const WAITING = {
  items: [{ id: 'a' }, { id: 'b' }],
  map: { agent_timeout_secs: 600, max_parallel: 2, retry: { max_attempts: 2 } },
  steps: [
    { shell: 'if [ ${item.id} = a ]; then echo first of ${item.id}; echo oops >&2; fi' },
    {
      shell:
        'if [ ${item.id} = a ]; then echo "::cost usd=0.2"; echo half way; until [ -e go ]; do sleep 0.05; done; echo over; fi',
    },
  ],
};
const argsOf = (scene: Scene) => ['mapreduce', 'run', scene.write(WAITING), '--data', scene.data];

const letGo = (scene: Scene): void => writeFileSync(scene.path('go'), '');

describe('progress', () => {
  test('is a table on a terminal: state, attempt, quiet for, time left, cost, last line', async ({
    scene,
  }) => {
    const err = Object.assign(new PassThrough(), { isTTY: true, columns: 200 });
    let seen = '';
    err.on('data', (text) => {
      seen += String(text);
    });
    const running = run(argsOf(scene), new Output(new PassThrough(), err));
    const row =
      /a +running +attempt 1 {2}quiet \d+s {2}left 59\ds {2}usd 0\.2 {2}half way\n1\/2 done · 1 running/;
    await until(() => row.test(seen));
    letGo(scene);
    expect(await running).toBe(0);
  });

  test('is a line of JSON for each attempt that begins and each item that is final', async ({
    scene,
  }) => {
    letGo(scene);
    const { err, out, code } = await escapement([...argsOf(scene), '--json']);
    expect([code, JSON.parse(out).summary.done]).toEqual([0, 2]);
    const lines = err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const of = (item: string) => lines.filter((line) => line.item === item);
    expect(of('a')[0]).toMatchObject({ agentId: 'agent-0-1', state: 'running', attempt: 1 });
    expect(of('a').at(-1)).toMatchObject({ state: 'done', reason: null });
    expect(of('b').at(-1)).toMatchObject({ state: 'done' });
  });

  test('is nothing with --quiet', async ({ scene }) => {
    letGo(scene);
    expect((await escapement([...argsOf(scene), '--json', '--quiet'])).err).toBe('');
  });
});

describe('mapreduce logs', () => {
  test('prints what an item has printed, and with -f what comes until it has its end', async ({
    scene,
  }) => {
    const child = start([...argsOf(scene), '--run-id', 'r1', '--quiet']);
    const end = ended(child);
    const logs = (...args: string[]) =>
      escapement(['mapreduce', 'logs', ...args, '--data', scene.data]);
    await until(async () => (await logs('a')).out.includes('half way'));
    expect((await logs('a')).out).toBe('first of a\noops\n::cost usd=0.2\nhalf way\n');
    const following = logs('a', '-f', '--run', 'r1');
    letGo(scene);
    expect((await following).out).toBe('first of a\noops\n::cost usd=0.2\nhalf way\nover\n');
    expect((await end).code).toBe(0);
    const lines = (await logs('a', '--json')).out.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { command: 0, stream: 'out', agentId: 'agent-0-1', text: 'first of a\n' },
      { command: 0, stream: 'err', agentId: 'agent-0-1', text: 'oops\n' },
      {
        command: 1,
        stream: 'out',
        agentId: 'agent-0-1',
        text: '::cost usd=0.2\nhalf way\nover\n',
      },
    ]);
  });

  test('says what there is not', async ({ scene }) => {
    const logs = (...args: string[]) =>
      escapement(['mapreduce', 'logs', ...args, '--data', scene.data]);
    const missing = await logs('a');
    expect([missing.code, missing.err]).toEqual([65, expect.stringContaining('no such directory')]);
    letGo(scene);
    await escapement([...argsOf(scene), '--quiet']);
    const nobody = await logs('nobody');
    expect([nobody.code, nobody.err]).toEqual([1, expect.stringContaining('no item "nobody"')]);
    const noRun = await logs('a', '--run', 'r9');
    expect([noRun.code, noRun.err]).toEqual([1, expect.stringContaining('no run "r9"')]);
  });
});
