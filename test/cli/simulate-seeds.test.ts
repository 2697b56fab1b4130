/** `simulate --seeds` as a user starts it: a process of its own, which starts others. */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';

const MAIN = join(import.meta.dirname, '..', '..', 'cli', 'main.ts');

interface Ended {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

function start(args: readonly string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, 'simulate', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (exitCode) => resolve({ exitCode, out, err }));
  });
  return { child, ended };
}

const simulate = (...args: string[]): Promise<Ended> => start(args).ended;

test('plays seeds in several processes and tells what they came to', {
  timeout: 60_000,
}, async () => {
  const args = ['--seeds', '4', '--until', '60s', '--processes', '2', '--json'];
  const { exitCode, out, err } = await simulate(...args);
  expect(err).toBe('');
  expect(exitCode).toBe(0);
  const report = JSON.parse(out) as Record<string, unknown>;
  expect(report).toMatchObject({ from: 1, seeds: 4, runs: 4, failures: [], unplayed: [] });
  expect(report['simulatedMs']).toBe(240_000);
  expect(report['isInterrupted']).toBe(false);
  expect(report['neverExercised']).toContain('RT-2');
});

/** The players that a process has started; then it hears of signals as well. */
function playersOf(pid: number): readonly string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  return children
    .filter((child) => child !== '')
    .map((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8'))
    .filter((command) => command.includes('simulate-player'));
}

test.runIf(process.platform === 'linux')(
  'tells what it has found when it is interrupted',
  { timeout: 60_000 },
  async () => {
    const { child, ended } = start(['--seeds', '100000', '--until', '60s', '--json']);
    await vi.waitUntil(() => playersOf(child.pid as number).length > 0, { timeout: 30_000 });
    child.kill('SIGINT');
    const { exitCode, out } = await ended;
    expect(exitCode).toBe(0);
    const report = JSON.parse(out) as { readonly runs: number; readonly isInterrupted: boolean };
    expect(report.isInterrupted).toBe(true);
    expect(report.runs).toBeLessThan(100_000);
  },
);

test.each([
  [['--seeds', '0'], '--seeds is from 1'],
  [['--seeds', '2', '--nemesis', 'earthquake'], 'There is no nemesis "earthquake"'],
  [['--seeds', '2', '--until', '9999d'], '--until is a duration'],
  [['--seeds', '2', '--seed', '3'], 'name scenario files, or say one of'],
  [['--seeds', '2', '--trace'], '--trace is for one run'],
])('%j is wrong usage', { timeout: 30_000 }, async (args, what) => {
  const { exitCode, out, err } = await simulate(...args);
  expect([exitCode, out]).toEqual([64, '']);
  expect(err).toContain(what);
});
