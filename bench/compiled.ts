/**
 * The benchmarks as plain JavaScript, made by the compiler that also makes the package.
 *
 * tsx would run the sources as they are, but it keeps the names of functions by a call
 * around every function that is created, also around each closure of a hot path: that
 * would be measured too.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** The program that a field's process runs. */
const MEASURE = import.meta.resolve('./measure.ts');

/** Under the package's own name its code finds its version. */
function ownPackage(): string {
  const { name, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const exports = { './package.json': './package.json' };
  return `${JSON.stringify({ name, version, type: 'module', exports })}\n`;
}

/** Compiles everything the benchmarks need; returns the file to run for a field. Gone when this process ends. */
export function compile(): string {
  const out = join(ROOT, 'node_modules', '.cache', `escapement-bench-${process.pid}`);
  mkdirSync(out, { recursive: true });
  process.once('exit', () => rmSync(out, { recursive: true, force: true }));
  writeFileSync(join(out, 'package.json'), ownPackage());
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, '-p', join(ROOT, 'bench', 'tsconfig.json'), '--outDir', out];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The benchmarks do not compile:\n${stdout}`);
  return join(out, 'bench', basename(MEASURE).replace(/ts$/, 'js'));
}
