/**
 * The queues on PostgreSQL that are measured, as packages of a project of their own beside this file: nobody who
 * works on the product needs them. They are installed by their lock file when the suite is run first.
 */

import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** As the benchmarks are run: from the root of the project. */
const PROJECT = join(process.cwd(), 'bench', 'peers');

/** Installs them where they are missing and may be installed, and says so first. @throws {Error} */
export function ensurePackages(): void {
  if (isInstalled()) return;
  const why = 'graphile-worker and pg-boss, which the peers suite measures';
  if (process.env.ESCAPEMENT_NO_INSTALL === '1')
    throw new Error(`Missing: packages of bench/peers (${why}). ESCAPEMENT_NO_INSTALL=1.`);
  process.stderr.write(`Installing packages of bench/peers (about 18 MB): ${why}.\n`);
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', args, {
    cwd: PROJECT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0 || !isInstalled())
    throw new Error(`The packages of bench/peers could not be installed (exit code ${status}).`);
}

/** What a package exports. */
export function loadPackage(name: string): unknown {
  return createRequire(join(PROJECT, 'package.json'))(name);
}

export function versionOfPackage(name: string): string {
  return (loadPackage(`${name}/package.json`) as { version: string }).version;
}

function isInstalled(): boolean {
  const { resolve } = createRequire(join(PROJECT, 'package.json'));
  try {
    return ['graphile-worker', 'pg', 'pg-boss'].every((name) => resolve(name) !== '');
  } catch {
    return false;
  }
}
