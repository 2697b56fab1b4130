/**
 * Where a node keeps its actors, and who may: the directory of the data, its lease, and the name
 * of the node in it.
 *
 * Guarantees: processes of different names that share a directory stand in for each other; a
 * second process of the same name is refused, whether the first one leads or waits.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeError } from '../../runtime/errors.ts';
import type { Lease } from '../../runtime/lease.ts';
import type { Logger } from '../../runtime/options.ts';
import type { Store } from '../../runtime/store.ts';
import { directoryLease } from '../../stores/directory/lease.ts';
import { DirectoryLock } from '../../stores/directory/lock.ts';
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

/** @throws {RuntimeError} STORE_LOCKED, STORE_UNWRITABLE */
export async function openStorage(
  { data, node, jobs: { leaseMs } }: Pick<NodeConfiguration, 'data' | 'node' | 'jobs'>,
  logger: Logger,
): Promise<Storage> {
  if (data === undefined) return { close: () => {} };
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

async function takeName(
  data: string,
  options: { readonly node: string; readonly leaseMs: number; readonly logger: Logger },
): Promise<DirectoryLock> {
  const { node } = options;
  // Also a name that a file system reads as something else, such as "..", is the name of a directory of ours.
  const directory = join(data, NAMES, `node-${node.replaceAll(':', '%3A')}`);
  mkdirSync(directory, { recursive: true });
  try {
    return await DirectoryLock.acquire(directory, 'lease', options);
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError) || thrown.code !== 'STORE_LOCKED') throw thrown;
    const what = `Another process called "${node}" uses ${data}. Give this one a name of its own, by --node, and it stands by.`;
    throw new RuntimeError('STORE_LOCKED', what, { cause: thrown });
  }
}
