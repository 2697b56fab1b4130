/** Owner files that somebody left, or that somebody writes whose socket cannot be seen from here. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Clock } from '../../runtime/ports/clock.ts';
import { systemClock } from '../../runtime/system/clock.ts';
import { DirectoryLock } from '../../stores/directory/lock.ts';
import { thisProcess } from '../../stores/directory/process-identity.ts';
import { eventually } from '../kit/eventually.ts';
import { OwnerProcess, ownerIn, testDirectory, UNSHARE, writeOwner } from './owner-processes.ts';

const acquire = DirectoryLock.acquire;
const HOUR_MS = 3_600_000;

/** An owner like this process; `leaseMs` so long that nobody waits for it to run out. */
function owner(fields: Record<string, unknown> = {}) {
  const known = { ...thisProcess(), id: 'before', leaseMs: HOUR_MS, since: 1 };
  return { format: 1, beat: '000000000007', ...known, ...fields };
}

const FOREIGN = {
  'another host': { host: 'elsewhere' },
  'another boot': { bootId: 'earlier' },
  'another container': { pidNamespace: 'pid:[1]' },
};

describe('a stale owner is followed at once', () => {
  test('when its process is gone', async () => {
    const directory = testDirectory();
    const { pid } = spawnSync(process.execPath, ['--version']);
    writeOwner(directory, owner({ pid }));
    const lock = await acquire(directory, 'store', { leaseMs: HOUR_MS });
    expect(ownerIn(directory).id).not.toBe('before');
    lock.release();
  });

  test.skipIf(process.platform !== 'linux')('when its pid is another process now', async () => {
    const directory = testDirectory();
    writeOwner(directory, owner({ pid: process.ppid, startTicks: '1' }));
    const lock = await acquire(directory, 'store', { leaseMs: HOUR_MS });
    lock.release();
  });

  test('when this process left it behind', async () => {
    const directory = testDirectory();
    writeOwner(directory, owner());
    const lock = await acquire(directory, 'store', { leaseMs: HOUR_MS });
    lock.release();
  });

  test('and drafts of the dead are swept away', async () => {
    const directory = testDirectory();
    writeFileSync(join(directory, 'owner.abc.tmp'), '{');
    writeFileSync(join(directory, 'data.mdb'), '');
    const lock = await acquire(directory, 'store');
    expect(readdirSync(directory)).toEqual(['data.mdb', 'owner.json']);
    lock.release();
  });
});

describe.each(Object.entries(FOREIGN))('an owner on %s', (_, fields) => {
  test('that beats is respected', async () => {
    const directory = testDirectory();
    let beats = 0;
    const beating = setInterval(() => {
      beats += 1;
      writeOwner(directory, owner({ ...fields, beat: String(beats) }));
    }, 20);
    onTestFinished(() => clearInterval(beating));
    await eventually(() => expect(beats).toBeGreaterThan(0));
    await expect(acquire(directory, 'store', { leaseMs: 1_000 })).rejects.toMatchObject({
      code: 'STORE_LOCKED',
    });
    expect(ownerIn(directory).id).toBe('before');
  });

  test('that is silent for the longer of two lease times is followed', async () => {
    const directory = testDirectory();
    writeOwner(directory, owner({ ...fields, leaseMs: 600 }));
    const startedAt = performance.now();
    const lock = await acquire(directory, 'store', { leaseMs: 150 });
    expect(performance.now() - startedAt).toBeGreaterThan(600);
    expect(ownerIn(directory)).toMatchObject({ pid: process.pid, leaseMs: 150 });
    lock.release();
  });

  test('that leaves while it is watched is followed at once', async () => {
    const directory = testDirectory();
    writeOwner(directory, owner(fields));
    let looks = 0;
    const real = systemClock();
    const clock: Clock = {
      now: () => real.now(),
      defer: (task) => real.defer(task),
      schedule: (at, task) => {
        looks += 1;
        if (looks === 2) rmSync(join(directory, 'owner.json'));
        return real.schedule(at, task);
      },
    };
    const lock = await acquire(directory, 'store', { leaseMs: 200, clock });
    expect(looks).toBeGreaterThanOrEqual(2);
    lock.release();
    real.stop();
  });
});

