/** Map-reduce runs on the command line: their exit codes, and the sample workflow as it was written. */

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { ended, escapement, start } from '../../cli/command-line.ts';
import { until } from '../../kit/eventually.ts';
import { SAMPLE } from '../machines/sample.ts';
import { type Given, ONLY_A, type Scene, test } from './scene.ts';

const AGENT_1 = { agent_timeout_secs: 1 };

const run = (scene: Scene, given: Given | string, ...args: string[]) => {
  const file = typeof given === 'string' ? given : scene.write(given);
  return escapement(['mapreduce', 'run', file, '--data', scene.data, '--json', ...args]);
};
const writeText = (scene: Scene, text: string): string => {
  scene.write();
  writeFileSync(scene.path('workflow.yml'), text);
  return scene.path('workflow.yml');
};

describe('the sample workflow', () => {
  test('[1] runs as it is written', async ({ scene }) => {
    mkdirSync(scene.path('bin'));
    for (const name of ['claude', 'validate-results']) {
      const log = `#!/bin/sh\nprintf '%s|' "$(basename "$0")" "$@" >> "${scene.path('log')}"\necho >> "${scene.path('log')}"\n`;
      writeFileSync(scene.path(`bin/${name}`), log);
      chmodSync(scene.path(`bin/${name}`), 0o755);
    }
    writeFileSync(scene.path('workflow.yml'), SAMPLE);
    writeFileSync(scene.path('large-dataset.json'), '{"items": [{"id": "a"}, {"id": "b"}]}');
    const valid = await escapement(['mapreduce', 'validate', scene.path('workflow.yml'), '--json']);
    expect(JSON.parse(valid.out)).toMatchObject({
      agentLimitMs: 600_000,
      commands: [{ limitMs: 600_000 }, { limitMs: 60_000 }, { limitMs: 300_000 }],
      warnings: [],
    });
    const path = `${scene.path('bin')}:${process.env.PATH}`;
    const args = ['mapreduce', 'run', scene.path('workflow.yml'), '--data', scene.data, '--json'];
    const { code, out } = await ended(start([...args, '--parallel', '1'], { PATH: path }));
    expect([code, JSON.parse(out).summary]).toEqual([
      0,
      { done: 2, dlq: 0, skipped: 0, failed: 0 },
    ]);
    const results =
      '[{"item_id":"a","outcome":"done","output":""},{"item_id":"b","outcome":"done","output":""}]';
    expect(scene.read('log').trim().split('\n')).toEqual([
      `claude|/analyze-complex-item '{"id":"a"}'|`,
      'validate-results|a|',
      `claude|/generate-report '{"id":"a"}'|`,
      `claude|/analyze-complex-item '{"id":"b"}'|`,
      'validate-results|b|',
      `claude|/generate-report '{"id":"b"}'|`,
      `claude|/summarize-results ${results}|`,
    ]);
  });
});

