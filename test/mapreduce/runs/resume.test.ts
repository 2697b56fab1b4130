/** Runs that are stopped, killed and continued; failed items tried again; worktrees; more time for an attempt. */

import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { requestExtension, serveControl } from '../../../programs/mapreduce/control.ts';
import { failedItemDocument, selectedItems } from '../../../programs/mapreduce/failed-items.ts';
import { Host } from '../../../programs/mapreduce/host.ts';
import type { RunDocument } from '../../../programs/mapreduce/index.ts';
import {
  followRun,
  inputOf,
  prepare,
  prepareStored,
  resumeRun,
  startRun,
} from '../../../programs/mapreduce/run.ts';
import { activeTimers, statisticsOf } from '../../../programs/mapreduce/timeouts.ts';
import { type Scene, test } from './scene.ts';

const ROOT = join(import.meta.dirname, '../../..');
const outcomes = ({ items }: RunDocument) => items.map(({ outcome }) => outcome);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await pause(20);
};

/** Opens the data of a scene for as long as `work` takes. */
async function hosting<T>(scene: Scene, work: (host: Host) => Promise<T>): Promise<T> {
  const host = await Host.open({ data: scene.data });
  try {
    return await work(host);
  } finally {
    await host.close();
  }
}

const resumed = (scene: Scene, runId: string): Promise<RunDocument> =>
  hosting(scene, async (host) => {
    await resumeRun(host, runId);
    return followRun(host, runId, {});
  });

