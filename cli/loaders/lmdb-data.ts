/**
 * Data of an LMDB directory, for the `data` commands.
 *
 * It reads the files themselves, not through the store: what a store refuses to open can still
 * be looked at and verified.
 */

import { statSync } from 'node:fs';
import type { IndexEntry } from '../../runtime/ports/store.ts';
import { DirectoryLock } from '../../stores/directory/lock.ts';
import { readOwner } from '../../stores/directory/owner-file.ts';
import { checkRecords, readHeadRow } from '../../stores/lmdb/check.ts';
import { compactStore } from '../../stores/lmdb/compact.ts';
import { damaged, dataFile, Environment, FIRST_KEY } from '../../stores/lmdb/environment.ts';
import { readHistory } from '../../stores/lmdb/history.ts';
import { checkedRow, readEntry, readHead, readRecord } from '../../stores/lmdb/row.ts';
import { readRows } from '../../stores/lmdb/rows.ts';
import { numberKey, UndeliveredList } from '../../stores/lmdb/undelivered.ts';
import { verifyStore } from '../../stores/lmdb/verify.ts';
import type { DataInfo, KindCount, Purpose, StoredActor, StoredData } from './stored-data.ts';

/** As many as a store keeps unless told otherwise. */
const HISTORY_MAX = 100;

export async function openLmdbData(directory: string, purpose: Purpose): Promise<StoredData> {
  const lock = purpose === 'compact' ? await DirectoryLock.acquire(directory, 'store') : undefined;
  let environment: Environment;
  try {
    environment = await Environment.open(directory, { isReadOnly: true });
    if (purpose === 'look') refuseDamaged(environment, directory);
  } catch (thrown) {
    await lock?.release();
    throw thrown;
  }
  return {
    info: () => infoOf(environment, directory),
    actors: () => actorsOf(environment),
    history: (address) => historyOf(environment, address),
    undelivered: () => new UndeliveredList(environment.undelivered).all(),
    verify: (onRecord) => verifyStore(environment, directory, onRecord),
    compact: async () => {
      await environment.close();
      return compactStore(directory);
    },
    close: async () => {
      await environment.close();
      await lock?.release();
    },
  };
}

function refuseDamaged(environment: Environment, directory: string): void {
  const { problem } = checkRecords(environment, readHeadRow(environment, directory));
  if (problem !== undefined) throw damaged(directory, problem);
}

function infoOf(environment: Environment, directory: string): DataInfo {
  const head = readHeadRow(environment, directory);
  const counts = new Map<string, { kind: string; status: IndexEntry['status']; count: number }>();
  let historyRows = 0;
  for (const { key, value } of environment.records.getRange({ start: FIRST_KEY })) {
    const { kind, status } = readEntry(key, checkedRow(key, value));
    const name = `${kind} ${status}`;
    const row = counts.get(name) ?? { kind, status, count: 0 };
    row.count += 1;
    counts.set(name, row);
    historyRows += Math.min(HISTORY_MAX, readHead(value).rows);
  }
  const owner = readOwner(directory)?.record;
  const records: KindCount[] = [...counts.values()];
  return {
    format: head.format,
    createdAt: null,
    fences: head.fences,
    records,
    historyRows,
    undelivered: new UndeliveredList(environment.undelivered).size,
    fileBytes: statSync(dataFile(directory)).size,
    freePages: environment.freePages(),
    owner: owner === undefined ? null : { pid: owner.pid, node: owner.node ?? null },
  };
}

function* actorsOf(environment: Environment): Iterable<StoredActor> {
  for (const { key, value } of environment.records.getRange({ start: FIRST_KEY })) {
    yield {
      address: key,
      entry: readEntry(key, value),
      record: () => readRecord(checkedRow(key, value)),
      rows: () => readRows(environment, key),
    };
  }
}

function historyOf(environment: Environment, address: string): readonly string[] {
  const row = environment.records.get(address);
  if (row === undefined) return [];
  const source = {
    chunk: (number: number) => environment.history.get(numberKey(number)),
    folded: (of: string) => environment.folded.get(of),
  };
  return readHistory(source, address, readHead(checkedRow(address, row)), HISTORY_MAX);
}
