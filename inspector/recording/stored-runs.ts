/**
 * Runs of agents and of map-reduce in a directory of the dead: what the panel of runs shows of them, read from their
 * records and the files beside them.
 */

import { basename, dirname } from 'node:path';
import {
  PLACE as AGENTS,
  openStoredData as openAgents,
} from '../../programs/agents/stored-runs.ts';
import { ItemFile } from '../../programs/mapreduce/items.ts';
import { openStoredData as openMapReduce } from '../../programs/mapreduce/stored-data.ts';
import { agentsView } from '../runs/agents.ts';
import { type MapReduceRecords, mapReduceView } from '../runs/mapreduce.ts';
import type { RunsTold } from '../runs/source.ts';
import { show } from '../shown.ts';

/** Bytes of what users have written that are shown of one value. */
const SHOWN = { bytesMax: 65_536 };

/**
 * `at`: moment at which they are looked at, which is the last of what is recorded. Undefined where there are none.
 *
 * @throws what opening a store throws
 */
export async function runsInDirectory(
  directory: string,
  at: number,
): Promise<RunsTold | undefined> {
  const told =
    basename(directory) === AGENTS
      ? await agentRunsIn(dirname(directory), at)
      : await mapReduceRunsIn(directory, at);
  return told.runs.length === 0 ? undefined : told;
}

async function agentRunsIn(data: string, at: number): Promise<RunsTold> {
  const { stored, close } = await openAgents(data);
  try {
    return agentsView(stored, at, (value) => show(value, SHOWN));
  } finally {
    await close();
  }
}

async function mapReduceRunsIn(data: string, at: number): Promise<RunsTold> {
  const { stored, folder, close } = await openMapReduce(data);
  const files = new Map<string, ItemFile | undefined>();
  const fileOf = (runId: string): ItemFile | undefined => {
    if (!files.has(runId)) files.set(runId, opened(folder(runId).itemsPath));
    return files.get(runId);
  };
  const records: MapReduceRecords = {
    stored,
    items: (runId) => stored.items(runId),
    itemId: (runId, index) => fileOf(runId)?.at(index).itemId ?? `item ${index}`,
  };
  try {
    return mapReduceView(records, at);
  } finally {
    for (const file of files.values()) file?.close();
    await close();
  }
}

/** Without its file an item has a number and no name. */
function opened(path: string): ItemFile | undefined {
  try {
    return new ItemFile(path);
  } catch {
    return undefined;
  }
}
