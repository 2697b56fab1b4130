import { describe, expect, test } from 'vitest';
import { localLease } from '../../runtime/system/local-lease.ts';
import { openDirectoryLease } from '../stores/lease-directory.ts';
import { describeLease } from './describe-lease.ts';

describeLease('the local lease', async () => {
  const lease = localLease();
  return {
    one: lease,
    other: lease,
    expire: async (name) => lease.expire(name),
    close: async () => {},
  };
});

describeLease('the lease of a directory', openDirectoryLease);

describe('the local lease', () => {
  const microtasks = async () => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };

  test('goes to those who wait in the order they asked, the loser last', async () => {
    const lease = localLease();
    const log: string[] = [];
    const claims = ['a', 'b', 'c'].map((name) =>
      lease.hold('shard', {
        acquired: (fence) => log.push(`${name} ${fence}`),
        standsBy: () => log.push(`${name} stands by`),
        lost: () => log.push(`${name} lost`),
      }),
    );
    await microtasks();
    lease.expire('shard');
    await microtasks();
    claims[1]?.release();
    await microtasks();
    claims[2]?.release();
    await microtasks();
    const ends = ['a lost', 'b 2', 'c 3', 'a 4'];
    expect(log).toEqual(['a 1', 'b stands by', 'c stands by', ...ends]);
  });

  test('goes on from the fence that was known before', async () => {
    const lease = localLease({ lastFence: (name) => (name === 'shard' ? 41 : 0) });
    const fences: number[] = [];
    lease.hold('shard', {
      acquired: (fence) => fences.push(fence),
      standsBy: () => {},
      lost: () => {},
    });
    await microtasks();
    expect(fences).toEqual([42]);
  });

  test('expires nothing that nobody holds', () => {
    expect(() => localLease().expire('shard')).not.toThrow();
  });
});
