import { expect, test } from 'vitest';
import { SimulatedClock } from '../../simulator/world/clock.ts';
import { memoryLeaseStore } from '../../stores/lease-store.ts';
import { describeLeaseStore } from './describe-lease-store.ts';

describeLeaseStore('the lease store in memory', async () => {
  const clock = new SimulatedClock();
  const leaseStore = memoryLeaseStore(clock);
  return {
    one: leaseStore,
    other: leaseStore,
    pass: async (durationMs) => clock.advanceBy(durationMs),
    close: async () => {},
  };
});

test('the lease store in memory takes a lease away, and says who has one', async () => {
  const leaseStore = memoryLeaseStore(new SimulatedClock());
  leaseStore.revoke('A');
  const fence = (await leaseStore.acquire('A', 'm1', 1_000)) ?? 0;
  expect(leaseStore.holderOf('A')).toBe('m1');
  leaseStore.revoke('A');
  expect(leaseStore.holderOf('A')).toBeUndefined();
  expect(await leaseStore.renew('A', 'm1', fence, 1_000)).toBe(false);
});
