/** Values of items on their way to commands, and what commands print, with real processes. */

import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { TRUNCATION_MARK } from '../../../programs/processes.ts';
import { compiledProgram } from '../../kit/compiled.ts';
import { ROOT } from '../../project-files.ts';
import { type Scene, test } from './scene.ts';

const HOSTILE = [
  "'; touch pwned; '",
  '$(touch pwned)',
  '`touch pwned`',
  'a\nb',
  '"; touch pwned; "',
  '-n',
  '*',
  ' ',
  '~',
  '\\',
  "'",
];
const outputs = (document: { items: ReadonlyArray<{ output: string | null }> }) =>
  document.items.map(({ output }) => output);

describe.concurrent('a placeholder', () => {
  test.for([
    ['without quotes', 'printf %s ${item}'],
    ['in double quotes', 'printf %s "${item}"'],
    ['in single quotes', "printf %s '${item}'"],
    [
      'beside other text',
      'printf %s a${item}"b${item}"\'c${item}\' | tail -c +2 | sed "1s/^//" >/dev/null; printf %s ${item}',
    ],
    ['in env', 'printf %s "$VALUE"'],
  ])('H77: [15] gives a shell the exact text %s', async ([_, shell], { scene }) => {
    const steps = [{ shell, env: { VALUE: '${item}' } }];
    const document = await scene.run({ steps, items: HOSTILE });
    expect(outputs(document)).toEqual(HOSTILE);
    expect(scene.has('pwned')).toBe(false);
  });

  test('H77: [16] gives a claude step one argument', async ({ scene }) => {
    writeFileSync(scene.path('stub'), '#!/bin/sh\nprintf "%s|" "$#" "$@"\n');
    chmodSync(scene.path('stub'), 0o755);
    const steps = [{ claude: "/look '${item}'" }];
    const document = await scene.run(
      { steps, items: HOSTILE },
      { claude: [scene.path('stub'), '-p'] },
    );
    expect(outputs(document)).toEqual(HOSTILE.map((item) => `2|-p|/look '${item}'|`));
  });

  test('gives exec its arguments, and members of an item as JSON', async ({ scene }) => {
    const items = [{ id: 'one', list: [1, { a: null }] }];
    const steps = [{ exec: ['printf', '%s %s %s', '${item.id}', '${item.list.1}', '${other}'] }];
    const document = await scene.run({ steps, items });
    expect(document.items[0]).toMatchObject({ itemId: 'one', output: 'one {"a":null} ${other}' });
  });

  test.for([
    ['that has no such field', [{ a: 1 }], 'printf %s ${item.b}'],
    ['with a NUL byte', ['a\0b'], 'printf %s ${item}'],
    ['that is larger than an argument may be', ['x'.repeat(100_001)], 'printf %s ${item}'],
  ])('H77: of an item %s fails it, and nothing runs', async ([_, items, shell], { scene }) => {
    const map = { retry: { max_attempts: 3 } };
    const document = await scene.run({ items, shell: `touch ran; ${shell}`, map });
    expect(document.items[0]).toMatchObject({ outcome: 'dlq', reason: 'validation' });
    expect(document.items[0]?.attempts).toHaveLength(1);
    expect(scene.has('ran')).toBe(false);
  });

  test('of each attempt at work is in a file of its own', async ({ scene }) => {
    const items = Array.from({ length: 24 }, (_, index) => ({ id: `n${index}`, index }));
    const shell =
      'sleep 0.02; cat "$ESCAPEMENT_ITEM_FILE"; basename "$ESCAPEMENT_ITEM_FILE" >> files';
    const document = await scene.run({ items, shell, map: { max_parallel: 4 } });
    expect(document.items.map(({ output }) => JSON.parse(output ?? ''))).toEqual(items);
    expect(new Set(scene.read('files').trim().split('\n')).size).toBeLessThanOrEqual(4);
  });

  test('is not needed for an item of a megabyte: it is read from its file', async ({ scene }) => {
    const items = ['y'.repeat(1_000_000)];
    const document = await scene.run({ items, shell: 'wc -c < "$ESCAPEMENT_ITEM_FILE"' });
    expect(outputs(document)).toEqual(['1000002']);
  });
});

