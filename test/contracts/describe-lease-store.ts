/**
 * Contract of every LeaseStore. An adapter gives two ways to one lease store, which may be one object or two
 * connections, and lets the lease store's own time pass.
 */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FENCE_MAX } from '../../runtime/base/fence.ts';
import type { LeaseStore } from '../../runtime/ports/lease-store.ts';

export interface LeaseStoreDriver {
  readonly one: LeaseStore;
  readonly other: LeaseStore;
  /** Lets at least this much of the lease store's time pass. */
  pass(durationMs: number): Promise<void>;
  close(): Promise<void>;
}

const LEASE_MS = 1_000;

export function describeLeaseStore(name: string, open: () => Promise<LeaseStoreDriver>): void {
  describe(`${name} keeps the contract of lease stores`, () => {
    let driver: LeaseStoreDriver;
    beforeEach(async () => {
      driver = await open();
    });
    afterEach(() => driver.close());

    const acquire = (who: 'one' | 'other', leaseName = 'A') =>
      driver[who].acquire(leaseName, who, LEASE_MS);
    const granted = async (who: 'one' | 'other', leaseName = 'A') => {
      const fence = await acquire(who, leaseName);
      if (fence === undefined) throw new Error(`The lease "${leaseName}" is not free.`);
      return fence;
    };

    test('gives a lease to one at a time, each name by itself', async () => {
      expect(await granted('one')).toBeGreaterThan(0);
      expect([await acquire('other'), await acquire('one')]).toEqual([undefined, undefined]);
      expect(await granted('other', 'B')).toBeGreaterThan(0);
    });

    test('gives a greater fence to each holder, however the one before it ended', async () => {
      const fences = [await granted('one')];
      await driver.one.release('A', 'one', fences[0] ?? 0);
      fences.push(await granted('other'));
      await driver.pass(LEASE_MS);
      fences.push(await granted('one'));
      expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
    });

    test('keeps a lease that is renewed, and frees one that is not', async () => {
      const fence = await granted('one');
      for (let round = 0; round < 5; round++) {
        await driver.pass(LEASE_MS / 2);
        expect(await driver.one.renew('A', 'one', fence, LEASE_MS)).toBe(true);
        expect(await acquire('other')).toBeUndefined();
      }
      await driver.pass(LEASE_MS);
      expect(await driver.one.renew('A', 'one', fence, LEASE_MS)).toBe(false);
      expect(await granted('other')).toBeGreaterThan(fence);
    });

    test('renews, raises and frees nothing for who is not the holder under that fence', async () => {
      const fence = await granted('one');
      for (const [holder, given] of [
        ['other', fence],
        ['one', fence - 1],
        ['one', fence + 1],
      ] as const) {
        expect(await driver.other.renew('A', holder, given, LEASE_MS)).toBe(false);
        expect(await driver.other.raise('A', holder, given, 100)).toBeUndefined();
        await driver.other.release('A', holder, given);
      }
      expect(await driver.one.renew('A', 'one', fence, LEASE_MS)).toBe(true);
    });

    test('raises no fence to what could not be read back', async () => {
      const fence = (await driver.one.acquire('A', 'one', 10_000)) as number;
      const raised = driver.one.raise('A', 'one', fence, FENCE_MAX + 1);
      await expect(raised).rejects.toThrow('is no fence');
      expect(await driver.one.renew('A', 'one', fence, 10_000)).toBe(true);
    });

    test('raises the fence of a holder, who has it under that one from then on', async () => {
      const fence = await granted('one');
      expect(await driver.one.raise('A', 'one', fence, fence + 10)).toBe(fence + 10);
      expect(await driver.one.raise('A', 'one', fence + 10, 1)).toBe(fence + 10);
      expect(await driver.one.renew('A', 'one', fence, LEASE_MS)).toBe(false);
      expect(await driver.one.renew('A', 'one', fence + 10, LEASE_MS)).toBe(true);
      await driver.one.release('A', 'one', fence + 10);
      expect(await granted('other')).toBeGreaterThan(fence + 10);
    });

    test('raises a fence without making the lease longer', async () => {
      const fence = await granted('one');
      await driver.pass(LEASE_MS / 2);
      await driver.one.raise('A', 'one', fence, 10);
      await driver.pass(LEASE_MS / 2);
      expect(await granted('other')).toBeGreaterThan(10);
    });

    test('tells those who watch when a lease is freed, as long as they do', async (context) => {
      const { one, other } = driver;
      if (one.watch === undefined || other.watch === undefined) return context.skip();
      const told: string[] = [];
      const unwatch = one.watch('A', () => told.push('one'));
      other.watch('A', () => told.push('other'));
      other.watch('B', () => told.push('elsewhere'));
      await one.release('A', 'one', await granted('one'));
      expect(told).toEqual([]);
      await driver.pass(1);
      expect(told.sort()).toEqual(['one', 'other']);
      unwatch();
      await one.release('A', 'one', await granted('one'));
      await driver.pass(1);
      expect(told).toEqual(['one', 'other', 'other']);
    });
  });
}
