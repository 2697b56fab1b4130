/**
 * The head of an LMDB store: one small row that is written with every commit.
 *
 * It counts the commits, the records and the sum of their checksums, so that a record that is
 * missing, or older than it should be, is seen when the store is opened; and it has the highest
 * fence of each shard. Its version in LMDB is the number of commits: a commit goes through only
 * over the head it was computed from, so a second writer is refused, even if it believes that the
 * store is its own.
 */

import { crc32 } from 'node:zlib';
import { STORE_FORMAT } from './row.ts';

export interface Head {
  readonly format: number;
  /** The place whose actors these are; null until one has been named. */
  readonly place: string | null;
  readonly commits: number;
  readonly records: number;
  /** Sum of the checksums of all records, modulo 2^48. */
  readonly sum: number;
  /** The same of their addresses alone: a record that lies under a wrong address is as good as lost. */
  readonly addresses: number;
  /** Rows of tables, and the sum of their checksums; there were none in former releases. */
  readonly rows: number;
  readonly rowsSum: number;
  readonly fences: Readonly<Record<string, number>>;
  /** The oldest chunk of history that has not been folded. */
  readonly oldestChunk: number;
  /** Bytes of history that have not been folded. */
  readonly historyBytes: number;
}

export const EMPTY_HEAD: Head = {
  format: STORE_FORMAT,
  place: null,
  commits: 0,
  records: 0,
  sum: 0,
  addresses: 0,
  rows: 0,
  rowsSum: 0,
  fences: {},
  oldestChunk: 1,
  historyBytes: 0,
};

const SUM_MODULUS = 2 ** 48;

export function addToSum(sum: number, checksum: number): number {
  return (sum + checksum) % SUM_MODULUS;
}

export function takeFromSum(sum: number, checksum: number): number {
  return (sum - checksum + SUM_MODULUS) % SUM_MODULUS;
}

export function encodeHead(head: Head): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const bytes = Buffer.allocUnsafe(4 + text.length);
  bytes.writeUInt32LE(crc32(text), 0);
  text.copy(bytes, 4);
  return bytes;
}

/** Undefined when the bytes are not what was written. */
export function decodeHead(bytes: Buffer): Head | undefined {
  if (bytes.length < 4 || bytes.readUInt32LE(0) !== crc32(bytes.subarray(4))) return undefined;
  return { ...EMPTY_HEAD, ...(JSON.parse(bytes.toString('utf8', 4)) as Head) };
}
