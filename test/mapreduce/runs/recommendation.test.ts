/** Recommended limits from stored runs, on the command line: what is printed, written, and learnt by the next run. */

import { appendFileSync, chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { escapement } from '../../cli/command-line.ts';
import { type Scene, test } from './scene.ts';
import { storeRun } from './stored-durations.ts';

/** 100, 200, … ms. */
const steps = (count: number) => Array.from({ length: count }, (_, index) => (index + 1) * 100);
const recommend = async (scene: Scene, ...args: string[]) => {
  const all = ['timeouts', 'recommend', '--data', scene.data, '--json', ...args];
  const { code, out, err } = await escapement(all);
  return { code, err, found: code === 0 ? JSON.parse(out) : undefined };
};
const TEXT = `# What runs at night.
name: nightly
mode: mapreduce

map:
  input: items.json # beside it
  timeout_config:
    # Long enough.
    cleanup_grace_period_secs: 0.3
  agent_template:
    - shell: "true" # nothing
`;
const writeText = (scene: Scene, text = TEXT): string => {
  scene.write({ items: ['a'] });
  writeFileSync(scene.path('workflow.yml'), text);
  chmodSync(scene.path('workflow.yml'), 0o640);
  return scene.path('workflow.yml');
};

describe('timeouts recommend', () => {
  test('[28] the 99th percentile of successes and a half more, in whole seconds', async ({
    scene,
  }) => {
    await storeRun({ data: scene.data, file: writeText(scene) }, steps(20));
    const { found } = await recommend(scene);
    const each = { samples: 20, censored: 0, percentileMs: 2_000, recommendedSecs: 3, mark: null };
    expect(found.recommendations).toEqual([
      { key: 'agent', ...each },
      { key: 'shell', ...each },
      { key: 'shell_0', ...each },
    ]);
    const text = await escapement(['timeouts', 'recommend', '--data', scene.data]);
    expect(text.out.split('\n').slice(0, 3)).toEqual([
      'timeout_config:',
      '  agent_timeout_secs: 3 # 20 samples, 2s, 0 censored',
      '  command_timeouts:',
    ]);
    const other = await recommend(scene, '--percentile', '50', '--factor', '1');
    expect(other.found.recommendations[0]).toMatchObject({
      percentileMs: 1_000,
      recommendedSecs: 1,
    });
  });

  test('says what is too little to go by, and what limits have cut', async ({ scene }) => {
    const text = TEXT.replace(
      '  timeout_config:\n',
      '  agent_timeout_secs: 1.95\n  timeout_config:\n',
    );
    await storeRun({ data: scene.data, file: writeText(scene, text) }, steps(20));
    const few = await recommend(scene);
    expect(few.found.recommendations[0]).toEqual({
      key: 'agent',
      samples: 19,
      censored: 1,
      percentileMs: 1_900,
      recommendedSecs: null,
      mark: 'insufficient',
    });
    const { found } = await recommend(scene, '--min-samples', '10');
    expect(found.recommendations[0]).toMatchObject({ recommendedSecs: 3, mark: 'lower_bound' });
  });

  test('[39] --write puts a limit into the file as it stands, once', async ({ scene }) => {
    const file = writeText(scene);
    await storeRun({ data: scene.data, file }, steps(20));
    const first = await recommend(scene, '--workflow', 'nightly', '--write');
    const path = 'map.timeout_config.agent_timeout_secs';
    expect(first.found.changes).toEqual([{ path, from: null, to: 3 }]);
    const written = readFileSync(file, 'utf8');
    expect(written).toBe(TEXT.replace('cleanup', 'agent_timeout_secs: 3\n    cleanup'));
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect((await escapement(['mapreduce', 'validate', file])).code).toBe(0);
    const second = await recommend(scene, '--workflow', 'nightly', '--write');
    expect([second.code, second.found.changes]).toEqual([0, []]);
    expect(readFileSync(file, 'utf8')).toBe(written);
    // What was written here is nobody else's change.
    const third = await recommend(scene, '--workflow', 'nightly', '--write', '--factor', '2');
    expect(third.found.changes).toEqual([{ path, from: 3, to: 4 }]);
  });

  test('--write leaves a file alone that somebody has changed, and values that say little', async ({
    scene,
  }) => {
    const file = writeText(scene);
    await storeRun({ data: scene.data, file }, steps(20));
    const few = await recommend(scene, '--workflow', 'nightly', '--write', '--min-samples', '21');
    expect([few.code, few.found.changes]).toEqual([0, []]);
    appendFileSync(file, '# another line\n');
    const refused = await recommend(scene, '--workflow', 'nightly', '--write');
    expect([refused.code, refused.err]).toEqual([
      78,
      expect.stringContaining('was changed since run stored'),
    ]);
    expect(readFileSync(file, 'utf8')).toBe(`${TEXT}# another line\n`);
  });

  test('needs a workflow to write, one that has run, and numbers', async ({ scene }) => {
    await storeRun({ data: scene.data, file: writeText(scene) }, steps(1));
    const codes = await Promise.all(
      [['--write'], ['--workflow', 'other'], ['--percentile', '0'], ['--factor', '0.5']].map(
        async (args) => (await recommend(scene, ...args)).code,
      ),
    );
    expect(codes).toEqual([64, 1, 64, 64]);
    expect((await escapement(['timeouts', 'recommend', '--data', scene.path('none')])).code).toBe(
      65,
    );
  });
});

describe('[38] adaptive limits', () => {
  const adaptive = TEXT.replace('    # Long', '    adaptive: { max_secs: 60 }\n    # Long').replace(
    'shell: "true"',
    'shell: sleep 30',
  );
  const run = (scene: Scene, ...args: string[]) =>
    escapement([
      'mapreduce',
      'run',
      scene.path('workflow.yml'),
      '--data',
      scene.data,
      '--json',
      ...args,
    ]);

  test('follow twenty successes, and are enforced', async ({ scene }) => {
    await storeRun({ data: scene.data, file: writeText(scene, adaptive) }, steps(20));
    const { code, out, err } = await run(scene);
    expect(err).toContain('adaptive: limit of agent: 3s, from 20 successes');
    const [item] = JSON.parse(out).items;
    expect([code, item.outcome, item.attempts[0].timeout.configuredMs]).toEqual([3, 'dlq', 3_000]);
  });

  test('are the ordinary ones after nineteen, with a warning', async ({ scene }) => {
    const quick = adaptive.replace('sleep 30', '"true"');
    await storeRun({ data: scene.data, file: writeText(scene, quick) }, steps(19));
    const { code, out, err } = await run(scene);
    const warning =
      'adaptive: 19 successes are too few for the limit of agent; the ordinary 60s holds';
    expect([code, JSON.parse(out).warnings]).toEqual([0, expect.arrayContaining([warning])]);
    expect(err).toContain(`warning: ${warning}`);
  });

  test('are not lowered by what limits have cut, nor where somebody states one', async ({
    scene,
  }) => {
    const cut = adaptive.replace('sleep 30', '"true"');
    const limited = TEXT.replace(
      '  timeout_config:\n',
      '  agent_timeout_secs: 2.05\n  timeout_config:\n',
    );
    await storeRun({ data: scene.data, file: writeText(scene, limited) }, steps(21));
    writeText(scene, cut);
    const { err } = await run(scene);
    expect(err).toContain('limit of agent: 60s, from 20 successes, a lower bound');
    const stated = await run(scene, '--agent-timeout', '7');
    expect(stated.err).not.toContain('adaptive');
  });
});
