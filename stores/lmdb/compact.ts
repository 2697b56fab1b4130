/**
 * Makes the file of an LMDB store as small as what is in it.
 *
 * LMDB uses free pages again and never gives them back. A compact copy is written beside the
 * file, flushed, and put in its place by a rename, so at every moment there is one whole file.
 * The directory must be ours, and closed.
 */

import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { syncEntriesNow } from '../durable-files.ts';
import { dataFile, Environment } from './environment.ts';

export interface StoreCompaction {
  readonly beforeBytes: number;
  readonly afterBytes: number;
}

/** @throws {RuntimeError} STORE_MISSING, STORE_DAMAGED, STORE_UNWRITABLE */
export async function compactStore(directory: string): Promise<StoreCompaction> {
  const file = dataFile(directory);
  const copies = join(directory, 'compacting');
  rmSync(copies, { recursive: true, force: true });
  const environment = await Environment.open(directory, { isReadOnly: true });
  try {
    mkdirSync(copies);
    await environment.root.backup(copies, true);
    await environment.close();
    const beforeBytes = statSync(file).size;
    const copy = dataFile(copies);
    flush(copy);
    renameSync(copy, file);
    syncEntriesNow(directory);
    return { beforeBytes, afterBytes: statSync(file).size };
  } finally {
    await environment.close();
    rmSync(copies, { recursive: true, force: true });
  }
}

function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
