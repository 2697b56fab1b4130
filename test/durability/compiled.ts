/**
 * The programs that tests start, trace and kill, as plain JavaScript.
 *
 * They begin in a tenth of a second, where tsx would take five times as long and add threads and
 * files of its own to every trace. What comes out is gone when this process ends, or when the next
 * one begins: a test runner kills its workers, and then they clean up nothing.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from '../project-files.ts';

const PREFIX = 'escapement-programs-';

let folder: string | undefined;

/** Where the compiled form of a program is, such as `test/crash/victim.ts`. */
export function compiledProgram(path: string): string {
  folder ??= compile();
  return join(folder, relative(ROOT, path).replace(/ts$/, 'js'));
}

function compile(): string {
  const cache = join(ROOT, 'node_modules', '.cache');
  const out = join(cache, `${PREFIX}${process.pid}`);
  mkdirSync(out, { recursive: true });
  sweep(cache);
  process.once('exit', () => rmSync(out, { recursive: true, force: true }));
  writeFileSync(join(out, 'package.json'), '{"type":"module"}\n');
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const project = join(import.meta.dirname, 'tsconfig.json');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', project, '--outDir', out], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The programs of the tests do not compile:\n${stdout}`);
  return out;
}

/** Removes what processes have left behind that are gone. */
function sweep(cache: string): void {
  for (const name of readdirSync(cache)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : 0;
    if (pid > 0 && !isAlive(pid)) rmSync(join(cache, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}
