/**
 * `npm start`: compiles what has changed, builds the inspector's page, then runs `escapement demo` with the same arguments.
 *
 * The demo is thirteen processes, and compiled ones start in a third of the time. Types are not checked
 * here, which takes longer than all the rest; `npm run check` does that.
 */

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildPage } from './build-page.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OUT = join(ROOT, 'node_modules', '.cache', 'escapement-start');

mkdirSync(OUT, { recursive: true });
copyFileSync(join(ROOT, 'package.json'), join(OUT, 'package.json'));
const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
const plain = ['--declaration', 'false', '--declarationMap', 'false', '--noCheck'];
const incremental = ['--incremental', '--tsBuildInfoFile', join(OUT, 'build.tsbuildinfo')];
const { status } = spawnSync(
  process.execPath,
  [compiler, '-p', join(ROOT, 'tsconfig.build.json'), '--outDir', OUT, ...plain, ...incremental],
  { cwd: ROOT, stdio: ['ignore', 2, 2] },
);
if (status === 0) {
  await buildPage(join(OUT, 'inspector', 'dist'));
  const main = join(OUT, 'cli', 'main.js');
  process.argv = [process.execPath, main, 'demo', ...process.argv.slice(2)];
  await import(pathToFileURL(main).href);
} else {
  process.exitCode = 1;
}
