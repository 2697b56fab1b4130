/** Processes seen from outside only: processes without the api, and with bad subscribers. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../project-files.ts';

/** Runs one of the programs beside this file and gives what it printed. */
async function run(program: string, ...args: readonly string[]): Promise<unknown> {
  const file = join(import.meta.dirname, program);
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let problems = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    problems += text;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect({ code, problems }).toEqual({ code: 0, problems: '' });
  return JSON.parse(printed);
}

test('without an SDK the api is not even looked for', async () => {
  expect(await run('without-api.ts')).toEqual({
    turns: 1,
    automatic: 0,
    refusal: 'PACKAGE_MISSING',
  });
});

test('with an SDK and without the api a runtime starts all the same', async () => {
  expect(await run('without-api.ts', 'registered')).toEqual({
    turns: 1,
    automatic: 1,
    refusal: 'PACKAGE_MISSING',
  });
});

test('a subscriber that throws harms no turn, and Node tells the process', async () => {
  expect(await run('throwing-subscriber.ts')).toEqual({ value: 'b', heard: 2, uncaught: 2 });
});
