/**
 * The command line, the programs of tests and the inspector's page as plain JavaScript, for tests that start
 * processes.
 *
 * Guarantees: what is returned was made of the sources as they were at the call, by the compiler
 * that makes the package and without checking types; it is compiled once, however many test
 * processes ask, and is never changed afterwards. tsx would run the sources as they are, but
 * takes a second of both processors for each process that is started, and adds threads and files of
 * its own to every trace.
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { listProjectFiles, ROOT, readProjectFile } from '../project-files.ts';

const CACHE = join(ROOT, 'node_modules', '.cache', 'escapement-command');
/** Nothing that runs takes that long, so nobody uses what is older. */
const KEPT_MS = 3_600_000;

let compiled: string | undefined;

/** The compiled form of a program, by its path in the project; run it with `process.execPath`. */
export function compiledProgram(path = 'cli/main.ts'): string {
  compiled ??= compileOnce();
  return join(compiled, path.replace(/ts$/, 'js'));
}

function compileOnce(): string {
  mkdirSync(CACHE, { recursive: true });
  const folder = join(CACHE, sourcesHash());
  if (existsSync(folder)) {
    const now = new Date();
    utimesSync(folder, now, now);
  } else {
    removeOld();
    compileInto(folder);
  }
  return folder;
}

/** Into a folder of its own first: a reader of `folder` finds all of it. */
function compileInto(folder: string): void {
  const draft = mkdtempSync(join(CACHE, 'draft-'));
  // Some tests run it as somebody else.
  chmodSync(draft, 0o755);
  // The package under its own name, as the code looks for it, with what is compiled as its entries.
  const entries = readProjectFile('package.json').replaceAll('./dist/', './');
  writeFileSync(join(draft, 'package.json'), entries);
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const project = join(import.meta.dirname, 'tsconfig.json');
  const args = [tsc, '-p', project, '--outDir', draft];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`The programs of the tests do not compile:
${stdout}`);
  const page = [join(ROOT, 'scripts', 'build-page.mjs'), join(draft, 'inspector', 'dist')];
  const built = spawnSync(process.execPath, page, { cwd: ROOT, encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`The inspector's page is not built:\n${built.stderr}`);
  try {
    renameSync(draft, folder);
  } catch (thrown) {
    // Somebody else was faster.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw thrown;
  }
}

function sourcesHash(): string {
  const { include } = JSON.parse(readProjectFile('tsconfig.build.json')) as { include: string[] };
  const isSource = (path: string): boolean =>
    /(?<!\.test)\.ts$/.test(path) &&
    [...include, 'fuzz', 'test'].some((root) => path === root || path.startsWith(`${root}/`));
  const hash = createHash('sha256');
  for (const path of [
    'package.json',
    'tsconfig.build.json',
    'test/kit/tsconfig.json',
    'scripts/build-page.mjs',
    ...listProjectFiles().filter((path) => isSource(path) || path.startsWith('inspector/page/')),
  ])
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(ROOT, path)))
      .update('\0');
  return hash.digest('hex').slice(0, 32);
}

function removeOld(): void {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (Date.now() - changed > KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}
