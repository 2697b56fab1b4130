/**
 * Storage of a node's actors, and who may use it: the directory of the data, its lease, and the name
 * of the node in it.
 *
 * Guarantees: processes of different names that share a directory stand in for each other; a
 * second process of the same name is refused, whether the first one leads or waits, and so is one
 * of another place: it would find out in the moment in which it is needed.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Lease } from '../../runtime/ports/lease.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { openDataDirectory } from '../../stores/directory/data-directory.ts';
import { directoryLease } from '../../stores/directory/lease.ts';
import { DirectoryLock } from '../../stores/directory/lock.ts';
import { readOwner } from '../../stores/directory/owner-file.ts';
import { readHeadRow } from '../../stores/lmdb/check.ts';
import { dataFile, Environment } from '../../stores/lmdb/environment.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import type { NodeConfiguration } from './resolve.ts';

/** A directory for each name that a process has taken. */
const NAMES = 'nodes';

export interface Storage {
  /** Both left out: in memory. */
  readonly store?: Store;
  readonly lease?: Lease;
  /** Gives the name back. */
  close(): void;
}

/** @throws {RuntimeError} STORE_LOCKED, STORE_UNWRITABLE, STORE_FOREIGN */
export async function openStorage(
  {
    data,
    node,
    place,
    leaseMs,
  }: Pick<NodeConfiguration, 'data' | 'node' | 'place'> & { readonly leaseMs: number },
  logger: Logger,
): Promise<Storage> {
  if (data === undefined) return { close: () => {} };
  openDataDirectory(data);
  await refuseForeign(data, place);
  const name = await takeName(data, { node, leaseMs, logger });
  try {
    return {
      store: lmdbStore(data),
      lease: directoryLease(data, { node, leaseMs, logger }),
      close: () => name.release(),
    };
  } catch (thrown) {
    name.release();
    throw thrown;
  }
}

/**
 * Refuses a foreign directory before waiting: a node that leads at once hears it from the store, one
 * that waits too late.
 */
async function refuseForeign(data: string, place: string): Promise<void> {
  if (readOwner(data) === undefined) return;
  const owner = await placeIn(data);
  if (owner === null || owner === place) return;
  const what = `The store in ${data} belongs to "${owner}", and this node is of "${place}". Give each place a directory of its own.`;
  throw new RuntimeError('STORE_FOREIGN', what);
}

/** Null where nobody can say: a store that is just being made, or that does not open. */
async function placeIn(data: string): Promise<string | null> {
  if (!existsSync(dataFile(data))) return null;
  try {
    const environment = await Environment.open(data, { isReadOnly: true });
    try {
      return readHeadRow(environment, data).place;
    } finally {
      await environment.close();
    }
  } catch {
    // The node that leads finds out what is wrong with it.
    return null;
  }
}

async function takeName(
  data: string,
  options: { readonly node: string; readonly leaseMs: number; readonly logger: Logger },
): Promise<DirectoryLock> {
  const { node } = options;
  // Also a name that a file system reads as something else, such as "..", is the name of a directory of ours.
  const directory = join(data, NAMES, `node-${node.replaceAll(':', '%3A')}`);
  openDataDirectory(directory);
  try {
    return await DirectoryLock.acquire(directory, 'lease', options);
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError) || thrown.code !== 'STORE_LOCKED') throw thrown;
    const what = `Another process called "${node}" uses ${data}. Give this one a name of its own, by --node, and it stands by.`;
    throw new RuntimeError('STORE_LOCKED', what, { cause: thrown });
  }
}
