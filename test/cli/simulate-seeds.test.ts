/** `simulate --seeds` as a user starts it: a process of its own, which starts others. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { playSeeds } from '../../cli/simulate/players.ts';
import { progressText } from '../../cli/simulate/seeds.ts';
import { JOBS_MENU } from '../../simulator/jobs/faults/menu.ts';
import { Tally } from '../../simulator/simulation/tally.ts';
import { compiledProgram } from '../kit/compiled.ts';
import { until } from '../kit/eventually.ts';
import { type ProcessEnd, StartedProcess } from '../kit/started-process.ts';
import { escapement } from './command-line.ts';

const start = (args: readonly string[]): StartedProcess =>
  new StartedProcess([process.execPath, compiledProgram(), 'simulate', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });

const simulate = (...args: string[]): Promise<ProcessEnd> => start(args).ended;

test('plays seeds in several processes and tells what they came to', async () => {
  const args = ['--seeds', '4', '--until', '60s', '--processes', '2', '--json'];
  const { code, out, err } = await simulate(...args);
  expect(err).toBe('');
  expect(code).toBe(0);
  const report = JSON.parse(out) as Record<string, unknown>;
  expect(report).toMatchObject({ from: 1, seeds: 4, runs: 4, failures: [], unplayed: [] });
  expect(report['simulatedMs']).toBe(240_000);
  expect(report['isInterrupted']).toBe(false);
  // It takes a damaged record, which none of them has.
  expect(report['neverExercised']).toContain('MS-12');
});

test('tells after every run what was met by then', async () => {
  const tally = new Tally();
  const told: string[] = [];
  await playSeeds({
    seeds: [1, 2],
    players: 1,
    swarm: { untilMs: 60_000 },
    env: { NODE_OPTIONS: '--import tsx' },
    onPlayed: (figures, coverage) => {
      tally.take(figures);
      told.push(progressText(tally.figures(), coverage, 2, 1_000));
    },
    onFailed: (_, message) => expect.unreachable(message),
    isOver: () => false,
  });
  const fields =
    /^1 of 2 runs, 1\.0\/s, 0\.0 h simulated, [\d,]+ events\/s\n\d+ faults?, \d+ effective; [1-9]\d*\/\d+ states, [1-9]\d*\/\d+ transitions, \d+\/\d+ marks$/;
  expect(told).toHaveLength(2);
  expect(told[0]).toMatch(fields);
});

test('its help speaks of faults that there are', async () => {
  const { out } = await escapement(['simulate', '--help']);
  const named = Array.from(out.matchAll(/--nemesis ([a-z]\w+)/g), ([, kind]) => kind);
  const known = ['none', ...JOBS_MENU.map(({ kind }) => kind)];
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((kind) => !known.includes(kind ?? ''))).toEqual([]);
});

/** The players that a process has started; then it hears of signals as well. */
function playersOf(pid: number): readonly string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  return children
    .filter((child) => child !== '')
    .map((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8'))
    .filter((command) => command.includes('simulate/player'));
}

test.runIf(process.platform === 'linux')(
  'tells what it has found when it is interrupted',
  async () => {
    const { child, ended } = start(['--seeds', '100000', '--until', '60s', '--json']);
    await until(() => playersOf(child.pid as number).length > 0);
    child.kill('SIGINT');
    const { code, out } = await ended;
    expect(code).toBe(0);
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
  [['--seed', '2', '--from', '3'], '--from means nothing with --seed'],
  [['--replay', 'plan.json', '--nemesis', 'none'], '--nemesis means nothing with --replay'],
  [['scenario.yaml', '--until', '5m'], '--until means nothing with files'],
  [['scenario.yaml', '--no-report'], '--no-report means nothing with files'],
])('%j is wrong usage', async (args, what) => {
  const { code, out, err } = await simulate(...args);
  expect([code, out]).toEqual([64, '']);
  expect(err).toContain(what);
});

test('the examples of the help name kinds of trouble that there are', async () => {
  const { out } = await simulate('--help');
  const named = Array.from(out.matchAll(/--nemesis (\w+)/g), ([, kind]) => kind);
  expect(named).toContain('none');
  const { err } = await simulate('--seeds', '1', '--nemesis', 'earthquake');
  const known = err
    .split('There are: ')[1]
    ?.replace(/\.\s*$/, '')
    .split(', ');
  expect(known).toEqual(expect.arrayContaining(named));
});
