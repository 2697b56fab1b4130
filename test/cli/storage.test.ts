/** Storage of a node's actors: the lease of the directory is as configured. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openStorage } from '../../cli/node/storage.ts';
import { JOBS_OPTIONS } from '../../programs/jobs/configuration/options.ts';
import { resolveConfiguration } from '../../programs/jobs/configuration.ts';
import { SILENT_LOGGER } from '../../runtime/base/limits.ts';
import type { LeaseClaim } from '../../runtime/ports/lease.ts';
import { DirectoryLock } from '../../stores/directory/lock.ts';
import { lmdbStore } from '../../stores/lmdb.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function opened(leaseMs: number) {
  const data = mkdtempSync(join(tmpdir(), 'escapement-storage-'));
  folders.push(data);
  const storage = await openStorage(
    { data, node: 'A.manager-1', place: 'A', leaseMs },
    SILENT_LOGGER,
  );
  const leaseIn = (...path: readonly string[]): unknown =>
    JSON.parse(readFileSync(join(data, ...path, 'owner.json'), 'utf8')).leaseMs;
  return { storage, leaseIn };
}

test('the directory is held for as long as "leaseMs" says, and so is the name', async () => {
  const { storage, leaseIn } = await opened(9_000);
  expect(leaseIn('nodes', 'node-A.manager-1')).toBe(9_000);
  let claim: LeaseClaim | undefined;
  await new Promise<number>((acquired) => {
    claim = storage.lease?.hold('A', { acquired, standsBy: () => {}, lost: () => {} });
  });
  expect(leaseIn()).toBe(9_000);
  claim?.release();
  storage.close();
});

test('anybody who would stand by for another place is refused at once', async () => {
  const data = mkdtempSync(join(tmpdir(), 'escapement-storage-'));
  folders.push(data);
  const store = lmdbStore(data);
  await store.open('A');
  await store.close();
  const leader = await DirectoryLock.acquire(data, 'lease', { node: 'A.manager-1' });
  const { leaseMs } = resolveConfiguration();
  const foreign = openStorage({ data, node: 'B.manager-1', place: 'B', leaseMs }, SILENT_LOGGER);
  await expect(foreign).rejects.toMatchObject({ code: 'STORE_FOREIGN' });
  const twin = await openStorage({ data, node: 'A.manager-2', place: 'A', leaseMs }, SILENT_LOGGER);
  twin.close();
  await leader.release();
});

test('a store that does not open yet refuses nobody', async () => {
  const data = mkdtempSync(join(tmpdir(), 'escapement-storage-'));
  folders.push(data);
  writeFileSync(join(data, 'data.mdb'), '');
  const leader = await DirectoryLock.acquire(data, 'lease', { node: 'A.manager-1' });
  const { leaseMs } = resolveConfiguration();
  const twin = await openStorage({ data, node: 'A.manager-2', place: 'A', leaseMs }, SILENT_LOGGER);
  twin.close();
  await leader.release();
});

/** Directories take longer ones than boards do, and none that is shorter. */
test.each([JOBS_OPTIONS.leaseMs.min, JOBS_OPTIONS.leaseMs.max])(
  'every lease that the configuration allows is one of a directory: %i',
  async (leaseMs) => {
    const { storage } = await opened(leaseMs as number);
    storage.close();
  },
);
