/**
 * The project's own files, for the tests that read the sources instead of running them.
 *
 * A file counts when git tracks it or would: what is ignored is not looked at. In a
 * copy without git, such as an unpacked archive, the folders are walked instead.
 */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');

const IGNORED = new Set(['node_modules', 'dist', 'coverage', '.git', '.tmp']);

/** Paths from the root of the project, with `/`, in order. */
export function listProjectFiles(): readonly string[] {
  return (listByGit() ?? listByWalk('')).filter(isFile).sort();
}

export function readProjectFile(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The folder directly under the root that holds `path`, or an empty string. */
export function folderOf(path: string): string {
  const slash = path.indexOf('/');
  return slash === -1 ? '' : path.slice(0, slash);
}

function listByGit(): string[] | undefined {
  const options = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const { status, stdout } = spawnSync('git', options, { cwd: ROOT, encoding: 'utf8' });
  // An archive inside somebody else's repository is tracked by nobody: nothing comes out.
  if (status !== 0 || stdout === '') return undefined;
  return [...new Set(stdout.split('\0').filter((path) => path !== ''))];
}

function listByWalk(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => !IGNORED.has(entry.name))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      return entry.isDirectory() ? listByWalk(path) : [path];
    });
}

/** A file that is deleted but not yet committed is still in git's list. */
function isFile(path: string): boolean {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile() === true;
}
