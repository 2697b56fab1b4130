/**
 * Mark that a store was begun in a directory, `store.json`: with it, data that was removed is missed. It is
 * written once the first commit is on disk; without it an empty directory is a new one.
 */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { FILE_MODE, syncEntriesNow } from '../durable-files.ts';

const MARK_FILE = 'store.json';
const MARK = {
  format: 1,
  note: 'A store was begun in this directory. Where data.mdb is missing beside this file, somebody has removed it: restore a copy, or remove this file to begin with an empty store.',
};

/** Says in the directory that there is a store, once its first commit is on disk. */
export function markBegun(directory: string): void {
  const path = join(directory, MARK_FILE);
  if (existsSync(path)) return;
  writeFileSync(path, `${JSON.stringify(MARK, null, 2)}\n`, { mode: FILE_MODE });
  syncEntriesNow(directory);
}

/** @throws {RuntimeError} STORE_MISSING */
export function checkBegun(directory: string): void {
  const path = join(directory, MARK_FILE);
  if (!existsSync(path)) return;
  const what = `There was a store in ${directory}, and its data.mdb is gone. Restore a copy; or, to begin with an empty store, remove ${path}.`;
  throw new RuntimeError('STORE_MISSING', what);
}
