/**
 * Files that have to come from the disk again, as they do after a machine was started.
 *
 * Where this process may, the whole page cache is dropped: the program is cold then as well as
 * its data. Elsewhere only the file is, if `dd` can do that. Whether it helped is for the reader
 * of the file to say, by counting what came from the disk.
 */

import { spawnSync } from 'node:child_process';
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs';

export type Eviction = 'page cache dropped' | 'data file evicted';

/** Evicts `file`, which must be on disk already; undefined when that cannot be done here. */
export function evict(file: string): Eviction | undefined {
  try {
    spawnSync('sync');
    writeFileSync('/proc/sys/vm/drop_caches', '3');
    return 'page cache dropped';
  } catch {
    const options = ['oflag=nocache', 'conv=notrunc,fdatasync', 'count=0'];
    const { status } = spawnSync('dd', [`of=${file}`, ...options], { stdio: 'ignore' });
    return status === 0 ? 'data file evicted' : undefined;
  }
}

/** Puts `file` on disk and into the page cache. */
export function settle(file: string): void {
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
  readFileSync(file);
}
