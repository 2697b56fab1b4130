import { describe, expect, test } from 'vitest';
import { electedLease } from '../../programs/elected-lease.ts';
import { SILENT_LOGGER } from '../../runtime/base/limits.ts';
import type { LeaseStore } from '../../runtime/ports/lease-store.ts';
import { SimulatedClock } from '../../simulator/world/clock.ts';
import { NodeClock } from '../../simulator/world/node-clock.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import { memoryLeaseStore } from '../../stores/lease-store.ts';
import { describeLease } from '../contracts/describe-lease.ts';

const rules = { leaseMs: 6_000, leaseRenewMs: 2_000, leaseMarginMs: 500, leaseJitterMs: 1_000 };

for (const isWatched of [true, false]) {
  describeLease(
    `a lease elected over a lease store that is ${isWatched ? '' : 'not '}watched`,
    async () => {
      const clock = new SimulatedClock();
      const leaseStore = memoryLeaseStore(clock);
      const { watch: _, ...calls } = bound(leaseStore);
      let isClosed = false;
      // Somebody has to move the clock while a test waits for what a holder is told.
      const step = (): void => {
        clock.step();
        if (!isClosed) setImmediate(step);
      };
      step();
      const contender = (node: string) => {
        const random = new SeededRandom(1, node);
        return electedLease({
          node,
          leaseStore: isWatched ? leaseStore : calls,
          rules,
          clock,
          random,
        });
      };
      return {
        one: contender('A.manager-1'),
        other: contender('A.manager-2'),
        expire: async (name) => leaseStore.revoke(name),
        close: async () => {
          isClosed = true;
        },
      };
    },
  );
}

function bound(leaseStore: LeaseStore): Required<LeaseStore> {
  return {
    acquire: (...asked) => leaseStore.acquire(...asked),
    renew: (...asked) => leaseStore.renew(...asked),
    release: (...asked) => leaseStore.release(...asked),
    raise: (...asked) => leaseStore.raise(...asked),
    watch: (...asked) => leaseStore.watch?.(...asked) ?? (() => {}),
  };
}

/** Two managers, or more, each with a clock and a way to the lease store of its own. */
async function elect(nodes: readonly string[] = ['m1', 'm2'], isWatched = true) {
  const clock = new SimulatedClock();
  const leaseStore = memoryLeaseStore(clock);
  const startedAt = clock.now();
  const log: string[] = [];
  const said: string[] = [];
  const stand = (node: string) => {
    const own = new NodeClock(clock);
    const way = { isOpen: true, isStuck: false };
    const reach = async <T>(call: () => Promise<T>): Promise<T> => {
      if (way.isStuck) return new Promise(() => {});
      if (!way.isOpen) throw new Error('The lease store cannot be reached.');
      return call();
    };
    const seen: LeaseStore = {
      acquire: (...asked) => reach(() => leaseStore.acquire(...asked)),
      renew: (...asked) => reach(() => leaseStore.renew(...asked)),
      release: (...asked) => reach(() => leaseStore.release(...asked)),
      raise: (...asked) => reach(() => leaseStore.raise(...asked)),
      ...(isWatched ? { watch: bound(leaseStore).watch } : {}),
    };
    const random = new SeededRandom(1, node);
    const logger = {
      ...SILENT_LOGGER,
      info: (_: object, what: string) => said.push(`${node} ${what}`),
      warn: (_: object, what: string) => said.push(`${node} ${what}`),
    };
    const lease = electedLease({ node, leaseStore: seen, rules, clock: own, random, logger });
    const note = (what: string) => log.push(`${clock.now() - startedAt} ${node} ${what}`);
    const claim = lease.hold('A', {
      acquired: (fence) => note(`leads ${fence}`),
      standsBy: () => note('follows'),
      lost: () => note('lost'),
    });
    return {
      claim,
      way,
      clock: own,
      die: () => {
        way.isOpen = false;
        own.end();
      },
    };
  };
  const drain = () => new Promise<void>((resolve) => setImmediate(resolve));
  const advance = async (durationMs: number) => {
    const endsAt = clock.now() + durationMs;
    await drain();
    while (clock.step(endsAt)) await drain();
    clock.advanceTo(endsAt);
    await drain();
  };
  const managers = [];
  for (const node of nodes) {
    managers.push(stand(node));
    await advance(0);
  }
  const [first, second] = managers as [ReturnType<typeof stand>, ReturnType<typeof stand>];
  return { first, second, leaseStore, advance, asks: () => log.splice(0), log, said, clock };
}

/** When somebody else led, in the last line. */
const atOf = (line: string | undefined) => Number.parseInt(line ?? '', 10);

