/**
 * Stored data of a directory, opened to be looked at only: also beside a runner at work.
 */

import { openStored } from '../runs.ts';
import { RunFolder } from './run-folder.ts';
import { StoredRuns } from './stored-runs.ts';

export interface StoredData {
  readonly stored: StoredRuns;
  folder(runId: string): RunFolder;
  close(): Promise<void>;
}

/** A directory without data has no runs. @throws {RuntimeError} what opening a store throws */
export async function openStoredData(data: string): Promise<StoredData> {
  const { store, close } = await openStored(data);
  const folder = (runId: string): RunFolder => new RunFolder(data, runId);
  return { stored: new StoredRuns(store), folder, close };
}
