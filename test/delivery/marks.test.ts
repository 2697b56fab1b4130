/** How small the memory of senders stays, and what it must never forget. */

import { expect, test } from 'vitest';
import { RuntimeError } from '../../runtime/errors.ts';
import type { Store } from '../../runtime/store.ts';
import { type TestRuntime, testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';
import { listener, speaker, upTo } from './talkers.ts';

const KINDS = { speaker, listener };

async function pool(size: number, store: Store = memoryStore()) {
  const rt = await testRuntime({ kinds: KINDS, store });
  await rt.spawn('listener/pool');
  for (const index of upTo(size))
    await rt.spawn(`speaker/${index}`, { input: { self: `w${index}` } });
  return rt;
}

function sendersOf(rt: TestRuntime<typeof KINDS>): number {
  return Object.keys(JSON.parse(rt.store.load('listener/pool@test') ?? '{}').inbox ?? {}).length;
}

async function speakAll(rt: TestRuntime<typeof KINDS>, size: number): Promise<void> {
  for (const index of upTo(size))
    void rt
      .actor(`speaker/${index}`)
      .send({ type: 'speak', to: ['listener/pool'], count: 1 })
      .catch(() => {});
  await rt.settle();
}

function heard(rt: TestRuntime<typeof KINDS>): Record<string, number[]> {
  return rt.actor('listener/pool').getSnapshot().context.heard;
}

test('an actor with hundreds of local senders keeps the marks of a few', async () => {
  const rt = await pool(500);
  for (const _ of upTo(3)) await speakAll(rt, 500);
  await rt.actor('listener/pool').send({ type: 'heard', from: 'end', number: 1 });
  expect(sendersOf(rt)).toBeLessThanOrEqual(17);
  expect(Object.values(heard(rt)).filter((numbers) => numbers.length === 3)).toHaveLength(500);
});

test('and takes nothing twice when commits are refused and nodes die in between', async () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const size = 40;
    const inner = memoryStore();
    let commits = 0;
    let isFailing = false;
    const commit: Store['commit'] = (group, settle) => {
      commits += 1;
      if (isFailing && (commits * 7 + seed) % 3 === 0)
        queueMicrotask(() => settle(new RuntimeError('INTERNAL', 'no room')));
      else inner.commit(group, settle);
    };
    const rt = await pool(size, withCommit(inner, commit));
    isFailing = true;
    for (const round of upTo(6)) {
      await speakAll(rt, size);
      await rt.advance(50);
      if ((round + seed) % 2 === 0) await rt.crash();
    }
    isFailing = false;
    await rt.advance('1m');
    for (const index of upTo(size)) {
      const { said } = rt.actor(`speaker/${index}`).getSnapshot().context;
      expect(heard(rt)[`w${index}`] ?? []).toEqual(upTo(said['listener/pool'] ?? 0));
    }
    expect(rt.runtime.counts()).toMatchObject({ underWay: 0 });
  }
});

function withCommit(inner: Store, commit: Store['commit']): Store {
  return {
    isGroupAtomic: inner.isGroupAtomic,
    fence: (shard) => inner.fence(shard),
    load: (address) => inner.load(address),
    entries: () => inner.entries(),
    query: (query) => inner.query(query),
    history: (address, limit) => inner.history(address, limit),
    undelivered: () => inner.undelivered(),
    commit,
    close: () => inner.close(),
  };
}
