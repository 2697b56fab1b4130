/** Commands in process groups of their own, played with real processes. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  Command,
  type CommandOptions,
  OutputFile,
  OutputText,
  ProcessGroups,
  TRUNCATION_MARK,
} from '../../programs/processes.ts';
import { systemClock } from '../../runtime/system/clock.ts';

const clock = systemClock({ unref: true });
const groups = new ProcessGroups(clock);
const environment = (mark: string) => ({
  PATH: process.env.PATH ?? '',
  ESCAPEMENT_TEST_MARK: mark,
});

let folder: string;
let started: Command[];
let mark: string;
beforeEach((context) => {
  folder = mkdtempSync(join(tmpdir(), 'escapement-groups-'));
  started = [];
  mark = `${process.pid}-${context.task.id}`;
});
afterEach(async () => {
  await groups.killMarked({ name: 'ESCAPEMENT_TEST_MARK', value: mark });
  for (const command of started) command.release();
  rmSync(folder, { recursive: true, force: true });
});

function start(script: string, options: Partial<CommandOptions> = {}) {
  const [stdout, stderr] = [new OutputText(1_000), new OutputText(1_000)];
  const command = new Command(
    {
      argv: ['/bin/sh', '-c', script],
      cwd: folder,
      env: environment(mark),
      stdout,
      stderr,
      ...options,
    },
    clock,
  );
  started.push(command);
  return { command, stdout, stderr, group: command.group as number };
}

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const emptied = (group: number) =>
  new Promise<void>((resolve) => groups.whenEmpty(group, () => resolve()));
const files = (...names: string[]) => names.every((name) => existsSync(join(folder, name)));

describe('a command', () => {
  test('tells its exit code and keeps what it prints on each stream', async () => {
    const { command, stdout, stderr } = start('printf out; printf err >&2; exit 3');
    expect(await command.ended).toEqual({ exitCode: 3, signal: null, startFailure: null });
    expect([stdout.text, stderr.text]).toEqual(['out', 'err']);
  });

  test('reads nothing from its standard input', async () => {
    const { command, stdout } = start('cat; printf done');
    expect((await command.ended).exitCode).toBe(0);
    expect(stdout.text).toBe('done');
  });

  test('has the environment that it is given and nothing else', async () => {
    const { command, stdout } = start('printf "%s" "$HOME"');
    await command.ended;
    expect(stdout.text).toBe('');
  });

  test('that is not there ends with 127 and says so', async () => {
    const { command, stderr } = start('', { argv: ['/no/such/program'] });
    expect((await command.ended).exitCode).toBe(127);
    expect(stderr.text).toContain('/no/such/program');
  });

  test('with an argument that no program can be given ends with 126', async () => {
    const { command } = start('', { argv: ['/bin/echo', 'a\0b'] });
    expect((await command.ended).exitCode).toBe(126);
  });

  test('ends when its leader exits, though others hold its pipes open and go on printing', async () => {
    const { command, stdout, group } = start(
      'printf first; (while :; do echo more; sleep 0.02; done) & exit 0',
    );
    expect((await command.ended).exitCode).toBe(0);
    const kept = stdout.text;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(stdout.text).toBe(kept);
    // Its background process was not ended by a broken pipe.
    expect(groups.isEmpty(group)).toBe(false);
    expect(await groups.terminate(group, [])).toBe('forced');
  });

  test('that floods its output is not held up: the rest is dropped and marked', async () => {
    const path = join(folder, 'flood');
    const stdout = new OutputFile(path, 10_000, (error) => expect.fail(error.message));
    const { command } = start('head -c 20000000 /dev/zero', { stdout });
    expect((await command.ended).exitCode).toBe(0);
    const kept = readFileSync(path);
    expect(kept.length).toBe(10_000 + TRUNCATION_MARK.length);
    expect(kept.subarray(-TRUNCATION_MARK.length).toString()).toBe(TRUNCATION_MARK);
  });
});

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