describe('an owner that nobody knows', () => {
  test.each(['', '{', 'null', '{"format":2}', '{"format":1,"pid":-1}'])(
    'whose file says %j is followed when it stays silent',
    async (text) => {
      const directory = testDirectory();
      writeFileSync(join(directory, 'owner.json'), text);
      const lock = await acquire(directory, 'store', { leaseMs: 100 });
      lock.release();
      expect(readdirSync(directory)).toEqual([]);
    },
  );
});

describe('a silent process of this machine', () => {
  test('is respected by a store, which kills nobody', async () => {
    const directory = testDirectory();
    const { pid, fields } = await bystander();
    writeOwner(directory, owner({ ...fields, leaseMs: 100 }));
    await expect(acquire(directory, 'store', { leaseMs: 100 })).rejects.toMatchObject({
      code: 'STORE_LOCKED',
      message: expect.stringContaining(`process ${pid} on host "${hostname()}"`),
    });
    expect(process.kill(pid, 0)).toBe(true);
  });
});

describe('an owner that lost the directory', () => {
  test.each(['lost to another', 'without its file'])('is told: %s', async (how) => {
    const directory = testDirectory();
    const reasons: string[] = [];
    const lost = (reason: string) => reasons.push(reason);
    const options = { leaseMs: 150, lost };
    const locks = [await acquire(directory, 'lease', options)];
    locks.push(await acquire(directory, 'store', options));
    if (how === 'without its file') rmSync(join(directory, 'owner.json'));
    else writeOwner(directory, owner({ id: 'usurper' }));
    await eventually(() => expect(reasons).toHaveLength(2));
    expect(reasons[0]).toMatch(/has another owner, or its owner.json was removed/);
    expect(locks.map((lock) => lock.confirm())).toEqual([false, false]);
    for (const lock of locks) lock.release();
    // What belongs to another is left alone.
    if (how === 'lost to another') expect(ownerIn(directory).id).toBe('usurper');
    expect(reasons).toHaveLength(2);
  });

  test('leaves the file of another alone, also when it has not noticed', async () => {
    const directory = testDirectory();
    const lock = await acquire(directory, 'store', { leaseMs: HOUR_MS });
    writeOwner(directory, owner({ id: 'usurper' }));
    lock.release();
    expect(ownerIn(directory).id).toBe('usurper');
  });

  test('goes on renewing as long as it has it', async () => {
    const directory = testDirectory();
    const lock = await acquire(directory, 'store', { leaseMs: 100 });
    const { id } = ownerIn(directory);
    await eventually(() => expect(Number(ownerIn(directory)['beat'])).toBeGreaterThan(3));
    expect(ownerIn(directory).id).toBe(id);
    await eventually(() => expect(lock.beatAgeMs()).toBeLessThan(1_000));
    lock.release();
  });
});

describe.skipIf(!canUnshare())('containers that share a volume', () => {
  const walls = {
    'a network of its own': [UNSHARE, '--net'],
    'a network and pids of its own': [UNSHARE, '--net', '--pid', '--fork', '--kill-child'],
  };

  test.each(Object.entries(walls))('see each other by the owner file: %s', async (_, words) => {
    const directory = testDirectory();
    const inside = new OwnerProcess('lock', directory, { leaseMs: 1_000 }, words);
    await inside.hears('acquired');
    const { id } = ownerIn(directory);
    await expect(acquire(directory, 'store', { leaseMs: 1_000 })).rejects.toMatchObject({
      code: 'STORE_LOCKED',
    });
    expect(ownerIn(directory).id).toBe(id);
    await inside.kill();
    const lock = await acquire(directory, 'store', { leaseMs: 1_000 });
    expect(ownerIn(directory).pid).toBe(process.pid);
    lock.release();
  });
});

/** A process that lives and has nothing to do with the directory. */
async function bystander() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await once(child, 'spawn');
  const pid = child.pid as number;
  const stat = await eventually(() => spawnSync('cat', [`/proc/${pid}/stat`]).stdout.toString());
  const startTicks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return { pid, fields: { pid, startTicks } };
}

function canUnshare(): boolean {
  return spawnSync(UNSHARE, ['--net', '--pid', '--fork', 'true']).status === 0;
}
