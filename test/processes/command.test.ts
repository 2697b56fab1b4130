/** Commands, started by this process and by the helper of a launcher, played with real processes. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type CommandOptions,
  Launcher,
  OutputFile,
  TRUNCATION_MARK,
} from '../../programs/processes.ts';
import { folder, groups, startWith, until } from './started-commands.ts';

/** Starts everything through its helper, once that is up. */
const launcher = new Launcher(0);
afterAll(() => launcher.close());

/** Its helper is up once a command has ended whose parent it is. */
async function whenLaunched(by: Launcher): Promise<void> {
  for (;;) {
    const { command, stdout } = startWith('printf "%s" "$PPID"', { launch: by.launch });
    await command.ended;
    if (by.helper !== undefined && Number(stdout.text) === by.helper) return;
  }
}

describe.each([
  { by: 'this process', launch: undefined },
  { by: 'a launcher', launch: launcher.launch },
])('a command started by $by', ({ launch }) => {
  const start = (script: string, options: Partial<CommandOptions> = {}) => {
    const begun = startWith(script, { ...options, ...(launch !== undefined && { launch }) });
    return begun;
  };
  beforeEach(async () => {
    if (launch !== undefined) await whenLaunched(launcher);
  });

  test('tells its exit code and keeps what it prints on each stream', async () => {
    const { command, stdout, stderr } = start('printf out; printf err >&2; exit 3');
    expect(await command.ended).toEqual({
      exitCode: 3,
      signal: null,
      startFailure: null,
      isLost: false,
    });
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
    const { command, stdout } = start(
      'printf first; (while :; do echo more; sleep 0.02; done) & exit 0',
    );
    expect((await command.ended).exitCode).toBe(0);
    const group = command.group as number;
    const kept = stdout.text;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(stdout.text).toBe(kept);
    // Its background process was not ended by a broken pipe.
    expect(groups.isEmpty(group)).toBe(false);
    expect(await groups.terminate(group, [])).toBe('forced');
  });

  test('that is let go of when nothing of it is left, keeps what it had printed before', async () => {
    const { command, stdout } = start('head -c 900 /dev/zero');
    const group = (await command.begun) as number;
    // This process is too busy to read meanwhile.
    while (!groups.isEmpty(group)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    await command.release();
    await command.ended;
    expect(stdout.text.length).toBe(900);
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

describe('a launcher', () => {
  test('hands on the environment, the folder and what is printed on each stream', async () => {
    await whenLaunched(launcher);
    const { command, stdout, stderr } = startWith('pwd; printf "%s" "$A$HOME"; echo "é€" >&2', {
      launch: launcher.launch,
      env: { A: 'of its own', PATH: process.env.PATH ?? '' },
    });
    await command.ended;
    expect([stdout.text, stderr.text]).toEqual([`${folder}\nof its own`, 'é€\n']);
  });

  test('knows the group before the end, and its signals end it', async () => {
    await whenLaunched(launcher);
    const { command } = startWith('exec sleep 600', { launch: launcher.launch });
    const group = (await command.begun) as number;
    expect(groups.isEmpty(group)).toBe(false);
    groups.signal(group, 'SIGTERM');
    expect(await command.ended).toMatchObject({ signal: 'SIGTERM', exitCode: 143, isLost: false });
  });

  test('whose helper is killed has lost its commands, which live, and starts the next ones', async () => {
    const own = new Launcher(0);
    await whenLaunched(own);
    const { command } = startWith('exec sleep 600', { launch: own.launch });
    const group = (await command.begun) as number;
    process.kill(own.helper as number, 'SIGKILL');
    expect(await command.ended).toMatchObject({ isLost: true });
    expect(groups.isEmpty(group)).toBe(false);
    await whenLaunched(own);
    own.close();
    await groups.terminate(group, []);
  });

  test('that is closed leaves no helper, and starts commands all the same', async () => {
    const own = new Launcher(0);
    await whenLaunched(own);
    const helper = own.helper as number;
    own.close();
    await until(() => !existsSync(`/proc/${helper}`));
    expect((await startWith('exit 4', { launch: own.launch }).command.ended).exitCode).toBe(4);
  });

  test.each([
    ['is another program than Node', '/bin/sh'],
    ['is not there', '/no/such/node'],
  ])('whose helper %s starts commands here', async (_, program) => {
    const own = new Launcher(0, program);
    for (let count = 0; count < 6; count++) {
      const { command, stdout } = startWith('printf "%s" "$PPID"', { launch: own.launch });
      expect((await command.ended).exitCode).toBe(0);
      expect(Number(stdout.text)).toBe(process.pid);
    }
    own.close();
  });

  test('that is busy with a flood goes on with other commands', async () => {
    await whenLaunched(launcher);
    const flood = startWith('head -c 50000000 /dev/zero', { launch: launcher.launch });
    const other = startWith('exit 5', { launch: launcher.launch });
    expect((await other.command.ended).exitCode).toBe(5);
    expect((await flood.command.ended).exitCode).toBe(0);
  });
});