describe('an elected leader', () => {
  test('is the first that asks, and stays it', async () => {
    const { first, second, advance, log } = await elect();
    await advance(3_600_000);
    expect(log).toEqual(['0 m1 leads 1', '0 m2 follows']);
    expect([first.claim.isHeld(), second.claim.isHeld()]).toEqual([true, false]);
  });

  test('that dies is followed within 8 s, and not before its lease is over', async () => {
    for (let at = 60_000; at < 64_000; at += 331) {
      const { first, advance, log } = await elect();
      await advance(at);
      const renewedAt = Math.floor(at / rules.leaseRenewMs) * rules.leaseRenewMs;
      first.die();
      await advance(20_000);
      expect(log.at(-1)).toMatch(/^\d+ m2 leads 2$/);
      expect(atOf(log.at(-1))).toBeGreaterThanOrEqual(renewedAt + rules.leaseMs);
      expect(atOf(log.at(-1))).toBeLessThanOrEqual(at + 8_000);
    }
  });

  test('that resigns is followed at once', async () => {
    const { first, advance, log, asks } = await elect();
    await advance(61_234);
    asks();
    first.claim.release();
    await advance(0);
    expect(log).toEqual(['61234 m2 leads 2']);
  });

  test('that resigns is followed within a renewal where the lease store tells nobody', async () => {
    const { first, advance, asks } = await elect(['m1', 'm2'], false);
    await advance(61_234);
    asks();
    first.claim.release();
    await advance(2_000);
    expect(asks()).toEqual([expect.stringMatching(/ m2 leads 2$/)]);
  });

  test('that does not reach the lease store stops before another leads', async () => {
    for (const isStuck of [false, true]) {
      const { first, second, advance, log, asks } = await elect();
      await advance(60_500);
      asks();
      first.way.isOpen = false;
      first.way.isStuck = isStuck;
      await advance(5_000);
      expect(first.claim.isHeld()).toBe(true);
      await advance(15_000);
      expect(log[0]).toBe('65501 m1 lost');
      expect(log[1]).toMatch(/m2 leads 2$/);
      expect(atOf(log[1])).toBeGreaterThanOrEqual(66_000);
      expect([first.claim.isHeld(), second.claim.isHeld()]).toEqual([false, true]);
    }
  });

  test('leads on when the lease store was away for a moment', async () => {
    const { first, advance, asks } = await elect();
    await advance(60_500);
    asks();
    first.way.isOpen = false;
    await advance(4_000);
    first.way.isOpen = true;
    await advance(60_000);
    expect(asks()).toEqual([]);
  });

  test('that was paused holds nothing when it wakes, before it is told anything', async () => {
    const { first, advance, asks, clock } = await elect();
    await advance(60_500);
    asks();
    let wasHeld: boolean | undefined;
    clock.schedule(clock.now() + 40_000, () => {
      wasHeld = first.claim.isHeld();
    });
    first.clock.pause(40_000);
    await advance(60_000);
    expect(asks()).toEqual([expect.stringMatching(/ m2 leads 2$/), '100500 m1 lost']);
    expect(wasHeld).toBe(false);
  });

  test('that found its lease over is told so and stands again, though the lease store would renew it', async () => {
    const { first, advance, asks, clock } = await elect(['m1']);
    await advance(60_500);
    asks();
    // Within the margin: over for its holder, not yet for the lease store.
    clock.advanceTo(clock.now() + 5_100);
    expect(first.claim.isHeld()).toBe(false);
    await advance(0);
    expect(asks()).toEqual(['65600 m1 lost', '65600 m1 leads 2']);
    expect(first.claim.isHeld()).toBe(true);
  });

  test('is alone at every moment, no matter who is cut off, paused or revoked', async () => {
    const random = new SeededRandom(3);
    const { first, second, advance, leaseStore, log } = await elect();
    for (let round = 0; round < 150; round++) {
      const one = random.next() < 0.5 ? first : second;
      const what = random.next();
      if (what < 0.3) one.way.isOpen = !one.way.isOpen;
      else if (what < 0.5) one.clock.pause(Math.floor(random.next() * 12_000));
      else if (what < 0.6) one.claim.raise(100 + round).catch(() => {});
      // Without a word of warning, which is why the store checks fences.
      const isRevoked = what > 0.97;
      if (isRevoked) leaseStore.revoke('A');
      for (let step = 0; step < 20; step++) {
        await advance(Math.floor(random.next() * 300));
        const leading = [first, second].filter(({ claim }) => claim.isHeld());
        if (!isRevoked) expect(leading.length).toBeLessThanOrEqual(1);
      }
    }
    const fences = log.flatMap((line) => / leads (\d+)$/.exec(line)?.[1] ?? []).map(Number);
    expect(fences.length).toBeGreaterThan(10);
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
  });
});

describe('the fence of an elected leader', () => {
  test('is raised on the lease store before it is told', async () => {
    const { first, second, advance } = await elect();
    const raised = first.claim.raise(50);
    await advance(0);
    expect(await raised).toBe(50);
    first.claim.release();
    await advance(0);
    expect(second.claim.isHeld()).toBe(true);
    expect(await second.claim.raise(1)).toBe(51);
  });

  test('stays as it was when the lease is lost meanwhile', async () => {
    const { first, advance, leaseStore } = await elect();
    first.way.isOpen = false;
    const raised = first.claim.raise(50);
    await advance(10_000);
    expect(await raised).toBe(1);
    expect(leaseStore.holderOf('A')).toBe('m2');
  });

  test('is never raised for who does not lead', async () => {
    const { second, advance, leaseStore } = await elect();
    expect(await second.claim.raise(50)).toBe(0);
    await advance(10_000);
    expect(leaseStore.holderOf('A')).toBe('m1');
  });
});

test('a lease store out of reach is told once, and once when it is reached again', async () => {
  const { first, advance, said } = await elect();
  first.way.isOpen = false;
  await advance(60_000);
  expect(said).toEqual(['m1 the lease store cannot be reached']);
  first.way.isOpen = true;
  await advance(60_000);
  expect(said.filter((line) => line.startsWith('m1'))).toEqual([
    'm1 the lease store cannot be reached',
    'm1 the lease store is reached again',
  ]);
});
