import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Lease, LeaseClaim } from '../../runtime/ports/lease.ts';
import { localLease } from '../../runtime/system/local-lease.ts';
import { directoryLease } from '../../stores/directory/lease.ts';
import { DirectoryLock } from '../../stores/directory/lock.ts';
import { eventually } from '../kit/eventually.ts';
import { testDirectory } from './owner-processes.ts';

/** Asks for `name` and notes what it is told. */
/** Longer than a busy machine keeps a process waiting. */
const SHORT_MS = 1_000;

function hold(lease: Lease, name = 'place') {
  const log: string[] = [];
  const claim: LeaseClaim = lease.hold(name, {
    acquired: (fence) => log.push(`acquired ${fence}`),
    standsBy: () => log.push('stands by'),
    lost: () => log.push(claim.isHeld() ? 'lost while held' : 'lost'),
  });
  onTestFinished(() => claim.release());
  return { claim, log };
}

const isHeld = (held: { claim: LeaseClaim }) =>
  eventually(() => expect(held.claim.isHeld()).toBe(true));

function stall(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}

const fenceIn = (directory: string) =>
  JSON.parse(readFileSync(join(directory, 'lease.json'), 'utf8')).fence;

describe('a holder', () => {
  test('holds nothing any more when it comes back from a pause, and asks again', async () => {
    const directory = testDirectory();
    const held = hold(directoryLease(directory, { leaseMs: SHORT_MS }));
    await isHeld(held);
    stall(1.5 * SHORT_MS);
    expect([held.claim.isHeld(), held.log]).toEqual([false, ['acquired 1']]);
    await isHeld(held);
    expect(held.log).toEqual(['acquired 1', 'lost', 'acquired 2']);
  });

  test('is told of the pause also when nobody asks whether it holds', async () => {
    const directory = testDirectory();
    const held = hold(directoryLease(directory, { leaseMs: SHORT_MS }));
    await isHeld(held);
    stall(1.5 * SHORT_MS);
    await eventually(() => expect(held.log).toContain('acquired 2'));
    expect(held.log[1]).toBe('lost');
  });

  test('keeps the lease through a pause that is shorter', async () => {
    const held = hold(directoryLease(testDirectory(), { leaseMs: 5_000 }));
    await isHeld(held);
    stall(100);
    expect(held.claim.isHeld()).toBe(true);
    expect(held.log).toEqual(['acquired 1']);
  });

  test('that throws does not keep others from being told', async () => {
    const errors: object[] = [];
    const quiet = () => {};
    const error = (fields: object) => errors.push(fields);
    const logger: Logger = { debug: quiet, info: quiet, warn: quiet, error };
    const lease = directoryLease(testDirectory(), { leaseMs: SHORT_MS, logger });
    const bad = lease.hold('a', {
      acquired: () => {
        throw new Error('broken');
      },
      standsBy: quiet,
      lost: () => {
        throw new Error('broken');
      },
    });
    onTestFinished(() => bad.release());
    const good = hold(lease, 'b');
    await isHeld(good);
    stall(1.5 * SHORT_MS);
    await eventually(() => expect(good.log).toContain('lost'));
    expect(errors.slice(0, 2)).toMatchObject([{ error: 'broken' }, { error: 'broken' }]);
  });

  test('shares the directory with the store of its process', async () => {
    const directory = testDirectory();
    const held = hold(directoryLease(directory, { leaseMs: SHORT_MS }));
    await isHeld(held);
    const store = await DirectoryLock.acquire(directory, 'store');
    stall(1.5 * SHORT_MS);
    await eventually(() => expect(held.log).toContain('acquired 2'));
    expect(store.confirm()).toBe(true);
    store.release();
    await isHeld(held);
  });
});

describe('two leases on one directory in one process', () => {
  test('stand in for each other and never kill themselves', async () => {
    const directory = testDirectory();
    const first = hold(directoryLease(directory, { leaseMs: SHORT_MS }));
    await isHeld(first);
    const second = hold(directoryLease(directory, { leaseMs: SHORT_MS }));
    await eventually(() => expect(second.log).toEqual(['stands by']));
    stall(1.5 * SHORT_MS);
    await eventually(() => expect(first.log).toContain('lost'));
    await eventually(() => expect([...first.log, ...second.log]).toContain('acquired 2'));
    first.claim.release();
    await isHeld(second);
    const store = await DirectoryLock.acquire(directory, 'store');
    const third = hold(directoryLease(directory, { leaseMs: SHORT_MS }));
    await eventually(() => expect(third.log).toEqual(['stands by']));
    // The store keeps the socket: there is no end of a connection to wait for.
    second.claim.release();
    await isHeld(third);
    store.release();
  });
});

describe('the fence', () => {
  test('goes on over names, leases and raises, and is on disk first', async () => {
    const directory = testDirectory();
    const lease = directoryLease(directory);
    const [a, b] = [hold(lease, 'a'), hold(lease, 'b')];
    await isHeld(b);
    expect([a.log, b.log, fenceIn(directory)]).toEqual([['acquired 1'], ['acquired 2'], 2]);
    expect(await Promise.all([a.claim.raise(50), b.claim.raise(40)])).toEqual([50, 51]);
    expect(fenceIn(directory)).toBe(51);
    expect(await a.claim.raise(7)).toBe(50);
    for (const { claim } of [a, b]) claim.release();
    expect(await a.claim.raise(99)).toBe(50);
    const next = hold(directoryLease(directory));
    await isHeld(next);
    expect([next.log, fenceIn(directory)]).toEqual([['acquired 52'], 52]);
  });

  test.each([
    '',
    '{"format":2,"fence":9}',
    '{"format":1,"fence":-1}',
    '{"format":1,"fence":1e300}',
  ])('is not guessed when the file says %j', async (text) => {
    const directory = testDirectory();
    const path = join(directory, 'lease.json');
    writeFileSync(path, text);
    const errors: string[] = [];
    const quiet = () => {};
    const error = (fields: object) => errors.push((fields as { error: string }).error);
    const logger: Logger = { debug: quiet, info: quiet, warn: quiet, error };
    const held = hold(directoryLease(directory, { leaseMs: 2_000, logger }));
    await eventually(() => expect(held.log).toEqual(['stands by']));
    expect(errors).toEqual([expect.stringMatching(/lease\.json is damaged or of a newer/)]);
    expect(readFileSync(path, 'utf8')).toBe(text);
    rmSync(path);
    await isHeld(held);
    expect([held.log.at(-1), errors.length]).toEqual(['acquired 1', 1]);
  });
});

describe('options', () => {
  test('that make no sense are refused at once', () => {
    const file = join(testDirectory(), 'file');
    writeFileSync(file, '');
    const wrong: (() => Lease)[] = [
      () => directoryLease(file),
      () => directoryLease(''),
      () => directoryLease(testDirectory(), { leaseMs: 1 }),
      () => directoryLease(testDirectory(), { kill: 'always' as 'never' }),
    ];
    for (const open of wrong) {
      expect(open).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
    }
  });
});

test('asking whether it holds costs little', async () => {
  const [held, local] = [hold(directoryLease(testDirectory())), hold(localLease())];
  await Promise.all([isHeld(held), isHeld(local)]);
  const before = process.cpuUsage();
  for (let asked = 0; asked < 100_000; asked += 1) held.claim.isHeld();
  // Between 0.1 and 0.3 µs each; one that looks at a file takes 10 µs and more.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
});
