/**
 * Data directory, checked once, and the errors that speak of it.
 *
 * Guarantees: it exists (it is made when it does not, for its user alone), its name is on disk, it
 * is a directory, and it could be written when it was opened. Two paths to one directory, through
 * a symlink or a bind mount, have the same `identity`. It holds no lock: that is lock.ts.
 */

import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { excerpt, messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import { DIRECTORY_MODE, syncEntriesNow } from '../durable-files.ts';

export interface DataDirectory {
  /** Path without symlinks, independent of the working directory. */
  readonly path: string;
  /** Device and inode. */
  readonly identity: string;
}

/** Mistakes in the path itself; everything else is about permission, space or hardware. */
const PATH_ERRORS = new Set([
  'EEXIST',
  'ENOTDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'EINVAL',
  'ERR_INVALID_ARG_VALUE',
]);

/** @throws {RuntimeError} OPTION_INVALID, STORE_UNWRITABLE */
export function openDataDirectory(directory: string): DataDirectory {
  if (typeof directory !== 'string' || directory === '') {
    throw new RuntimeError('OPTION_INVALID', 'The directory must be a path, and not empty.');
  }
  try {
    makeDirectory(directory, DIRECTORY_MODE);
    const path = realpathSync(directory);
    syncName(path);
    const { dev, ino } = statSync(path, { bigint: true });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return { path, identity: `${dev.toString(36)}.${ino.toString(36)}` };
  } catch (thrown) {
    if (!PATH_ERRORS.has((thrown as NodeJS.ErrnoException).code ?? '')) {
      throw unwritable(directory, thrown);
    }
    const what = `${excerpt(directory)} cannot be a directory for data: ${messageOf(thrown)}.`;
    throw new RuntimeError(
      'OPTION_INVALID',
      `${what} Move away what is in its place, or name another path.`,
      { cause: thrown },
    );
  }
}

/**
 * Makes a directory with all that is missing above it. Node's own way to do that never comes to an end
 * below `/proc`.
 */
export function makeDirectory(path: string, mode?: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    const isThere = code === 'EEXIST' && statSync(path, { throwIfNoEntry: false })?.isDirectory();
    if (isThere === true) return;
    const above = dirname(path);
    if (code !== 'ENOENT' || existsSync(above)) throw thrown;
    makeDirectory(above, mode);
    makeDirectory(path, mode);
    syncName(above);
  }
}

/**
 * Syncs the entry of a directory in the one above it, also where a process before this one has made
 * it: that one may have died before it could. A parent that only others may read is theirs to keep.
 */
function syncName(path: string): void {
  try {
    syncEntriesNow(dirname(path));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EACCES') throw thrown;
  }
}

/** Error of a directory that ought to work; an error that is typed already stays as it is. */
export function unwritable(directory: string, thrown: unknown): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  return new RuntimeError(
    'STORE_UNWRITABLE',
    `The directory ${JSON.stringify(directory)} cannot be used: ${messageOf(thrown)}. ` +
      'See that it exists, that this user may write to it, and that the disk has room.',
    { cause: thrown },
  );
}