describe.concurrent('a command', () => {
  test('H79: [29] that floods its output is done, and what is kept is marked', async ({
    scene,
  }) => {
    const shell = 'head -c 50000000 /dev/zero | tr "\\0" x';
    const document = await scene.run({ items: ['a'], shell });
    expect(document.items[0]?.outcome).toBe('done');
    expect(document.items[0]?.output).toHaveLength(10_485_760 + TRUNCATION_MARK.length);
    expect(document.items[0]?.output?.endsWith(TRUNCATION_MARK)).toBe(true);
  });

  test('H79: that prints bytes that are no text is kept as far as they are', async ({ scene }) => {
    const document = await scene.run({ items: ['a'], shell: "printf 'a\\377b'" });
    expect(outputs(document)).toEqual(['a\ufffdb']);
  });

  test('H79: that leaves something in the background ends, and that is cleaned away', async ({
    scene,
  }) => {
    const shell = 'setsid sleep 60 & sleep 60 & printf ok';
    const document = await scene.run({ items: ['a', 'b'], shell });
    expect(outputs(document)).toEqual(['ok', 'ok']);
    expect(scene.processesLeft()).toEqual([]);
  });

  test('that fails fails its item, with its code', async ({ scene }) => {
    const steps = [{ shell: 'exit 3' }, { shell: 'touch next' }];
    const document = await scene.run({ items: ['a'], steps });
    expect(document.items[0]).toMatchObject({ outcome: 'dlq', reason: 'commandFailed' });
    expect(document.items[0]?.attempts[0]).toMatchObject({
      error: 'Command 0 exited with code 3',
      commands: [{ exitCode: 3 }],
    });
    expect(scene.has('next')).toBe(false);
  });

  test('knows where it is', async ({ scene }) => {
    const shell =
      'printf "%s %s %s %s %s" "$ESCAPEMENT_RUN_ID" "$ESCAPEMENT_ITEM_ID" "$ESCAPEMENT_AGENT_ID" "$ESCAPEMENT_ATTEMPT" "$(cat "$ESCAPEMENT_ITEM_FILE")"';
    const document = await scene.run({ items: ['a'], shell }, { runId: 'r1' });
    expect(outputs(document)).toEqual(['r1 item_0 agent-0-1 1 "a"']);
  });
});

describe('an input', () => {
  test('H78: of a million items needs the memory of one', async ({ scene }) => {
    const output = openSync(scene.path('items.json'), 'w');
    writeSync(output, '{"about": "many", "items": [');
    const part = Array.from(
      { length: 1_000 },
      () => '{"text": "neither long nor short, and the same as all others"}',
    );
    for (let index = 0; index < 1_000; index++)
      writeSync(output, `${index === 0 ? '' : ','}${part.join(',')}`);
    writeSync(output, ']}');
    closeSync(output);
    const script = `
      import { readInput, writeItems } from ${JSON.stringify(compiledProgram('programs/mapreduce/items.ts'))};
      const input = readInput(${JSON.stringify(scene.path('items.json'))}, '$.items[*]');
      console.log(input.count, writeItems(${JSON.stringify(scene.path('out'))}, input.items()).count);`;
    // The text alone is larger than that.
    const args = ['--max-old-space-size=32', '--input-type=module', '-e', script];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: ROOT });
    expect([stdout, stderr]).toEqual(['1000000 1000000\n', '']);
  });
});

