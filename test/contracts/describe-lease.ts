/**
 * Contract of every Lease. An adapter gives two contenders, which may be one object, two connections or two
 * processes, and if it can a way to let a held lease run out.
 */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FENCE_MAX } from '../../runtime/base/fence.ts';
import type { Lease, LeaseClaim } from '../../runtime/ports/lease.ts';
import { newTelling } from '../kit/telling.ts';

export interface LeaseContenders {
  readonly one: Lease;
  readonly other: Lease;
  /** Makes the holder lose the lease, as if it had stopped renewing it. */
  expire?(name: string): Promise<void>;
  close(): Promise<void>;
}

export function describeLease(name: string, open: () => Promise<LeaseContenders>): void {
  describe(`${name} keeps the lease contract`, () => {
    let contenders: LeaseContenders;
    let claims: Claim[];
    beforeEach(async () => {
      contenders = await open();
      claims = [];
    });
    afterEach(async () => {
      for (const claim of claims) claim.release();
      await contenders.close();
    });

    const hold: Hold = (who, leaseName = 'shard') => {
      const claim = claimOf(contenders[who], leaseName);
      claims.push(claim);
      return claim;
    };

    describe('holding', () => testHolding(hold));
    describe('release', () => testRelease(hold));
    describe('expiry', () => testExpiry(hold, () => contenders));
  });
}

type Hold = (who: 'one' | 'other', name?: string) => Claim;

function testHolding(hold: Hold): void {
  test('is told after the call, with a fence', async () => {
    const claim = hold('one');
    expect(claim.log).toEqual([]);
    await claim.until(() => claim.isHeld());
    expect(claim.log).toHaveLength(1);
    expect(Number.isSafeInteger(claim.fence())).toBe(true);
    expect(claim.fence()).toBeGreaterThan(0);
  });

  test('is for one at a time', async () => {
    const first = hold('one');
    await first.until(() => first.isHeld());
    const second = hold('other');
    const elsewhere = hold('other', 'elsewhere');
    await elsewhere.until(() => elsewhere.isHeld());
    await second.until(() => second.log.length > 0);
    expect([first.isHeld(), second.isHeld(), second.log]).toEqual([true, false, ['stands by']]);
  });

  test('may be raised by its holder, and later holders get more', async () => {
    const first = hold('one');
    await first.until(() => first.isHeld());
    const raised = first.fence() + 100;
    expect(await first.raise(raised)).toBe(raised);
    expect(await first.raise(1)).toBe(raised);
    first.release();
    const second = hold('other');
    await second.until(() => second.isHeld());
    expect(second.fence()).toBeGreaterThan(raised);
  });

  test('is not raised to what could not be read back', async () => {
    const first = hold('one');
    await first.until(() => first.isHeld());
    const fence = first.fence();
    for (const beyond of [FENCE_MAX + 1, 2 ** 53 - 1, Number.POSITIVE_INFINITY])
      await expect((async () => first.raise(beyond))()).rejects.toThrow('is no fence');
    first.release();
    const second = hold('other');
    await second.until(() => second.isHeld());
    expect(second.fence()).toBeLessThan(fence + 100);
  });

  test('of different names does not collide', async () => {
    const claims = [hold('one', 'a'), hold('one', 'b'), hold('other', 'c')];
    for (const claim of claims) await claim.until(() => claim.isHeld());
    expect(claims.map((claim) => claim.isHeld())).toEqual([true, true, true]);
  });
}

function testRelease(hold: Hold): void {
  test('passes the lease on with a greater fence, and does not count as losing it', async () => {
    const first = hold('one');
    await first.until(() => first.isHeld());
    const second = hold('other');
    first.release();
    expect(first.isHeld()).toBe(false);
    await second.until(() => second.isHeld());
    expect(second.fence()).toBeGreaterThan(first.fence());
    expect(first.log).not.toContain('lost');
  });

  test('ends waiting', async () => {
    const first = hold('one');
    await first.until(() => first.isHeld());
    const leaving = hold('other');
    const staying = hold('other');
    leaving.release();
    first.release();
    await staying.until(() => staying.isHeld());
    staying.release();
    const last = hold('one');
    await last.until(() => last.isHeld());
    expect(leaving.log.filter((line) => line !== 'stands by')).toEqual([]);
    expect(leaving.isHeld()).toBe(false);
  });

  test('of a lease that is not held yet keeps it from being acquired', async () => {
    const first = hold('one');
    first.release();
    const second = hold('other');
    await second.until(() => second.isHeld());
    expect([first.log, first.isHeld()]).toEqual([[], false]);
  });

  test('may be repeated without harm to the next holder', async () => {
    const first = hold('one');
    await first.until(() => first.isHeld());
    first.release();
    const second = hold('other');
    await second.until(() => second.isHeld());
    first.release();
    expect(second.isHeld()).toBe(true);
  });

  test('and asking again give greater fences each time', async () => {
    const fences: number[] = [];
    for (const who of ['one', 'other', 'one', 'one'] as const) {
      const claim = hold(who);
      await claim.until(() => claim.isHeld());
      fences.push(claim.fence());
      claim.release();
    }
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
  });
}

function testExpiry(hold: Hold, contenders: () => LeaseContenders): void {
  test('is told to the holder and passes the lease on', async (context) => {
    const { expire } = contenders();
    if (expire === undefined) return context.skip();
    const first = hold('one');
    await first.until(() => first.isHeld());
    const second = hold('other');
    await expire('shard');
    await first.until(() => first.log.includes('lost'));
    await second.until(() => second.isHeld());
    expect(first.isHeld()).toBe(false);
    expect(second.fence()).toBeGreaterThan(first.fence());
  });

  test('does not end the asking: the lease comes back with a greater fence', async (context) => {
    const { expire } = contenders();
    if (expire === undefined) return context.skip();
    const claim = hold('one');
    await claim.until(() => claim.isHeld());
    const fence = claim.fence();
    await expire('shard');
    await claim.until(() => claim.log.length === 3);
    expect(claim.log[1]).toBe('lost');
    expect(claim.isHeld()).toBe(true);
    expect(claim.fence()).toBeGreaterThan(fence);
  });
}

interface Claim extends LeaseClaim {
  /** `acquired 1`, `lost`, … */
  readonly log: readonly string[];
  /** The fence of the last acquisition. */
  fence(): number;
  /** Resolves when the claim holds, which is asked each time the holder is told something. */
  until(isTrue: () => boolean): Promise<void>;
}

function claimOf(lease: Lease, name: string): Claim {
  const { log, tell, until } = newTelling();
  let fence = Number.NaN;
  const claim = lease.hold(name, {
    acquired: (acquiredFence) => {
      fence = acquiredFence;
      tell(`acquired ${acquiredFence}`);
    },
    standsBy: () => tell('stands by'),
    lost: () => tell('lost'),
  });
  return {
    log,
    fence: () => fence,
    isHeld: () => claim.isHeld(),
    raise: (to) => claim.raise(to),
    release: () => claim.release(),
    until,
  };
}
