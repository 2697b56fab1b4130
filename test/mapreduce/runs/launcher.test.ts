/** Runs whose commands are started by a helper process, which is killed. */

import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { openStoredData } from '../../../programs/mapreduce/stored-data.ts';
import { statisticsOf } from '../../../programs/mapreduce/timeouts.ts';
import { until } from '../../kit/eventually.ts';
import { test } from './scene.ts';

const ITEMS = 150;

/** Helpers that this process has started. */
function helpers(): readonly number[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const [, parent] =
        /^\d+ \(.*\) \S (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? [];
      const isHelper = readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith(
        'escapement-launcher',
      );
      return isHelper && Number(parent) === process.pid ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}

/** The first command whose parent is a helper waits for its death. */
const SHELL = `case "$(tr '\\0' ' ' < /proc/$PPID/cmdline)" in
  escapement-launcher*) if mkdir hung 2>/dev/null; then echo begun; sleep 600; fi ;;
esac`;

test('attempts of a helper that is killed begin again, and are not counted', async ({ scene }) => {
  const items = Array.from({ length: ITEMS }, (_, index) => index);
  const running = scene.run({ items, map: { max_parallel: 2 }, shell: SHELL });
  await until(() => scene.has('hung'));
  for (const helper of helpers()) process.kill(helper, 'SIGKILL');
  const document = await running;
  expect(document.summary).toEqual({ done: ITEMS, dlq: 0, skipped: 0, failed: 0 });
  const tried = document.items.filter(({ attempts }) => attempts.length > 1);
  expect(tried.length).toBeGreaterThan(0);
  for (const { attempts } of tried)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['interrupted', 'done']);
  expect(scene.warnings).toContain(
    'the process that starts commands is gone; the attempt begins again',
  );
  const { stored, close } = await openStoredData(scene.data);
  const statistics = statisticsOf(stored, stored.runs());
  await close();
  expect(statistics.agents_completed).toBe(ITEMS);
  expect(statistics.agents_started).toBe(ITEMS + statistics.agents_failed);
  await until(() => helpers().length === 0);
});
