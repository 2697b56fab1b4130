/**
 * `npm run test:xstate`: the tests of the seam to XState on the oldest and on the newest version of the
 * range in package.json, or on those that it is given: `npm run test:xstate -- 5.34.0`, which installs
 * each into a folder of its own first. What passes may become the new end of the range.
 *
 * `npm test` runs them on the newest, as all tests, and on the oldest by test/package/xstate-range.test.ts.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MODULES = join(ROOT, 'node_modules');

const versions = process.argv.slice(2);
const copies = [join(MODULES, 'xstate-oldest'), join(MODULES, 'xstate')];
const scratch = versions.length > 0 ? mkdtempSync(join(tmpdir(), 'escapement-xstate-')) : undefined;
try {
  const chosen = versions.length > 0 ? versions.map(install) : copies;
  process.exitCode = Math.max(...chosen.map(testOn));
} finally {
  if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true });
}

/** Returns the folder of the installed package. */
function install(version) {
  const folder = join(scratch, version);
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
  const { status } = spawnSync('npm', ['install', ...options, `xstate@${version}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`xstate ${version} could not be installed.`);
  return join(folder, 'node_modules', 'xstate');
}

/** Returns the exit code of the tests. */
function testOn(folder) {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  process.stdout.write(`\nxstate ${version}\n`);
  const vitest = join(MODULES, 'vitest', 'vitest.mjs');
  const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/statechart/'], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ESCAPEMENT_TEST_XSTATE: folder, ESCAPEMENT_TRY_XSTATE: version },
  });
  return status ?? 1;
}
