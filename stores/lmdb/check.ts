/**
 * Check that an LMDB store holds what its head says it holds.
 *
 * A record whose checksum is wrong is damaged: its actor is reported and left alone. A record
 * that is missing, or older than the last commit that wrote it, shows in the head's count and
 * sum; nobody can say which one it was, so the whole store is refused.
 */

import { crc32 } from 'node:zlib';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { type Environment, FIRST_KEY, damaged as storeDamaged } from './environment.ts';
import { addToSum, decodeHead, EMPTY_HEAD, type Head } from './head.ts';
import { checksumIn, checksumOf, faultOf, STORE_FORMAT } from './row.ts';
import { checkRows } from './rows.ts';

export const HEAD_KEY = 'head';
const WRONG_CHECKSUM = 'its checksum is wrong';
/** One for each table; more when its process was killed before the head was written. */
const NEW_TRANSACTIONS_MAX = 16;

/** The head; an empty one in a new store. @throws {RuntimeError} STORE_NEWER, STORE_DAMAGED */
export function readHeadRow(environment: Environment, directory: string): Head {
  const bytes = environment.head.get(HEAD_KEY);
  if (bytes === undefined) {
    for (const _ of environment.records.getKeys({ start: FIRST_KEY, limit: 1 }))
      throw storeDamaged(directory, 'it has records and no head');
    if (environment.transactions() > NEW_TRANSACTIONS_MAX)
      throw storeDamaged(directory, 'it was written to and has no head');
    return EMPTY_HEAD;
  }
  const head = decodeHead(bytes);
  if (head === undefined) throw storeDamaged(directory, 'the checksum of its head is wrong');
  if (head.format > STORE_FORMAT) {
    const what = `${directory} was written by a newer release (store format ${head.format}; this one knows ${STORE_FORMAT}). Run that release, or restore a copy from before.`;
    throw new RuntimeError('STORE_NEWER', what);
  }
  return head;
}

export interface RecordsChecked {
  /** Addresses of damaged records, with what is wrong. */
  readonly damaged: ReadonlyMap<string, string>;
  /** Set when records are missing or old. */
  readonly problem: string | undefined;
}

/** Reads every record once, looks each up under its address, and reads every row beside them. @throws {RuntimeError} STORE_DAMAGED */
export function checkRecords(
  environment: Environment,
  head: Head,
  onSound: (address: string, row: Buffer) => void = () => {},
): RecordsChecked {
  const damaged = new Map<string, string>();
  let records = 0;
  /** Sum of what the rows say about themselves, sound or not. */
  let sum = 0;
  let repaired = 0;
  let addresses = 0;
  let lost = 0;
  let last = '';
  for (const { key, value } of environment.records.getRange({ start: FIRST_KEY })) {
    const written = checksumIn(value);
    const ofAddress = crc32(key);
    const actual = checksumOf(ofAddress, value);
    records += 1;
    sum = addToSum(sum, written ?? 0);
    repaired = addToSum(repaired, actual);
    addresses = addToSum(addresses, ofAddress);
    const fault = written === actual ? faultOf(value, environment.patterns) : WRONG_CHECKSUM;
    if (fault === undefined) onSound(key, value);
    else damaged.set(key, fault);
    // Pages in a wrong place show all records to a walk through them, and hide some from a read of
    // one.
    if (key <= last || !environment.records.doesExist(key)) lost += 1;
    last = key;
  }
  // When the damage is in checksums alone, the sum of what they should be is right.
  const isSumRight = sum === head.sum || repaired === head.sum;
  const isWhole = records === head.records && addresses === head.addresses && isSumRight;
  const ofRows = checkRows(environment, head, damaged);
  const problem = isWhole && lost === 0 ? ofRows : problemOf(head, { records, addresses, lost });
  return { damaged, problem };
}

function problemOf(
  head: Head,
  { records, addresses, lost }: { records: number; addresses: number; lost: number },
): string {
  if (records !== head.records)
    return `after commit ${head.commits} there were ${head.records} records, and now there are ${records}`;
  if (lost > 0) return `${lost} of ${records} records are not found under their addresses`;
  const what = `at least one of ${records} records`;
  if (addresses !== head.addresses) return `${what} lies under a wrong address`;
  return `${what} is not the one last written by commit ${head.commits}`;
}
