/** A manager whose lease store answers when the test does, on virtual time. */

import { type LeadershipEvent, leadershipMachine } from '../../../machines/leadership.ts';
import type { LeaseRules } from '../../../machines/lease-rules.ts';
import type { Sent } from '../../../runtime/machine.ts';
import { testRuntime } from '../../../simulator/testing.ts';

export const rules: LeaseRules = {
  leaseMs: 6_000,
  leaseRenewMs: 2_000,
  leaseMarginMs: 500,
  leaseJitterMs: 1_000,
};

/** A manager whose lease store answers when the test does. `asked` has what it asked for, and when. */
export async function begin(given: Partial<LeaseRules> = {}) {
  const asked: Array<readonly [atMs: number, what: string, ...params: unknown[]]> = [];
  const note =
    (what: string) =>
    ({ params }: { params: unknown }) => {
      const values = Object.values((params ?? {}) as object);
      const sinceStart = values.map((value) => (value > startedAt ? value - startedAt : value));
      asked.push([rt.now() - startedAt, what, ...sinceStart]);
    };
  const effects = [
    'acquireLease',
    'renewLease',
    'raiseLease',
    'releaseLease',
    'announceFollowing',
    'announceLeading',
    'announceRenewed',
    'announceRaised',
    'announceLost',
  ];
  const perform = Object.fromEntries(effects.map((name) => [name, note(name)]));
  const rt = await testRuntime({
    kinds: { leadership: leadershipMachine },
    options: { leadership: { perform } },
  });
  const startedAt = rt.now();
  const leadership = await rt.spawn('leadership/A', { input: { rules: { ...rules, ...given } } });
  await rt.settle();
  const hear = async (event: Sent<LeadershipEvent>) => {
    await leadership.send(event);
    await rt.settle();
  };
  return {
    hear,
    advance: (durationMs: number) => rt.advance(durationMs),
    /** What it asked for since the last look. */
    asks: () => asked.splice(0),
    state: () => leadership.getSnapshot().value,
  };
}

export async function lead(given: Partial<LeaseRules> = {}) {
  const manager = await begin(given);
  await manager.hear({ type: 'lease.granted', request: 1, fence: 7 });
  manager.asks();
  return manager;
}

export const leading = (renewing: string) => ({ leading: { holding: 'armed', renewing } });
