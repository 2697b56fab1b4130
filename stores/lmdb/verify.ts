/**
 * Everything that can be checked of an LMDB store without knowing machines.
 *
 * Goes on after a problem, unlike opening, so that all of them are known. Repairs nothing.
 */

import { messageOf } from '../../runtime/errors.ts';
import { checkRecords, readHeadRow } from './check.ts';
import { type Environment, FIRST_KEY } from './environment.ts';
import { isSoundHistory } from './history.ts';
import { indexKeys } from './query.ts';
import { isSound, readHead } from './row.ts';
import { isSoundUndelivered, numberOf } from './undelivered.ts';

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
  try {
    const { damaged, problem } = checkRecords(environment, readHeadRow(environment, directory));
    if (problem !== undefined) tell(problem);
    for (const [address, reason] of damaged) tell(reason, address);
  } catch (thrown) {
    tell(messageOf(thrown));
  }
  const records = checkIndex(environment, tell, onRecord);
  for (const { key, value } of environment.history.getRange({}))
    if (!isSoundHistory(value))
      tell(`the history of commit ${numberOf(key)} is damaged; older rows cannot be found`);
  for (const { key, value } of environment.folded.getRange({ start: FIRST_KEY }))
    if (!isSoundHistory(value)) tell('its older history is damaged', key);
  for (const { key, value } of environment.undelivered.getRange({}))
    if (!isSoundUndelivered(value)) tell(`undelivered message ${numberOf(key)} is damaged`);
  return { records, problems };
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
    if (!isSound(key, value)) {
      isWhole = false;
      continue;
    }
    for (const indexKey of indexKeys(key, readHead(value))) {
      expected += 1;
      if (!environment.index.doesExist(indexKey)) tell('it is missing in the index', key);
    }
  }
  const actual = environment.index.getKeysCount({ start: FIRST_KEY });
  if (isWhole && actual !== expected)
    tell(`the index has ${actual} keys, and the records have ${expected}`, null);
  return records;
}