/** Runs the workflow in a process of its own, and kills that without a word once `isSo`. */
async function killedOnce(scene: Scene, file: string, isSo: () => boolean): Promise<void> {
  const args = ['--import', 'tsx', join(ROOT, 'cli/main.ts'), 'mapreduce', 'run', file];
  const options = ['--run-id', 'r1', '--data', scene.data, '--quiet'];
  const child = spawn(process.execPath, [...args, ...options], { cwd: ROOT, stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  await until(isSo);
  child.kill('SIGKILL');
  await exited;
}

describe.concurrent('Checkpoint/resume functionality handles timeout state correctly', () => {
  test('[19] a done item is not run again, one at work is begun again', async ({ scene }) => {
    const shell =
      'echo ${item} >> ran; if [ ${item} = b ] && [ "$ESCAPEMENT_ATTEMPT" = 1 ]; then touch at-b; sleep 60; fi';
    await killedOnce(scene, scene.write({ shell }), () => scene.has('at-b'));
    const document = await resumed(scene, 'r1');
    expect([document.status, outcomes(document)]).toEqual(['completed', ['done', 'done', 'done']]);
    expect(document.items[1]?.attempts.map(({ outcome }) => outcome)).toEqual([
      'interrupted',
      'done',
    ]);
    expect(scene.read('ran')).toBe('a\nb\nb\nc\n');
  });

  test('[20] a timeout that was decided stays decided', async ({ scene }) => {
    const given = {
      items: ['a'],
      map: { agent_timeout_secs: 0.5 },
      timeout: { cleanup_grace_period_secs: 60 },
      shell: 'trap "touch term" TERM; while :; do sleep 0.05; done',
    };
    await killedOnce(scene, scene.write(given), () => scene.has('term'));
    expect(scene.processesLeft()).not.toEqual([]);
    const document = await resumed(scene, 'r1');
    expect(outcomes(document)).toEqual(['dlq']);
    expect(document.items[0]?.attempts).toMatchObject([
      { outcome: 'timedOut', timeout: { resolution: 'ForceTermination' } },
    ]);
    expect(scene.processesLeft()).toEqual([]);
  });

  test('a signal stops a run in order, and it goes on where it was', async ({ scene }) => {
    const stop = new AbortController();
    const shell =
      'if [ ${item} = b ] && [ "$ESCAPEMENT_ATTEMPT" = 1 ]; then touch at-b; sleep 60; fi';
    const running = scene.run({ shell }, { signal: stop.signal, runId: 'r1' });
    await until(() => scene.has('at-b'));
    stop.abort();
    const stopped = await running;
    expect([stopped.status, outcomes(stopped)]).toEqual([
      'interrupted',
      ['done', 'retryWait', 'pending'],
    ]);
    expect(outcomes(await resumed(scene, 'r1'))).toEqual(['done', 'done', 'done']);
  });

  test('items that failed with their run are opened again', async ({ scene }) => {
    const shell = 'test -e go || [ ${item} = a ]';
    const given = { shell, map: { on_item_failure: 'fail' } };
    const failed = await scene.run(given, { runId: 'r1' });
    expect([failed.status, outcomes(failed)]).toEqual(['failed', ['done', 'failed', 'failed']]);
    writeFileSync(scene.path('go'), '');
    const document = await resumed(scene, 'r1');
    expect([document.status, outcomes(document)]).toEqual(['completed', ['done', 'done', 'done']]);
  });
});

describe.concurrent('DLQ integration preserves timeout information for retry analysis', () => {
  const listed = (host: Host) =>
    [...selectedItems(host.stored, { itemIds: [], all: true })].map((item) =>
      failedItemDocument(item, host.stored, host.folder(item.context.runId ?? '')),
    );
  const retry = async (host: Host): Promise<RunDocument> => {
    const given = { resolvesFailedItems: true };
    const [item] = listed(host);
    const items = [{ itemId: item?.item_id ?? '', value: item?.item_data }];
    const runId = await startRun(
      host,
      prepareStored(host, item?.run_id ?? '', {}),
      { count: 1, items: () => items },
      given,
    );
    return followRun(host, runId, {});
  };

  test('[21] a record has the timeout, what was printed, and the history of all tries', async ({
    scene,
  }) => {
    const shell = 'echo before; test -e go || sleep 60';
    await scene.run({ items: [{ id: 'a', n: 1 }], shell, map: { agent_timeout_secs: 1 } });
    await hosting(scene, async (host) => {
      const [first] = listed(host);
      expect(first).toMatchObject({
        item_id: 'a',
        item_data: { id: 'a', n: 1 },
        workflow: 'base',
        failure_count: 1,
        failure_history: [
          { error_type: 'Timeout', error_message: 'Agent agent-0-1 timed out after 1s' },
        ],
        timeout: { type: 'agent', configuredMs: 1_000, resolution: 'GracefulTermination' },
        partial_results: [{ index: 0, output: 'before\n' }],
        reprocess_eligible: true,
        manual_review_required: false,
      });
      expect((await retry(host)).summary).toMatchObject({ dlq: 1 });
      const [second] = listed(host);
      expect(second).toMatchObject({ failure_count: 2, first_attempt: first?.first_attempt });
      writeFileSync(scene.path('go'), '');
      const { runId } = await retry(host);
      expect(host.document(runId).reduce).toBeNull();
      expect(listed(host)).toEqual([]);
    });
  });
});

describe.concurrent('Timeout metrics are collected and available for monitoring', () => {
  test('[27] four attempts, one of which times out', async ({ scene }) => {
    const shell = 'if [ ${item} = 0 ]; then sleep 60; fi';
    const given = { items: [0, 1, 2, 3], shell, map: { agent_timeout_secs: 5, max_parallel: 4 } };
    await scene.run(given, { runId: 'r1' });
    await hosting(scene, async ({ stored }) => {
      expect(statisticsOf(stored, stored.runs())).toMatchObject({
        monitoring: true,
        agents_started: 4,
        agents_completed: 3,
        timeouts_occurred: 1,
        timeout_rate_percent: 25,
        agents_failed: 0,
        agents_active: 0,
        timeouts_by_type: { agent: 1 },
      });
    });
  });

  test('[36] armed timers are seen, and an attempt can be given more time once', async ({
    scene,
  }) => {
    const file = scene.write({ items: ['a'], shell: 'sleep 60', map: { agent_timeout_secs: 3 } });
    await hosting(scene, async (host) => {
      const stopControl = await serveControl(host);
      const prepared = prepare(file);
      const runId = await startRun(host, prepared, inputOf(prepared), {});
      const timers = () => activeTimers(host.stored, host.stored.runs(), host.clock.now());
      await until(() => timers().length > 0);
      expect(timers()).toMatchObject([{ agentId: 'agent-0-1', kind: 'agent', limitMs: 3_000 }]);
      const extend = () =>
        requestExtension(host.data, {
          agentId: 'agent-0-1',
          byMs: 1_000,
          by: 'me',
          runId: undefined,
        });
      expect(await extend()).toMatchObject({ isExtended: true });
      const document = await followRun(host, runId, {});
      expect(document.items[0]?.attempts[0]?.timeout?.elapsedMs).toBeGreaterThanOrEqual(4_000);
      expect(await extend()).toMatchObject({ isExtended: false });
      stopControl();
    });
  });
});

describe.concurrent('a worktree', () => {
  test('[26] is there for each attempt, and what was changed in it is kept as a patch', async ({
    scene,
  }) => {
    scene.git('init', '-q');
    scene.git(
      '-c',
      'user.name=n',
      '-c',
      'user.email=e@e',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'first',
    );
    const shell = 'echo text > new-file; if [ ${item} = a ]; then sleep 60; fi';
    const given = { items: ['a', 'b'], shell, map: { worktree: true, agent_timeout_secs: 5 } };
    const document = await scene.run(given);
    expect(outcomes(document)).toEqual(['dlq', 'done']);
    const worktree = document.items[0]?.attempts[0]?.worktree;
    expect(worktree?.branch).toBeNull();
    expect(readFileSync(worktree?.patch ?? '', 'utf8')).toContain('+text');
    expect(scene.git('worktree', 'list').trim().split('\n')).toHaveLength(1);
    expect(scene.git('branch', '--list', 'escapement/*')).toBe('');
    expect(scene.has('new-file')).toBe(false);
  });

  test('needs a repository', async ({ scene }) => {
    await expect(scene.run({ map: { worktree: true } })).rejects.toThrow('needs a git repository');
  });
});
