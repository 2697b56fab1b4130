/** Process groups, kept output and marks of processes, played with real processes. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OutputFile, OutputText, TRUNCATION_MARK } from '../../programs/processes.ts';
import {
  clock,
  emptied,
  files,
  folder,
  groups,
  mark,
  startWith,
  until,
} from './started-commands.ts';

const start = startWith;

describe('kept output', () => {
  test('is not cut within a character', () => {
    const text = new OutputText(4);
    text.write(Buffer.from('aé€'));
    expect(text.text).toBe(`aé${TRUNCATION_MARK}`);
  });

  test('that fits exactly has no mark', () => {
    const text = new OutputText(2);
    text.write(Buffer.from('ab'));
    expect(text.text).toBe('ab');
  });

  test('of a command that prints nothing makes no file', async () => {
    const path = join(folder, 'none');
    const stdout = new OutputFile(path, 10, () => {});
    await start('exit 0', { stdout }).command.ended;
    expect(existsSync(path)).toBe(false);
  });

  test('that cannot be written is told once and holds up nobody', async () => {
    const failures: string[] = [];
    const stdout = new OutputFile('/no/such/folder/file', 10, (error) =>
      failures.push(error.message),
    );
    expect((await start('echo a; sleep 0.05; echo b', { stdout }).command.ended).exitCode).toBe(0);
    expect(failures).toHaveLength(1);
  });
});

describe('a process group', () => {
  test('that heeds SIGTERM ends gracefully, with all its children', async () => {
    const { command, group } = start('sleep 600 & sleep 600 & touch ready; wait');
    await until(() => files('ready'));
    expect(await groups.terminate(group, [{ signal: 'SIGTERM', waitMs: 30_000 }])).toBe('graceful');
    expect((await command.ended).signal).toBe('SIGTERM');
    expect(groups.isEmpty(group)).toBe(true);
  });

  test('that ignores SIGTERM is killed after the grace, with all its children', async () => {
    const { group } = start(
      `trap "" TERM; (trap "" TERM; while :; do sleep 1; done) & touch ready; wait`,
    );
    await until(() => files('ready'));
    const begin = clock.now();
    expect(await groups.terminate(group, [{ signal: 'SIGTERM', waitMs: 200 }])).toBe('forced');
    expect(clock.now() - begin).toBeGreaterThanOrEqual(200);
    expect(groups.findMarked({ name: 'ESCAPEMENT_TEST_MARK', value: mark }).rows).toEqual([]);
  });

  test('takes several signals in turn', async () => {
    const { command, group } = start(
      'trap "" TERM; trap "exit 7" INT; touch ready; while :; do sleep 0.01; done',
    );
    await until(() => files('ready'));
    const steps = [
      { signal: 'SIGTERM', waitMs: 50 },
      { signal: 'SIGINT', waitMs: 30_000 },
    ] as const;
    expect(await groups.terminate(group, steps)).toBe('graceful');
    expect((await command.ended).exitCode).toBe(7);
  });

  test('is empty when only zombies are left', async () => {
    // The child of exec'ed sleep is never waited for.
    const { group } = start('(exit 0) & touch ready; exec sleep 600');
    await until(() => files('ready'));
    const { group: other } = start('exit 0');
    await emptied(other);
    expect(groups.isEmpty(other)).toBe(true);
    expect(groups.isEmpty(group)).toBe(false);
    await groups.terminate(group, []);
  });

  test('that nobody waits for any more is not told', async () => {
    const { group } = start('exit 0');
    let told = 0;
    const cancel = groups.whenEmpty(group, () => told++);
    cancel();
    await emptied(group);
    expect(told).toBe(0);
  });

  test('of no or of everybody is never signalled', () => {
    expect(groups.signal(1, 'SIGTERM')).toBe(false);
    expect(groups.signal(0, 'SIGTERM')).toBe(false);
    expect(groups.signal(Number.NaN, 'SIGTERM')).toBe(false);
  });
});

describe('a mark', () => {
  test('finds and kills what has left its group and its parent', async () => {
    const { command, group } = start(
      'setsid sh -c "setsid sleep 600 & touch ready; exec sleep 600" & wait_for=; while [ ! -e ready ]; do sleep 0.01; done; exit 0',
    );
    await command.ended;
    await emptied(group);
    const value = mark;
    expect(groups.findMarked({ name: 'ESCAPEMENT_TEST_MARK', value }).rows.length).toBe(2);
    await groups.killMarked({ name: 'ESCAPEMENT_TEST_MARK', value });
    expect(groups.findMarked({ name: 'ESCAPEMENT_TEST_MARK', value }).rows).toEqual([]);
  });

  test('kills what multiplies faster than it dies', async () => {
    const { command } = start(
      'trap "" TERM; f() { setsid sh -c "$1" sh "$1" & }; s=\'for i in 1 2; do sleep 0.05; done; setsid sh -c "$1" sh "$1" & sleep 600\'; f "$s"; touch ready; exit 0',
    );
    await command.ended;
    await groups.killMarked({ name: 'ESCAPEMENT_TEST_MARK', value: mark });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(groups.findMarked({ name: 'ESCAPEMENT_TEST_MARK', value: mark }).rows).toEqual([]);
  });

  test('of another value is left alone', async () => {
    const { group } = start('exec sleep 600');
    await groups.killMarked({ name: 'ESCAPEMENT_TEST_MARK', value: `${mark}-other` });
    expect(groups.isEmpty(group)).toBe(false);
  });
});
