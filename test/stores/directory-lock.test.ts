import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DirectoryLock } from '../../stores/directory/lock.ts';
import { OwnerProcess, ownerIn, testDirectory, UNSHARE } from './owner-processes.ts';

const acquire = DirectoryLock.acquire;
const [MOUNT, UNMOUNT] = ['mount', 'umount'] as const;

/** Nobody waits for so long: what works with it did not have to watch anybody. */
const HOUR_MS = 3_600_000;

describe('between processes', () => {
  test('the lock is for one, and the other is told for whom', async () => {
    const directory = testDirectory();
    const owner = new OwnerProcess('lock', directory, { node: 'manager-1' });
    await owner.hears('acquired');
    const other = new OwnerProcess('lock', directory);
    const { code, message } = await other.hears('refused');
    expect(code).toBe('STORE_LOCKED');
    expect(message).toMatch(
      new RegExp(`node "manager-1", process ${owner.pid} on host ".*", since \\d{4}-`),
    );
    expect(message).toMatch(/Stop that process, or use another directory/);
    expect(owner.events()).toEqual(['acquired']);
  });

  test('it is free once the owner releases it, and the owner file is gone', async () => {
    const directory = testDirectory();
    const owner = new OwnerProcess('lock', directory);
    await owner.hears('acquired');
    await expect(acquire(directory, 'store')).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    owner.order('release');
    await owner.hears('released');
    expect(readdirSync(directory)).toEqual([]);
    const lock = await acquire(directory, 'store');
    lock.release();
    expect(owner.isAlive).toBe(true);
  });

  test.each(['SIGKILL', 'exit'] as const)('it is free at once after %s', async (end) => {
    const directory = testDirectory();
    const owner = new OwnerProcess('lock', directory, { leaseMs: HOUR_MS });
    await owner.hears('acquired');
    if (end === 'exit') owner.order('exit');
    else await owner.kill();
    await owner.exited;
    expect(existsSync(join(directory, 'owner.json'))).toBe(true);
    const lock = await acquire(directory, 'store', { leaseMs: HOUR_MS });
    expect(ownerIn(directory).pid).toBe(process.pid);
    lock.release();
  });

  test('a symlink leads to the same lock', async () => {
    const directory = testDirectory();
    const link = join(directory, '..', 'link');
    symlinkSync(directory, link);
    const owner = new OwnerProcess('lock', link, { leaseMs: HOUR_MS });
    await owner.hears('acquired');
    await expect(acquire(directory, 'store')).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    const beside = await acquire(join(directory, '..', 'beside'), 'store');
    beside.release();
  });

  test('workers of a cluster are processes like any other', async () => {
    const primary = new OwnerProcess('cluster', testDirectory(), { leaseMs: HOUR_MS });
    const [acquired, refused] = await Promise.all([
      primary.hears('acquired'),
      primary.hears('refused'),
    ]);
    // Anybody who comes at the same moment may find the lock taken before its owner has said who it is.
    const owner = new RegExp(`in use by (process ${acquired.pid} on|another process)`);
    expect(refused).toMatchObject({
      code: 'STORE_LOCKED',
      message: expect.stringMatching(owner),
    });
    expect(new Set([primary.pid, acquired.pid, refused.pid]).size).toBe(3);
  });

  test('holding it keeps no process alive', async () => {
    const owner = new OwnerProcess('idle', testDirectory());
    await owner.hears('acquired');
    expect(await owner.exited).toBe(0);
  });
});

describe('within a process', () => {
  test('two roles share the lock, and the last one frees it', async () => {
    const directory = testDirectory();
    const [lease, store] = await Promise.all([
      acquire(directory, 'lease', { node: 'n' }),
      acquire(directory, 'store'),
    ]);
    const { id } = ownerIn(directory);
    lease.release();
    expect(store.confirm()).toBe(true);
    expect(lease.confirm()).toBe(false);
    const again = await acquire(directory, 'lease');
    expect(ownerIn(directory).id).toBe(id);
    store.release();
    again.release();
    expect(readdirSync(directory)).toEqual([]);
  });

  test('the same role is taken once', async () => {
    const directory = testDirectory();
    const outcomes = await Promise.allSettled([
      acquire(directory, 'store'),
      acquire(directory, 'store'),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await expect(acquire(directory, 'store')).rejects.toMatchObject({
      code: 'STORE_LOCKED',
      message: expect.stringContaining('this process itself'),
    });
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') outcome.value.release();
    (await acquire(directory, 'store')).release();
  });

  test('releasing twice does not free the lock of the next one', async () => {
    const directory = testDirectory();
    const lease = await acquire(directory, 'lease');
    const first = await acquire(directory, 'store');
    first.release();
    const second = await acquire(directory, 'store');
    first.release();
    lease.release();
    expect(second.confirm()).toBe(true);
    second.release();
  });

  test('the directory is made when it is not there', async () => {
    const directory = join(testDirectory(), 'a', 'b');
    const lock = await acquire(directory, 'store');
    expect(ownerIn(directory)).toMatchObject({ pid: process.pid, beat: '000000000000' });
    lock.release();
  });
});

describe('what cannot be locked', () => {
  test('a file in its place, or on the way to it', async () => {
    const file = join(testDirectory(), 'file');
    writeFileSync(file, '');
    for (const path of [file, join(file, 'below'), '', 'zero\0byte']) {
      await expect(acquire(path, 'store')).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    }
    await expect(acquire(file, 'store')).rejects.toThrow(/Move away what is in its place/);
  });

  test.each([99, 0.5, Number.NaN, 3_600_001])('a lease time of %s', async (leaseMs) => {
    const directory = testDirectory();
    await expect(acquire(directory, 'store', { leaseMs })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
    });
    (await acquire(directory, 'store')).release();
  });

  test.skipIf(process.platform === 'win32')('a directory of somebody else', async () => {
    const directory = testDirectory();
    chmodSync(join(directory, '..'), 0o755);
    chmodSync(directory, 0o555);
    for (const path of [directory, join(directory, 'below')]) {
      const program = new OwnerProcess('lock', path, { asNobody: true });
      const { code, message } = await program.hears('refused');
      expect(code).toBe('STORE_UNWRITABLE');
      expect(message).toMatch(/See that it exists, that this user may write to it/);
    }
  });

  test.skipIf(!canMount())('a disk without room', async () => {
    const directory = testDirectory();
    const mount = join(directory, 'small');
    mkdirSync(mount);
    expect(spawnSync(MOUNT, ['-t', 'tmpfs', '-o', 'size=4k', 'none', mount]).status).toBe(0);
    try {
      writeFileSync(join(mount, 'ballast'), 'x'.repeat(4_096));
      await expect(acquire(mount, 'store')).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' });
      expect(readdirSync(mount)).toEqual(['ballast']);
    } finally {
      spawnSync(UNMOUNT, [mount]);
    }
  });
});

function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  return spawnSync(UNSHARE, ['--mount', MOUNT, '-t', 'tmpfs', 'none', '/mnt']).status === 0;
}
