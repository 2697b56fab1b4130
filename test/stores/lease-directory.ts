/**
 * The lease of a directory, as the contract suite wants it: within one process, on a new
 * directory, and with a way to take it from its holder.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { directoryLease } from '../../stores/directory/lease.ts';
import type { LeaseContenders } from '../contracts/describe-lease.ts';
import { ownerIn, writeOwner } from './owner-processes.ts';

export async function openDirectoryLease(): Promise<LeaseContenders> {
  const directory = mkdtempSync(join(tmpdir(), 'escapement-lease-'));
  const lease = directoryLease(directory, { leaseMs: 200 });
  return {
    one: lease,
    other: lease,
    expire: async () => usurp(directory),
    close: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Makes the owner find that another has taken over, one that is gone itself by now. */
function usurp(directory: string): void {
  writeOwner(directory, { ...ownerIn(directory), id: 'usurper', startTicks: '1' });
}
