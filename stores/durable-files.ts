/**
 * Durable files: their permissions, and the sync by which their names survive a power cut.
 *
 * A file that was synced is on disk, and its name is not: the name belongs to the directory, which
 * has to be synced after a file was made, renamed or linked in it. Windows and some network file
 * systems have no such call: there the file system keeps the order, or nobody can.
 */

import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { platform } from 'node:os';

/** Records, payloads and results are the business of one user. */
export const DIRECTORY_MODE = 0o700;
export const FILE_MODE = 0o600;

const IS_SYNCABLE = platform() !== 'win32';
const IS_UNKNOWN = new Set(['EINVAL', 'ENOTSUP']);

/** @throws the file system's error when the directory cannot be synced. */
export async function syncEntries(directory: string): Promise<void> {
  if (!IS_SYNCABLE) return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } catch (thrown) {
    refuse(thrown);
  } finally {
    await handle.close();
  }
}

/** The same at once, for what is opened synchronously. */
export function syncEntriesNow(directory: string): void {
  if (!IS_SYNCABLE) return;
  const file = openSync(directory, 'r');
  try {
    fsyncSync(file);
  } catch (thrown) {
    refuse(thrown);
  } finally {
    closeSync(file);
  }
}

/** Throws what says that the disk failed, and passes over a call that the file system does not know. */
function refuse(thrown: unknown): void {
  if (!IS_UNKNOWN.has((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown;
}
