/** Scripts that complete commands: read by the shells that are here, looked at for the others. */

import { execFile } from 'node:child_process';
import { accessSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { escapement } from './command-line.ts';

const sources = {
  host: process,
  openStoredData: () => Promise.reject(new Error('Nothing is opened.')),
};
const scriptOf = async (shell: string): Promise<string> => {
  const { code, out, err } = await escapement(['completion', shell], sources);
  expect([code, err]).toEqual([0, '']);
  return out;
};
const pathOf = (shell: string) =>
  ['/bin', '/usr/bin', '/usr/local/bin']
    .map((folder) => `${folder}/${shell}`)
    .find((path) => {
      try {
        accessSync(path);
        return true;
      } catch {
        return false;
      }
    });

describe.runIf(pathOf('bash'))('bash', () => {
  async function complete(...words: string[]): Promise<readonly string[]> {
    const program = `${await scriptOf('bash')}
COMP_WORDS=(escapement ${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length}
_escapement
printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)(pathOf('bash') as string, ['-c', program]);
    return stdout.split('\n').filter((word) => word !== '');
  }

  test.each([
    [['ver'], ['version']],
    [
      ['undelivered', ''],
      ['list', 'show', 'retry', 'drop', '--help'],
    ],
    [['data', 'i'], ['info']],
    [
      ['jobs', '--status', 'c'],
      ['completed', 'cancelled'],
    ],
    [['actors', '--status', 's'], ['stopped']],
    [['start', 'm'], ['manager']],
    [['config', 'check', 'g'], ['gate']],
    [
      ['start', 'worker', '--extend', ''],
      ['never', 'whenNeeded'],
    ],
    [['start', 'gate', '--log-format', 'j'], ['json']],
    [['jobs', '--stuck-for', ''], []],
    [['completion', 'z'], ['zsh']],
    [['show', 'j1', '--w'], ['--watch']],
    [['nonsense', '--url', ''], []],
  ])('completes %j', async (typed, words) => {
    expect(await complete(...typed)).toEqual(words);
  });

  test('knows every command and all its options', async () => {
    const offered = await complete('');
    const { out } = await escapement(['--help'], sources);
    const told = Array.from(out.matchAll(/^ {2}([a-z][a-z-]+) /gm), ([, name]) => name);
    expect(offered).toEqual(expect.arrayContaining(told.filter((name) => name !== 'help')));
    expect(await complete('submit', '--')).toEqual(
      expect.arrayContaining(['--workflow', '--timeout', '--watch', '--json', '--url', '--help']),
    );
  });
});

describe.each(['zsh', 'fish'])('%s', (shell) => {
  test('has every command with what it is for', async () => {
    const script = await scriptOf(shell);
    for (const word of ['submit', 'undelivered', 'check-upgrade', 'stuck-for', 'timedOut'])
      expect(script).toContain(word);
    expect(script).toContain('End a job early.');
    // A quote in a description would end the word it is in.
    expect(script.split("'").length % 2).toBe(1);
  });

  test.runIf(pathOf(shell))('takes the script', async () => {
    const args = ['-n', '-c', await scriptOf(shell)];
    await promisify(execFile)(pathOf(shell) as string, args);
  });
});

test('with --json the script is a string', async () => {
  const { out } = await escapement(['completion', 'bash', '--json'], sources);
  expect(JSON.parse(out)).toBe(await scriptOf('bash'));
});
