/** Silence, quotas, budgets, failures in number and other ends of runs that are off unless somebody asks, with real processes. */

import { writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { escapement } from '../../cli/command-line.ts';
import { type Given, type Scene, test } from './scene.ts';

const run = async (scene: Scene, given: Given, ...args: string[]) => {
  const all = [
    'mapreduce',
    'run',
    scene.write(given),
    '--data',
    scene.data,
    '--run-id',
    'r1',
    '--json',
  ];
  const { code, out, err } = await escapement([...all, ...args]);
  return { code, err, document: JSON.parse(out) };
};
const outcomes = ({ items }: { items: ReadonlyArray<{ outcome: string }> }) =>
  items.map(({ outcome }) => outcome);
const why = async (scene: Scene, address: string) => {
  const { openLmdbData } = await import('../../../cli/loaders/lmdb-data.ts');
  const sources = { openStoredData: openLmdbData };
  const { out } = await escapement(['why', address, '--from', scene.data, '--json'], sources);
  return JSON.parse(out) as { readonly verdict: string; readonly reason?: string };
};

describe('an idle limit', () => {
  test('ends a command that is silent, and is moved by any byte', async ({ scene }) => {
    const shell =
      'if [ ${item} = a ]; then printf x; sleep 60; fi; for i in 1 2 3 4 5 6 7 8; do printf .; sleep 0.5; done';
    const { document } = await run(scene, {
      items: ['a', 'b'],
      shell,
      map: { idle_timeout_secs: 3, max_parallel: 2 },
    });
    expect(outcomes(document)).toEqual(['dlq', 'done']);
    expect(document.items[0].attempts[0]).toMatchObject({
      timeout: { type: 'idle', configuredMs: 3_000 },
      commands: [{ output: 'x' }],
    });
    const { verdict, reason } = await why(scene, 'map-agent/r1/agent-0-1');
    expect([reason, verdict]).toEqual(['idle', expect.stringContaining('was idle for 3s')]);
  });
});

describe('a quota', () => {
  test.for([
    ['by its exit code', { exit_codes: [75] }, 'exit 75'],
    [
      'by what it prints',
      { output_matches: ['rate limit'] },
      'echo the rate limit is reached; exit 1',
    ],
  ] as ReadonlyArray<readonly [string, object, string]>)(
    'that a command tells %s pauses the run, and no item fails by it',
    async ([_, quota, end], { scene }) => {
      const shell = `if [ ! -e used ]; then touch used; ${end}; fi`;
      const map = { quota: { ...quota, resume_after_secs: 0.5 } };
      const { code, document } = await run(scene, { shell, map });
      expect([code, outcomes(document)]).toEqual([0, ['done', 'done', 'done']]);
      expect(document.items[0].attempts.map(({ outcome }: { outcome: string }) => outcome)).toEqual(
        ['deferred', 'done'],
      );
      expect((await why(scene, 'map-agent/r1/agent-0-1')).verdict).toContain('a quota is used up');
    },
  );
});

describe('a budget', () => {
  test('of an item ends the attempt that goes over it', async ({ scene }) => {
    const shell = 'echo ::cost cents=${item}; if [ ${item} = 200 ]; then sleep 60; fi';
    const { document } = await run(scene, {
      items: [50, 200],
      shell,
      map: { budgets: { item: { cents: 100 } } },
    });
    expect(outcomes(document)).toEqual(['done', 'dlq']);
    expect(document.items[1].attempts[0].timeout.type).toBe('budget');
    expect((await why(scene, 'map-agent/r1/agent-1-1')).verdict).toContain(
      'went over its budget of 100 cents',
    );
  });

  test('of a run fails it', async ({ scene }) => {
    const shell = 'echo ::cost tokens=60; sleep 0.5';
    const { code, document } = await run(scene, {
      shell,
      map: { budgets: { run: { tokens: 100 } } },
    });
    expect([code, document.status, document.reason]).toEqual([
      1,
      'failed',
      'the budget of the run is used up',
    ]);
  });
});

describe('--halt', () => {
  const shell =
    'if [ ${item} = b ]; then sleep 60; fi; if [ ${item} = a ]; then sleep 0.5; exit 1; fi';
  test('now,fail=1 stops what runs', async ({ scene }) => {
    const { code, document } = await run(
      scene,
      { shell, map: { max_parallel: 2 } },
      '--halt',
      'now,fail=1',
    );
    expect([code, document.reason, outcomes(document)]).toEqual([
      1,
      'too many items have failed',
      ['dlq', 'failed', 'failed'],
    ]);
    expect((await why(scene, 'mapreduce/r1')).verdict).toContain('too many items have failed');
  });

  test('soon,fail=30% lets what runs come to its end', async ({ scene }) => {
    const quick = shell.replace('sleep 60', 'sleep 2');
    const { code, document } = await run(
      scene,
      { shell: quick, map: { max_parallel: 2 } },
      '--halt',
      'soon,fail=30%',
    );
    expect([code, outcomes(document)]).toEqual([1, ['dlq', 'done', 'failed']]);
  });

  test.for(['never', 'now', 'now,fail=0', 'soon,fail=101%'])('refuses %s', async (halt) => {
    expect((await escapement(['mapreduce', 'run', 'w.yml', '--halt', halt])).code).toBe(64);
  });
});

test('--termseq sends its signals in their order', async ({ scene }) => {
  const shell = 'trap "echo INT" INT; trap "echo TERM" TERM; while :; do sleep 0.05; done';
  const given = { items: ['a'], shell, map: { agent_timeout_secs: 1 } };
  const { document } = await run(scene, given, '--termseq', 'INT,500,TERM,500,KILL');
  const [attempt] = document.items[0].attempts;
  expect(attempt.commands[0].output).toBe('INT\nTERM\n');
  expect(attempt.timeout.resolution).toBe('ForceTermination');
  expect((await escapement(['mapreduce', 'run', 'w.yml', '--termseq', 'STOP,1'])).code).toBe(64);
});

test('--joblog of a run that is resumed goes on, and one that cannot be written begins none', async ({
  scene,
}) => {
  const log = scene.path('log');
  const workflow = { reduce: [{ shell: 'test -e go' }] };
  expect((await run(scene, { workflow }, '--joblog', log)).code).toBe(1);
  const begun = scene.read('log');
  expect(begun.trimEnd().split('\n')).toHaveLength(4);
  writeFileSync(scene.path('go'), '');
  const resume = ['mapreduce', 'resume', 'r1', '--data', scene.data, '--quiet'];
  expect((await escapement([...resume, '--joblog', log])).code).toBe(0);
  expect(scene.read('log')).toBe(begun);
  const file = scene.write();
  const data = scene.path('other');
  const args = ['mapreduce', 'run', file, '--data', data, '--joblog', scene.path('none/log')];
  expect((await escapement(args)).code).toBe(65);
  const list = await escapement(['mapreduce', 'list', '--data', data, '--json']);
  expect(JSON.parse(list.out)).toEqual({ runs: [] });
});

test('--joblog has a line for each attempt, in the columns of GNU parallel; --eta says how long', async ({
  scene,
}) => {
  const shell = 'printf abc; if [ ${item} = b ]; then exit 3; fi';
  const { err } = await run(scene, { shell }, '--joblog', scene.path('log'), '--eta');
  const [header, ...lines] = scene.read('log').trimEnd().split('\n');
  expect(header).toBe('Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand');
  const columns = lines.map((line) => line.split('\t'));
  expect(
    columns.map(([seq, host, , , send, receive, code, signal]) => [
      seq,
      host,
      send,
      receive,
      code,
      signal,
    ]),
  ).toEqual([
    ['1', ':', '0', '3', '0', '0'],
    ['2', ':', '0', '3', '3', '0'],
    ['3', ':', '0', '3', '0', '0'],
  ]);
  const told = err
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(told.at(-1)).toMatchObject({ item: 'item_2', state: 'done', etaMs: 0 });
});

describe('resume', () => {
  test('--only-changed runs what is new or changed, wherever it stands', async ({ scene }) => {
    const shell = 'echo ${item} >> ran';
    scene.write({ items: ['a', 'b', 'c'], shell });
    const args = ['mapreduce', 'run', scene.path('workflow.yml'), '--run-id', 'r1', '--quiet'];
    expect((await escapement([...args, '--data', scene.data])).code).toBe(0);
    const changed = ['mapreduce', 'resume', 'r1', '--only-changed', '--data', scene.data, '--json'];
    const nothing = await escapement([...changed, '--quiet']);
    expect([nothing.code, nothing.err]).toEqual([1, expect.stringContaining('No item is new')]);
    scene.write({ items: ['new', 'c', 'b2', 'a'], shell });
    const { code, out } = await escapement([...changed, '--quiet']);
    expect([code, JSON.parse(out).summary.done]).toEqual([0, 2]);
    expect(scene.read('ran')).toBe('a\nb\nc\nnew\nb2\n');
    // Another command for the same items is another item; another limit is none.
    scene.write({ items: ['a', 'c'], shell, map: { agent_timeout_secs: 50 } });
    expect((await escapement([...changed, '--quiet'])).code).toBe(1);
    scene.write({ items: ['a', 'c'], shell: `${shell}; true` });
    const again = JSON.parse((await escapement([...changed, '--quiet'])).out);
    expect(again.summary.done).toBe(2);
    const first = await escapement(['mapreduce', 'show', 'r1', '--data', scene.data, '--json']);
    const hashes = JSON.parse(first.out).items.map(({ hash }: { hash: string }) => hash);
    expect(hashes).not.toContain(again.items[0].hash);
    expect(new Set(hashes).size).toBe(3);
  });

  test('--retry-failed runs what has failed, and only that', async ({ scene }) => {
    const shell = 'echo ${item} >> ran; [ ${item} != b ] || test -e go';
    await run(scene, { shell });
    writeFileSync(scene.path('go'), '');
    const args = ['mapreduce', 'resume', 'r1', '--retry-failed', '--data', scene.data, '--json'];
    const { code, out } = await escapement(args);
    expect([code, JSON.parse(out).items]).toEqual([
      0,
      [expect.objectContaining({ itemId: 'item_1', outcome: 'done' })],
    ]);
    expect(scene.read('ran')).toBe('a\nb\nc\nb\n');
    const list = await escapement(['dlq', 'list', '--data', scene.data, '--json']);
    expect(JSON.parse(list.out).items).toEqual([]);
  });

  test('refuses an input that was changed, unless told', async ({ scene }) => {
    const shell = 'test -e go';
    await run(scene, { shell, map: { on_item_failure: 'fail' } });
    writeFileSync(scene.path('items.json'), '["other"]');
    writeFileSync(scene.path('go'), '');
    const args = ['mapreduce', 'resume', 'r1', '--data', scene.data];
    const refused = await escapement(args);
    expect([refused.code, refused.err]).toEqual([
      78,
      expect.stringContaining('items.json was changed since'),
    ]);
    expect((await escapement([...args, '--use-stored'])).code).toBe(0);
  });
});
