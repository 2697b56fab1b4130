/** Looks at a run at work, from another process and over its listener, and at a directory whose runner was killed. */

import { describe, expect } from 'vitest';
import { openLmdbData } from '../../../cli/loaders/lmdb-data.ts';
import { ended, escapement, start } from '../../cli/command-line.ts';
import { until } from '../../kit/eventually.ts';
import { type Scene, test } from './scene.ts';

const SLEEPING = {
  items: [{ id: 'a' }, { id: 'b' }],
  map: { agent_timeout_secs: 600, max_parallel: 2, retry: { max_attempts: 2 } },
  shell: 'if [ ${item.id} = b ]; then exit 1; fi; echo at work; touch begun; sleep 600',
};
const from = { openStoredData: openLmdbData };
const json = async (...args: string[]) => {
  const { out, err, code } = await escapement([...args, '--json'], from);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
};

/** Starts the run and gives its process, with the address it listens on, once its item is at work. */
async function started(scene: Scene, ...args: string[]) {
  const file = scene.write(SLEEPING);
  const child = start([
    'mapreduce',
    'run',
    file,
    '--data',
    scene.data,
    '--run-id',
    'r1',
    '--listen',
    '127.0.0.1:0',
    ...args,
  ]);
  const end = ended(child);
  let url = '';
  child.stderr?.on('data', (text) => {
    url ||= /http:\S+/.exec(String(text))?.[0] ?? '';
  });
  await until(() => scene.has('begun') && url !== '');
  await until(async () => (await json('dlq', 'list', '--data', scene.data)).items.length === 1);
  return { child, end, url };
}

describe('a run at work', () => {
  test('[30] is seen from another process, with its timers', async ({ scene }) => {
    const { child, end, url } = await started(scene);
    const { timers } = await json('timeouts', 'list', '--data', scene.data);
    expect(timers).toMatchObject([
      { agentId: 'agent-0-1', itemId: 'a', kind: 'agent', limitMs: 600_000 },
    ]);
    expect(timers[0].remainingMs).toBeGreaterThan(0);
    expect(timers[0].remainingMs).toBeLessThan(600_000);
    const address = 'map-agent/r1/agent-0-1@mapreduce';
    for (const where of [
      ['--from', scene.data],
      ['--url', url],
    ]) {
      const due = await json('timers', '--kind', 'mapreduce', ...where);
      expect(due.timers).toMatchObject([{ address, dueAt: timers[0].dueAtMs }]);
      const { verdict } = await json('why', 'map-agent/r1/agent-0-1', ...where);
      expect(verdict).toMatch(
        /^map-agent.r1.agent-0-1 is at command 0: the limit of the attempt ends it in /,
      );
      const run = await json('why', 'mapreduce/r1', ...where);
      expect(run.verdict).toContain('is at its items: 0 done, 1 dlq, 0 skipped, 0 failed of 2');
    }
    const shown = await json('mapreduce', 'show', 'r1', '--data', scene.data);
    expect([shown.status, shown.items[0].attempts[0].outcome]).toEqual(['running', 'running']);
    expect((await fetch(new URL('/inspector/', url))).status).toBeLessThan(500);
    const extended = await json(
      'timeouts',
      'extend',
      'agent-0-1',
      '--by',
      '60s',
      '--data',
      scene.data,
    );
    expect(extended).toMatchObject({ isExtended: true });
    child.kill('SIGTERM');
    expect((await end).code).toBe(143);
    expect(
      (await json('timeouts', 'show', 'agent-0-1', '--data', scene.data)).extensions,
    ).toMatchObject([{ byMs: 60_000 }]);
  });

  test('serves its metrics', async ({ scene }) => {
    const { child, end, url } = await started(scene);
    const text = await (await fetch(new URL('/metrics', url))).text();
    const values = Object.fromEntries(
      text
        .split('\n')
        .filter((line) => line.startsWith('mapreduce_'))
        .map((line) => line.split(' ')),
    );
    expect(values).toMatchObject({
      mapreduce_agents_started_total: '3',
      mapreduce_agents_failed_total: '2',
      'mapreduce_items_total{outcome="dlq"}': '1',
      'mapreduce_retries_total{cause="command_failed"}': '1',
      mapreduce_agents_active: '1',
      mapreduce_timers_active: '1',
      mapreduce_dlq_records: '1',
      mapreduce_timeout_rate_percent: '0',
    });
    expect(text).not.toMatch(/r1|agent-\d/);
    child.kill('SIGTERM');
    await end;
  });
});

test('a directory whose runner was killed tells the same', async ({ scene }) => {
  const { child, end } = await started(scene);
  child.kill('SIGKILL');
  await end;
  const address = 'map-agent/r1/agent-0-1@mapreduce';
  const due = await json('timers', '--kind', 'mapreduce', '--from', scene.data);
  expect(due.timers).toMatchObject([{ address }]);
  expect(await json('timers', '--kind', 'order', '--from', scene.data)).toEqual({
    timers: [],
    cursor: null,
  });
  expect((await json('why', 'mapreduce/r1', '--from', scene.data)).cause).toBe('alive');
  expect(await json('mapreduce', 'list', '--data', scene.data)).toMatchObject({
    runs: [{ runId: 'r1', status: 'running' }],
  });
  expect((await json('timeouts', 'show', 'agent-0-1', '--data', scene.data)).commands).toEqual([]);
  // What it left is ended by the next runner.
  const resumed = start(['mapreduce', 'resume', 'r1', '--data', scene.data, '--quiet']);
  const second = ended(resumed);
  await until(
    async () =>
      (await json('timeouts', 'list', '--data', scene.data)).timers[0]?.agentId === 'agent-0-2',
  );
  resumed.kill('SIGTERM');
  await second;
});
