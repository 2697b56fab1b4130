/**
 * Stored data of a directory, opened to be looked at only: also beside a runner at work.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lmdbStore } from '../../stores/lmdb.ts';
import { PLACE } from './host.ts';
import { RunFolder } from './run-folder.ts';
import { StoredRuns } from './stored-runs.ts';

export interface StoredData {
  readonly stored: StoredRuns;
  folder(runId: string): RunFolder;
  close(): Promise<void>;
}

const NOTHING = {
  load: () => undefined,
  entry: () => undefined,
  rows: () => [],
  query: () => ({ rows: [] }),
};

/** A directory without data has no runs. @throws {RuntimeError} what opening a store throws */
export async function openStoredData(data: string): Promise<StoredData> {
  const folder = (runId: string): RunFolder => new RunFolder(data, runId);
  if (!existsSync(join(data, 'data.mdb')))
    return { stored: new StoredRuns(NOTHING, PLACE), folder, close: async () => {} };
  const store = lmdbStore(data, { isReadOnly: true });
  await store.open();
  return { stored: new StoredRuns(store, PLACE), folder, close: () => store.close() };
}
