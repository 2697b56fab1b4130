/**
 * The range of XState in package.json is one on which the tests of the seam pass: on its newest version by
 * all other tests, on its oldest by this file, which runs test/statechart once more. `npm run test:xstate`
 * tries versions outside of it.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { type AnyStateMachine, createMachine } from 'xstate';
import {
  checkXStateVersion,
  NEWEST_XSTATE,
  OLDEST_XSTATE,
} from '../../runtime/statechart/xstate-versions.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { ROOT, readProjectFile } from '../project-files.ts';

const OLDEST_FOLDER = join(ROOT, 'node_modules', 'xstate-oldest');

function versionIn(folder: string): unknown {
  return JSON.parse(readProjectFile(join('node_modules', folder, 'package.json'))).version;
}

test('the range is said once, and its ends are what is installed', () => {
  const { peerDependencies, devDependencies } = JSON.parse(readProjectFile('package.json'));
  expect(peerDependencies.xstate).toBe(`>=${OLDEST_XSTATE} <=${NEWEST_XSTATE}`);
  expect(devDependencies.xstate).toBe(NEWEST_XSTATE);
  expect(devDependencies['xstate-oldest']).toBe(`npm:xstate@${OLDEST_XSTATE}`);
  expect(versionIn('xstate')).toBe(NEWEST_XSTATE);
  expect(versionIn('xstate-oldest')).toBe(OLDEST_XSTATE);
});

test('the documents name the range', () => {
  for (const path of ['README.md', 'docs/embedding.md', 'docs/xstate.md', 'docs/errors.md'])
    expect(readProjectFile(path), path).toContain(`${OLDEST_XSTATE} to ${NEWEST_XSTATE}`);
});

test.each([OLDEST_XSTATE, '5.33.0', '5.33.2', NEWEST_XSTATE])('%s runs', (version) => {
  checkXStateVersion(version);
});

test.each([
  '4.38.3',
  '5.9.1',
  '5.32.5',
  '5.33.4',
  '5.34.0',
  '6.0.0',
  '6.0.0-alpha.52',
  `${NEWEST_XSTATE}-beta.1`,
  'latest',
  '',
])('%s is refused, with what to do', (version) => {
  const advice = `"${version}" is installed, and Escapement runs on ${OLDEST_XSTATE} to ${NEWEST_XSTATE}. Run "npm install xstate@${NEWEST_XSTATE}"`;
  expect(() => checkXStateVersion(version)).toThrow(
    expect.objectContaining({
      code: 'XSTATE_UNSUPPORTED',
      message: expect.stringContaining(advice),
    }),
  );
});

describe('a machine that another copy of xstate has made', () => {
  const changed = (changes: object): AnyStateMachine =>
    Object.assign(createMachine({}), changes) as unknown as AnyStateMachine;
  const others = {
    'before 5.31': changed({ options: undefined }),
    'of version 6': changed({ __xstatenode: undefined }),
  };

  test.each(Object.entries(others))('is refused: %s', async (_, machine) => {
    await expect(testRuntime({ kinds: { machine } })).rejects.toMatchObject({
      code: 'XSTATE_UNSUPPORTED',
    });
  });
});

test('the tests of the seam pass on the oldest version', { timeout: 600_000 }, async () => {
  const options = ['run', 'test/statechart/', '--maxWorkers=1', '--reporter=json'];
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const run = spawn(process.execPath, [vitest, ...options], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ESCAPEMENT_TEST_XSTATE: OLDEST_FOLDER,
      DIFFERENTIAL_CASES: '200',
      REFERENCE_CASES: '30',
    },
  });
  const [printed, complained] = await Promise.all([
    text(run.stdout),
    text(run.stderr),
    once(run, 'close'),
  ]);
  const failures = failuresIn(printed);
  expect(failures, complained).toEqual([]);
});

interface Report {
  readonly numPassedTests: number;
  readonly testResults: ReadonlyArray<{
    readonly message: string;
    readonly assertionResults: ReadonlyArray<{
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }>;
  }>;
}

function failuresIn(printed: string): readonly string[] {
  const { numPassedTests, testResults } = JSON.parse(printed) as Report;
  expect(numPassedTests).toBeGreaterThan(200);
  return testResults.flatMap(({ message, assertionResults }) => [
    ...(message === '' ? [] : [message]),
    ...assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join('\n')}`),
  ]);
}
