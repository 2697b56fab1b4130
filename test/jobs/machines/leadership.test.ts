import { describe, expect, test } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { type LeadershipEvent, leadershipMachine } from '../../../machines/leadership.ts';
import { begin, lead, leading, rules } from './leadership-scene.ts';

describe('a follower', () => {
  test('asks for the lease at once', async () => {
    const { asks, state } = await begin();
    expect(asks()).toEqual([[0, 'acquireLease', 1, 6_000]]);
    expect(state()).toBe('acquiring');
  });

  test('that is refused asks again as often as a leader renews, less its jitter', async () => {
    const { hear, asks, advance, state } = await begin();
    await hear({ type: 'lease.refused', request: 1, jitter: 0.25 });
    expect(asks().at(-1)).toEqual([0, 'announceFollowing']);
    await advance(1_749);
    expect([state(), asks()]).toEqual(['follower', []]);
    await advance(1);
    expect(asks()).toEqual([[1_750, 'acquireLease', 2, 6_000]]);
    await hear({ type: 'lease.refused', request: 2, jitter: 0 });
    await advance(2_000);
    expect(asks().at(-1)).toEqual([3_750, 'acquireLease', 3, 6_000]);
  });

  test('asks no more than twice as often, whatever its jitter', async () => {
    const { hear, asks, advance } = await begin({ leaseJitterMs: 60_000 });
    await hear({ type: 'leaseStore.failed', request: 1, jitter: 0.999 });
    asks();
    await advance(1_000);
    expect(asks()).toEqual([]);
    await advance(1);
    expect(asks()).toHaveLength(1);
  });

  test('that cannot reach the lease store follows, and goes on asking', async () => {
    const { hear, asks, advance, state } = await begin();
    for (let request = 1; request <= 5; request++) {
      await hear({ type: 'leaseStore.failed', request, jitter: 0.5 });
      expect(state()).toBe('follower');
      await advance(1_500);
    }
    const asked = asks().filter(([, what]) => what === 'acquireLease');
    expect(asked.map(([atMs]) => atMs)).toEqual([0, 1_500, 3_000, 4_500, 6_000, 7_500]);
  });

  test('has no lease that could be over', async () => {
    const { hear, asks, state } = await begin();
    await hear({ type: 'lease.refused', request: 1, jitter: 0 });
    asks();
    await hear({ type: 'lease.expired' });
    expect([state(), asks()]).toEqual(['follower', []]);
  });

  test('whose lease store does not answer follows after a time', async () => {
    const { asks, advance, state } = await begin();
    asks();
    await advance(5_499);
    expect(state()).toBe('acquiring');
    await advance(1);
    expect([state(), asks()]).toEqual(['follower', [[5_500, 'announceFollowing']]]);
    await advance(2_000);
    expect(asks()).toEqual([[7_500, 'acquireLease', 2, 6_000]]);
  });

  test('asks at once when the lease store has changed, also when it changed while it was asked', async () => {
    const { hear, asks, advance } = await begin();
    await hear({ type: 'lease.refused', request: 1, jitter: 0 });
    await advance(100);
    asks();
    await hear({ type: 'leaseStore.changed' });
    expect(asks()).toEqual([[100, 'acquireLease', 2, 6_000]]);
    await hear({ type: 'leaseStore.changed' });
    await hear({ type: 'lease.refused', request: 2, jitter: 0 });
    expect(asks().at(-1)).toEqual([100, 'acquireLease', 3, 6_000]);
    await hear({ type: 'lease.refused', request: 3, jitter: 0 });
    expect(asks()).toEqual([[100, 'announceFollowing']]);
  });

  test('that is granted the lease leads under that fence', async () => {
    const { hear, asks, advance, state } = await begin();
    asks();
    await advance(300);
    await hear({ type: 'lease.granted', request: 1, fence: 7 });
    // The lease counts from when it was asked for.
    expect(asks()).toEqual([[300, 'announceLeading', 7, 5_500]]);
    expect(state()).toEqual(leading('resting'));
  });

  test('gives a grant back that comes too late, or for an earlier request', async () => {
    const { hear, asks, advance, state } = await begin();
    await advance(8_000);
    asks();
    await hear({ type: 'lease.granted', request: 1, fence: 7 });
    expect(asks()).toEqual([[8_000, 'releaseLease', 7]]);
    expect(state()).toBe('acquiring');
    await hear({ type: 'lease.granted', request: 2, fence: 8 });
    expect(state()).toEqual(leading('resting'));
  });
});

