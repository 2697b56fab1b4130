/**
 * Verification of an LMDB store: everything that can be checked without knowing machines.
 *
 * Goes on after a problem, unlike opening, so that all of them are known. Repairs nothing.
 */

import { messageOf } from '../../runtime/base/errors.ts';
import { checkRecords, readHeadRow } from './check.ts';
import { type Environment, FIRST_KEY } from './environment.ts';
import { isSoundHistory, partsOf } from './history.ts';
import { indexKeys } from './query.ts';
import { isSound, readHead } from './row.ts';
import { isSoundUndelivered, numberKey, numberOf } from './undelivered.ts';

export interface StoreProblem {
  /** Null where it concerns the store as a whole. */
  readonly address: string | null;
  readonly problem: string;
}

export interface StoreVerification {
  readonly records: number;
  readonly problems: readonly StoreProblem[];
}

/** Reads everything; `onRecord` is told how many records have been read. */
export function verifyStore(
  environment: Environment,
  directory: string,
  onRecord: (records: number) => void = () => {},
): StoreVerification {
  const problems: StoreProblem[] = [];
  const tell = (problem: string, address: string | null = null) =>
    problems.push({ address, problem });
  let oldestChunk = Number.POSITIVE_INFINITY;
  try {
    const head = readHeadRow(environment, directory);
    oldestChunk = head.oldestChunk;
    const { damaged, problem } = checkRecords(environment, head);
    if (problem !== undefined) tell(problem);
    for (const [address, reason] of damaged) tell(reason, address);
  } catch (thrown) {
    tell(messageOf(thrown));
  }
  const records = checkIndex(environment, tell, onRecord);
  checkHistory(environment, oldestChunk, tell);
  for (const { key, value } of environment.folded.getRange({ start: FIRST_KEY }))
    if (!isSoundHistory(value)) tell('its older history is damaged', key);
  for (const { key, value } of environment.undelivered.getRange({}))
    if (!isSoundUndelivered(value)) tell(`undelivered message ${numberOf(key)} is damaged`);
  return { records, problems };
}

/** Every chunk of the log is sound, and those that records and later chunks name are there. */
function checkHistory(
  environment: Environment,
  oldestChunk: number,
  tell: (problem: string, address?: string) => void,
): void {
  const { history, records, patterns } = environment;
  const isLost = (chunk: number) =>
    chunk >= oldestChunk && chunk > 0 && !history.doesExist(numberKey(chunk));
  for (const { key, value } of records.getRange({ start: FIRST_KEY }))
    if (isSound(key, value, patterns) && isLost(readHead(value, patterns).chunk))
      tell('its latest history is missing', key);
  for (const { key, value } of history.getRange({})) {
    const commit = numberOf(key);
    if (!isSoundHistory(value))
      tell(`the history of commit ${commit} is damaged; older rows cannot be found`);
    for (const { address, chunkBefore } of partsOf(value))
      if (isLost(chunkBefore)) tell(`its history before commit ${commit} is missing`, address);
  }
}

/** Each record has its index keys, and the index has no others. */
function checkIndex(
  environment: Environment,
  tell: (problem: string, address: string | null) => void,
  onRecord: (records: number) => void,
): number {
  let records = 0;
  let expected = 0;
  let isWhole = true;
  for (const { key, value } of environment.records.getRange({ start: FIRST_KEY })) {
    records += 1;
    onRecord(records);
    if (!isSound(key, value, environment.patterns)) {
      isWhole = false;
      continue;
    }
    for (const indexKey of indexKeys(key, readHead(value, environment.patterns))) {
      expected += 1;
      if (!environment.index.doesExist(indexKey)) tell('it is missing in the index', key);
    }
  }
  const actual = environment.index.getKeysCount({ start: FIRST_KEY });
  if (isWhole && actual !== expected)
    tell(`the index has ${actual} keys, and the records have ${expected}`, null);
  return records;
}