describe('the exit code', () => {
  test('is 0 when all is done or skipped', async ({ scene }) => {
    expect((await run(scene, {})).code).toBe(0);
    const timeout = { timeout_action: 'skip' };
    expect((await run(scene, { items: ['a'], map: AGENT_1, shell: ONLY_A, timeout })).code).toBe(0);
  });

  test('is 1 when the run has failed', async ({ scene }) => {
    expect((await run(scene, { map: { on_item_failure: 'fail' }, shell: 'exit 1' })).code).toBe(1);
    expect((await run(scene, { workflow: { setup: [{ shell: 'exit 1' }] } })).code).toBe(1);
    expect((await run(scene, { workflow: { reduce: [{ shell: 'exit 1' }] } })).code).toBe(1);
  });

  test('is 3 with failed items, and of a retry 0, 3 or 1', async ({ scene }) => {
    const { code } = await run(scene, { items: [{ id: 'a' }], shell: 'test -e go' });
    expect(code).toBe(3);
    const retry = async (...args: string[]) =>
      (await escapement(['dlq', 'retry', '--data', scene.data, '--quiet', ...args])).code;
    expect(await retry('a')).toBe(3);
    expect(await retry('a', '--max-retries', '1')).toBe(1);
    expect(await retry('nobody')).toBe(1);
    writeFileSync(scene.path('go'), '');
    expect(await retry('--all')).toBe(0);
    expect(await retry('--all')).toBe(1);
  });

  test('is 64 for wrong usage', async ({ scene }) => {
    const all = await Promise.all(
      [
        ['mapreduce', 'run'],
        ['mapreduce', 'run', 'w.yml', '--parallel', '0'],
        ['mapreduce', 'run', 'w.yml', '--agent-timeout', '1.0005'],
        ['mapreduce', 'run', 'w.yml', '--command', 'other=x'],
        ['mapreduce', 'run', 'w.yml', '--listen', '192.0.2.1:80'],
        ['dlq', 'purge', '--all', '--data', scene.data],
        ['dlq', 'purge', '--yes', '--data', scene.data],
        ['timeouts', 'extend', 'agent-0-1', '--data', scene.data],
        ['timeouts', 'extend', 'agent-0-1', '--by', '61d', '--data', scene.data],
        ['mapreduce', 'run', 'w.yml', '--resume', 'r1', '--data', scene.data],
        ['mapreduce', 'run', '--resume', 'r1', '--parallel', '2', '--data', scene.data],
        ['mapreduce', 'run', '--resume', 'r1', '--agent-timeout', '2', '--data', scene.data],
      ].map(async (args) => (await escapement(args)).code),
    );
    expect(all).toEqual(all.map(() => 64));
  });

  test.for([
    ['[24] that is broken', '[1,', '$[*]'],
    ['that goes on behind its end', '[1] 2', '$[*]'],
    ['that is none', undefined, '$[*]'],
    ['with a path that is none', '[1]', '$[*'],
  ] as ReadonlyArray<readonly [string, string | undefined, string]>)(
    'H78: is 65 for an input %s',
    async ([_, text, json_path], { scene }) => {
      const file = scene.write({
        map: { json_path, ...(text === undefined && { input: 'none.json' }) },
      });
      if (text !== undefined) writeFileSync(scene.path('items.json'), text);
      const { code } = await run(scene, file);
      expect(code).toBe(65);
    },
  );

  test('H78: [24] is 0, with a warning and no reduce, where the path matches nothing', async ({
    scene,
  }) => {
    const workflow = { reduce: [{ shell: 'touch reduced' }] };
    const { code, out, err } = await run(scene, { map: { json_path: '$.none[*]' }, workflow });
    expect([code, JSON.parse(out).reduce, scene.has('reduced')]).toEqual([0, null, false]);
    expect(err).toBe('warning: $.none[*] matches nothing in items.json\n');
  });

  test('is 73 when another run has the directory', async ({ scene }) => {
    const file = scene.write({ items: ['a'], shell: 'touch begun; sleep 60' });
    const first = start(['mapreduce', 'run', file, '--data', scene.data]);
    const end = ended(first);
    await until(() => scene.has('begun'));
    const second = start(['mapreduce', 'run', file, '--data', scene.data]);
    expect((await ended(second)).code).toBe(73);
    first.kill('SIGTERM');
    expect((await end).code).toBe(143);
  });

  test('H7: [14] is 78 for two agent limits that differ, with both', async ({ scene }) => {
    const { code, err } = await run(scene, {
      map: { agent_timeout_secs: 5 },
      timeout: { agent_timeout_secs: 6 },
    });
    expect([code, err]).toEqual([
      78,
      expect.stringContaining(
        'Invalid timeout configuration: map.agent_timeout_secs (5) and timeout_config.agent_timeout_secs (6) differ',
      ),
    ]);
  });

  test.for<readonly [string, string]>([
    ['a tag that would be code', 'mode: !!js/function "f"\n'],
    [
      'aliases that come to a bomb',
      `a: &a [x,x,x,x,x]\nb: &b [${'*a,'.repeat(50)}]\nc: [${'*b,'.repeat(90)}]\n`,
    ],
  ])('H14: is 78 for %s', async ([_, text], { scene }) => {
    expect((await run(scene, writeText(scene, text))).code).toBe(78);
  });

  test.for([
    'echo $(cat ${item})',
    'echo `cat ${item}`',
    'echo $((${item}+1))',
    'cat <<E\n${item}\nE\n',
  ])('H77: [37] is 78 for a placeholder that a shell would parse: %s', async (shell, { scene }) => {
    const { code, err } = await run(scene, { shell: `touch started; ${shell}` });
    expect([code, scene.has('started')]).toEqual([78, false]);
    expect(err).toContain('map.agent_template.0.shell: ${item} stands inside or after');
  });

  test('is 78 for a file that is not there, and a worktree without a repository', async ({
    scene,
  }) => {
    const { code, err } = await run(scene, scene.path('none.yml'));
    expect([code, err]).toEqual([78, expect.stringContaining('none.yml: there is no such file')]);
    expect((await run(scene, { map: { worktree: true } })).code).toBe(78);
  });

  test.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'is that of %s, after which the run goes on where it was',
    async ([signal, code], { scene }) => {
      const shell = 'if [ "$ESCAPEMENT_ATTEMPT" = 1 ]; then touch begun; sleep 60; fi';
      const file = scene.write({ items: ['a'], shell });
      const child = start([
        'mapreduce',
        'run',
        file,
        '--data',
        scene.data,
        '--run-id',
        'r1',
        '--json',
      ]);
      const end = ended(child);
      await until(() => scene.has('begun'));
      child.kill(signal);
      const first = await end;
      expect([first.code, JSON.parse(first.out).status]).toEqual([code, 'interrupted']);
      const resume = (...args: string[]) =>
        escapement(['mapreduce', 'resume', 'r1', '--data', scene.data, ...args]);
      writeFileSync(file, '# changed\n');
      expect((await resume()).code).toBe(78);
      expect((await resume('--use-stored')).code).toBe(0);
    },
  );

  test('is that of the run once more where nothing is left to resume', async ({ scene }) => {
    const file = scene.write({ items: [{ id: 'a' }, { id: 'b' }], shell: 'test ${item.id} = b' });
    const first = await run(scene, file, '--run-id', 'r1');
    const again = await escapement(['mapreduce', 'resume', 'r1', '--data', scene.data, '--json']);
    expect([first.code, again.code, again.err]).toEqual([3, 3, '']);
    expect(JSON.parse(again.out)).toEqual(JSON.parse(first.out));
  });

  test('comes at once after a second signal, which skips the grace', async ({ scene }) => {
    const shell = 'trap "touch asked" TERM; touch begun; while :; do sleep 0.05; done';
    const file = scene.write({ items: ['a'], shell, timeout: { cleanup_grace_period_secs: 600 } });
    const child = start(['mapreduce', 'run', file, '--data', scene.data]);
    const end = ended(child);
    await until(() => scene.has('begun'));
    child.kill('SIGINT');
    await until(() => scene.has('asked'));
    child.kill('SIGINT');
    expect((await end).code).toBe(130);
  });

  test('of what looks is 1 for what is not there, and 65 without a directory', async ({
    scene,
  }) => {
    await run(scene, {});
    const codes = await Promise.all(
      [
        ['mapreduce', 'show', 'none', '--data', scene.data],
        ['dlq', 'show', 'none', '--data', scene.data],
        ['dlq', 'purge', 'none', '--yes', '--data', scene.data],
        ['timeouts', 'stats', '--run', 'none', '--data', scene.data],
        ['timeouts', 'list', '--run', 'none', '--data', scene.data],
        ['timeouts', 'show', 'agent-9-9', '--data', scene.data],
        ['timeouts', 'extend', 'agent-0-1', '--by', '1s', '--data', scene.data],
        ['mapreduce', 'list', '--data', scene.path('none')],
        ['mapreduce', 'list', '--data', scene.data],
      ].map(async (args) => (await escapement(args)).code),
    );
    expect(codes).toEqual([1, 1, 1, 1, 1, 1, 1, 65, 0]);
  });
});

test('more than a thousand failed items are told of, and none is dropped', async ({ scene }) => {
  const items = Array.from({ length: 1_001 }, (_, index) => ({ id: index }));
  const { code, err } = await run(
    scene,
    { items, shell: 'echo ${item.none}', map: { max_parallel: 50 } },
    '--quiet',
  );
  const warning = 'warning: 1001 failed items are on record, more than 1000';
  expect([code, err]).toEqual([3, expect.stringContaining(warning)]);
  const list = await escapement(['dlq', 'list', '--data', scene.data, '--json']);
  expect(list.err).toContain(warning);
  expect(JSON.parse(list.out).items).toHaveLength(1_001);
});