describe('a leader', () => {
  test('renews its lease in its rhythm, counted from when it asked', async () => {
    const { hear, asks, advance } = await lead();
    await advance(2_000);
    expect(asks()).toEqual([[2_000, 'renewLease', 2, 7, 6_000]]);
    await advance(300);
    await hear({ type: 'lease.renewed', request: 2 });
    expect(asks()).toEqual([[2_300, 'announceRenewed', 7_500]]);
    await advance(1_699);
    expect(asks()).toEqual([]);
    await advance(1);
    expect(asks()).toEqual([[4_000, 'renewLease', 3, 7, 6_000]]);
  });

  test('is none any more 5.5 s after it sent the last renewal that was confirmed', async () => {
    const { hear, asks, advance, state } = await lead();
    await advance(2_000);
    await hear({ type: 'lease.renewed', request: 2 });
    await advance(5_500);
    expect(state()).toEqual(leading('asking'));
    asks();
    await advance(1);
    expect(state()).toBe('follower');
    expect(asks()).toEqual([
      [7_501, 'announceLost'],
      [7_501, 'releaseLease', 7],
    ]);
  });

  test('does not count an answer that comes when its lease is over', async () => {
    const { hear, advance, state } = await lead();
    await advance(5_501);
    expect(state()).toBe('follower');
    await hear({ type: 'lease.renewed', request: 2 });
    expect(state()).toBe('follower');
  });

  test('does not count one either that comes before its deadline is taken, as after a pause', () => {
    const play = (atMs: number) => {
      let [snapshot] = initialTransition(leadershipMachine, { rules, at: 0 });
      let asks: string[] = [];
      const heard: LeadershipEvent[] = [
        { type: 'leaseStore.changed', at: 0 },
        { type: 'lease.granted', request: 1, fence: 7, at: 0 },
        { type: 'leaseStore.changed', at: 100 },
        { type: 'lease.renewed', request: 2, at: atMs },
      ];
      for (const event of heard) {
        const [next, actions] = transition(leadershipMachine, snapshot, event);
        snapshot = next;
        asks = actions.map(({ type }) => type).filter((type) => !type.startsWith('xstate.'));
      }
      return [snapshot.value, asks];
    };
    expect(play(5_500)).toEqual([leading('resting'), ['announceRenewed']]);
    expect(play(5_501)).toEqual(['follower', ['announceLost', 'releaseLease']]);
  });

  test('is none any more when somebody has found its lease over', async () => {
    const { hear, asks, state } = await lead();
    await hear({ type: 'lease.expired' });
    expect([state(), asks()]).toEqual([
      'follower',
      [
        [0, 'announceLost'],
        [0, 'releaseLease', 7],
      ],
    ]);
  });

  test('stops at once when it is refused', async () => {
    const { hear, asks, advance, state } = await lead();
    await advance(2_000);
    asks();
    await hear({ type: 'lease.refused', request: 2, jitter: 0.5 });
    expect(asks()).toEqual([[2_000, 'announceLost']]);
    await advance(1_500);
    expect([asks(), state()]).toEqual([[[3_500, 'acquireLease', 3, 6_000]], 'acquiring']);
  });

  test('tries a renewal that failed again soon, and leads on when one is confirmed', async () => {
    const { hear, asks, advance, state } = await lead();
    await advance(2_000);
    await hear({ type: 'leaseStore.failed', request: 2, jitter: 0.2 });
    asks();
    await advance(600);
    expect(asks()).toEqual([[2_600, 'renewLease', 3, 7, 6_000]]);
    await hear({ type: 'leaseStore.failed', request: 3, jitter: 0 });
    await advance(500);
    await hear({ type: 'lease.renewed', request: 4 });
    expect(asks().at(-1)).toEqual([3_100, 'announceRenewed', 8_600]);
    await advance(2_000);
    expect(state()).toEqual(leading('asking'));
  });

  test('takes no answer to an earlier request for one to the last', async () => {
    const { hear, advance, state } = await lead();
    await advance(2_000);
    await hear({ type: 'leaseStore.failed', request: 2, jitter: 0 });
    await advance(500);
    for (const type of ['lease.refused', 'leaseStore.failed'] as const)
      await hear({ type, request: 2, jitter: 0 });
    await hear({ type: 'lease.renewed', request: 2 });
    expect(state()).toEqual(leading('asking'));
  });

  test('looks at once when the lease store has changed', async () => {
    const { hear, asks, advance } = await lead();
    await advance(100);
    await hear({ type: 'leaseStore.changed' });
    expect(asks()).toEqual([[100, 'renewLease', 2, 7, 6_000]]);
  });

  test('raises its fence when a greater one is wanted, and confirms its lease then', async () => {
    const { hear, asks, advance, state } = await lead();
    await hear({ type: 'fence.raise', atLeast: 7 });
    expect(asks()).toEqual([]);
    await advance(10);
    await hear({ type: 'fence.raise', atLeast: 40 });
    expect(asks()).toEqual([[10, 'raiseLease', 2, 7, 40]]);
    await hear({ type: 'lease.raised', request: 2, fence: 40 });
    expect(asks()).toEqual([
      [10, 'announceRaised', 40],
      [10, 'renewLease', 3, 40, 6_000],
    ]);
    await hear({ type: 'lease.renewed', request: 3 });
    expect(state()).toEqual(leading('resting'));
  });

  test('raises its fence after the renewal that is under way', async () => {
    const { hear, asks, advance } = await lead();
    await advance(2_000);
    asks();
    await hear({ type: 'fence.raise', atLeast: 40 });
    expect(asks()).toEqual([]);
    await hear({ type: 'lease.renewed', request: 2 });
    expect(asks().at(-1)).toEqual([2_000, 'raiseLease', 3, 7, 40]);
  });

  test('that raises its fence hears of no failure of an earlier request', async () => {
    const { hear, asks, state } = await lead();
    await hear({ type: 'fence.raise', atLeast: 40 });
    asks();
    await hear({ type: 'leaseStore.failed', request: 1, jitter: 0.5 });
    expect([state(), asks()]).toEqual([leading('raising'), []]);
    await hear({ type: 'lease.raised', request: 2, fence: 40 });
    expect(asks().at(-1)).toEqual([0, 'renewLease', 3, 40, 6_000]);
  });

  test('that raises its fence is none any more when somebody has found its lease over', async () => {
    const { hear, state } = await lead();
    await hear({ type: 'fence.raise', atLeast: 40 });
    await hear({ type: 'lease.expired' });
    expect(state()).toBe('follower');
  });

  test('that may not raise its fence leads no more', async () => {
    const { hear, state } = await lead();
    await hear({ type: 'fence.raise', atLeast: 40 });
    await hear({ type: 'lease.refused', request: 2, jitter: 0 });
    expect(state()).toBe('follower');
  });

  test('that resigns frees the lease and asks no more', async () => {
    const { hear, asks, advance, state } = await lead();
    await hear({ type: 'lease.resign' });
    expect(asks()).toEqual([
      [0, 'announceLost'],
      [0, 'releaseLease', 7],
    ]);
    await hear({ type: 'leaseStore.changed' });
    await advance(60_000);
    expect([asks(), state()]).toEqual([[], 'resigned']);
  });
});

test('who resigns while the lease store is asked gives back what it is granted', async () => {
  const { hear, asks, state } = await begin();
  await hear({ type: 'lease.resign' });
  asks();
  await hear({ type: 'lease.granted', request: 1, fence: 3 });
  expect([asks(), state()]).toEqual([[[0, 'releaseLease', 3]], 'resigned']);
});
