/**
 * Data of an LMDB directory, for the `data` commands.
 *
 * It reads the files themselves, not through the store: what a store refuses to open can still
 * be looked at and verified.
 */

import { statSync } from 'node:fs';
import { kindOf } from '../../runtime/base/address.ts';
import type { IndexEntry } from '../../runtime/ports/store.ts';
import { DirectoryLock } from '../../stores/directory/lock.ts';
import { readOwner } from '../../stores/directory/owner-file.ts';
import { checkRecords, readHeadRow } from '../../stores/lmdb/check.ts';
import { compactStore } from '../../stores/lmdb/compact.ts';
import { damaged, dataFile, Environment, FIRST_KEY } from '../../stores/lmdb/environment.ts';
import { readHistory } from '../../stores/lmdb/history.ts';
import { checkedRow, isSound, readEntry, readHead, readRecord } from '../../stores/lmdb/row.ts';
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
  const { patterns } = environment;
  const counts = new Map<string, { kind: string; status: IndexEntry['status']; count: number }>();
  let historyRows = 0;
  for (const { key, value } of environment.records.getRange({ start: FIRST_KEY })) {
    const { kind, status } = readEntry(key, checkedRow(key, value, patterns), patterns);
    const name = `${kind} ${status}`;
    const row = counts.get(name) ?? { kind, status, count: 0 };
    row.count += 1;
    counts.set(name, row);
    historyRows += Math.min(HISTORY_MAX, readHead(value, patterns).rows);
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
  const { patterns } = environment;
  for (const { key, value } of environment.records.getRange({ start: FIRST_KEY })) {
    yield {
      address: key,
      entry: isSound(key, value, patterns) ? readEntry(key, value, patterns) : unknownEntry(key),
      record: () => readRecord(checkedRow(key, value, patterns), patterns),
      rows: () => readRows(environment, key),
    };
  }
}

/** Of a damaged record only the address is sure. */
function unknownEntry(address: string): IndexEntry {
  const nothing = { isPending: false, state: '', tags: [], dueAt: null, turnAt: 0 };
  return { kind: kindOf(address), status: 'active', ...nothing };
}

function historyOf(environment: Environment, address: string): readonly string[] {
  const { records, patterns } = environment;
  const row = records.get(address);
  if (row === undefined) return [];
  const source = {
    chunk: (number: number) => environment.history.get(numberKey(number)),
    folded: (of: string) => environment.folded.get(of),
  };
  const head = readHead(checkedRow(address, row, patterns), patterns);
  return readHistory(source, address, head, HISTORY_MAX);
}