describe.concurrent('H79: a hostile command', () => {
  const stopped = async (scene: Scene, shell: string) => {
    const map = { agent_timeout_secs: 2, max_output_bytes: 1_000_000 };
    const document = await scene.run({ items: ['a'], shell, map });
    expect(scene.processesLeft()).toEqual([]);
    return document.items[0];
  };

  test('that floods without an end is stopped at its limit, and the beginning is kept', async ({
    scene,
  }) => {
    const item = await stopped(scene, 'exec tr "\\0" x < /dev/zero');
    expect(item).toMatchObject({ outcome: 'dlq', reason: 'timeout' });
    expect(item?.attempts[0]?.commands[0]?.output).toHaveLength(1_000_000 + TRUNCATION_MARK.length);
  });

  test('that becomes a daemon, ignores SIGTERM and never reads is killed whole', async ({
    scene,
  }) => {
    const item = await stopped(
      scene,
      'trap "" TERM HUP INT; (setsid sh -c \'trap "" TERM; while :; do sleep 1; done\' &) ; while :; do sleep 1; done',
    );
    expect(item?.attempts[0]?.timeout).toMatchObject({ resolution: 'ForceTermination' });
  });

  test('finds nothing to read', async ({ scene }) => {
    const document = await scene.run({ items: ['a'], shell: 'cat; printf end' });
    expect(outputs(document)).toEqual(['end']);
  });
});

describe.concurrent('a reduce', () => {
  test('[25] sees each item once, in the order of the input', async ({ scene }) => {
    const shell = 'if [ ${item} = a ]; then exit 1; fi; printf %s ${item}';
    const workflow = { reduce: [{ shell: "printf %s '${map.results}'" }] };
    const document = await scene.run({ shell, workflow });
    expect(document.reduce?.outcome).toBe('done');
    expect(JSON.parse(document.reduce?.output ?? '')).toEqual([
      { item_id: 'item_0', outcome: 'dlq', output: null },
      { item_id: 'item_1', outcome: 'done', output: 'b' },
      { item_id: 'item_2', outcome: 'done', output: 'c' },
    ]);
  });

  test('gets the path of results that are too long', async ({ scene }) => {
    const workflow = { reduce: [{ shell: 'cut -c2- ${map.results}' }, { shell: 'true' }] };
    const steps = [{ exec: ['printf', '%s', '${map.results}'] }];
    const given = { shell: 'head -c 90000 /dev/zero | tr "\\0" x', workflow: { reduce: steps } };
    const document = await scene.run(given);
    expect(document.reduce?.output).toMatch(/^@\/.*\/results\.json$/);
    expect(workflow.reduce).toHaveLength(2);
  });

  test('that fails fails the run, and the results of the map stay', async ({ scene }) => {
    const document = await scene.run({ workflow: { reduce: [{ shell: 'exit 2' }] } });
    expect(document).toMatchObject({ status: 'failed', summary: { done: 3 } });
    expect(document.reason).toBe('reduce failed: Command 0 exited with code 2');
  });

  test('follows a setup, which runs once before all items', async ({ scene }) => {
    const workflow = {
      setup: [{ shell: 'printf s > order' }],
      reduce: [{ shell: 'printf r >> order' }],
    };
    await scene.run({ shell: 'printf ${item} >> order', workflow });
    expect(scene.read('order')).toBe('sabcr');
  });

  test('is not run where a setup fails, nor are items', async ({ scene }) => {
    const workflow = { setup: [{ shell: 'exit 1' }], reduce: [{ shell: 'touch reduced' }] };
    const document = await scene.run({ shell: 'touch ran', workflow });
    expect([document.status, scene.has('ran'), scene.has('reduced')]).toEqual([
      'failed',
      false,
      false,
    ]);
    expect(document.items.map(({ reason }) => reason)).toEqual([
      'jobFailed',
      'jobFailed',
      'jobFailed',
    ]);
  });

  test('[24] does not follow a map without items', async ({ scene }) => {
    const given = {
      map: { json_path: '$.none[*]' },
      workflow: { reduce: [{ shell: 'touch reduced' }] },
    };
    const document = await scene.run(given);
    expect(document).toMatchObject({ status: 'completed', reduce: null, items: [] });
    expect(document.warnings).toEqual(['$.none[*] matches nothing in items.json']);
    expect(scene.has('reduced')).toBe(false);
  });
});
