/** Memory of senders: how small it stays, and what it must never forget. */

import { expect, test } from 'vitest';
import {
  SeededRandom,
  SimulatedClock,
  type TestRuntime,
  type TestRuntimeOptions,
  testRuntime,
} from '../../../simulator/testing.ts';
import { DyingStore } from '../dying-store.ts';
import { listener, speaker, upTo } from '../talkers.ts';

const KINDS = { speaker, listener };

async function pool(size: number, options: Partial<TestRuntimeOptions> = {}) {
  const rt = await testRuntime({ kinds: KINDS, ...(options as object) });
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
  for (const number of upTo(40))
    await rt.actor('listener/pool').send({ type: 'heard', from: 'end', number });
  expect(sendersOf(rt)).toBeLessThanOrEqual(17);
  expect(Object.values(heard(rt)).filter((numbers) => numbers.length === 3)).toHaveLength(500);
});

test.each(
  upTo(8).flatMap((seed) =>
    [0, 200].flatMap((outageMs) => [false, true].map((isWhole) => ({ seed, outageMs, isWhole }))),
  ),
)(
  'and takes nothing twice when nodes die in the middle of a group, for $outageMs ms (seed $seed, groups whole: $isWhole)',
  async ({ seed, outageMs, isWhole }) => {
    const size = 30;
    const random = new SeededRandom(seed, 'marks');
    const clock = new SimulatedClock();
    const store = new DyingStore(clock, random, isWhole);
    store.isSlow = false;
    const rt = await pool(size, { clock, store, seed, limits: { dedupRetentionMs: 100 } });
    store.isSlow = true;
    for (let step = 0; step < 250; step += 1) {
      for (let told = Math.floor(random.next() * 6); told > 0; told -= 1) {
        const index = 1 + Math.floor(random.next() * size);
        void rt
          .actor(`speaker/${index}`)
          .send({ type: 'speak', to: ['listener/pool'], count: 1 })
          .catch(() => {});
      }
      await rt.advance(Math.floor(random.next() * 4));
      if (random.next() > 0.15) continue;
      store.die();
      // Longer than marks are kept of senders elsewhere.
      clock.advanceBy(outageMs);
      let isBack: boolean = false;
      void rt.crash().then(() => {
        isBack = true;
      });
      while (!isBack) await rt.advance(1);
    }
    await rt.advance('1m');
    for (const index of upTo(size)) {
      const { said } = rt.actor(`speaker/${index}`).getSnapshot().context;
      expect(heard(rt)[`w${index}`] ?? []).toEqual(upTo(said['listener/pool'] ?? 0));
    }
    expect(rt.runtime.counts()).toMatchObject({ underWay: 0 });
  },
);

test.each([1, 2, 3])(
  'nor does an inbox fill up with local senders that have nothing to say when %i actors stay in memory',
  async (liveActorsMax) => {
    const size = 60;
    const limits = { sendersMax: 20, liveActorsMax, dedupRetentionMs: 7 * 86_400_000 };
    const rt = await pool(size, { limits });
    await rt.spawn('listener/other');
    for (const index of upTo(size)) {
      await rt.actor(`speaker/${index}`).send({ type: 'speak', to: ['listener/pool'], count: 1 });
      await rt.settle();
      // Others come into memory meanwhile, and the pool is let go.
      for (const other of upTo(4))
        await rt
          .actor(`speaker/${other}`)
          .send({ type: 'speak', to: ['listener/other'], count: 1 });
    }
    await rt.advance('1m');
    expect(Object.keys(heard(rt))).toHaveLength(size);
    expect(rt.runtime.metrics().messagesRefused).toMatchObject({ TOO_MANY_SENDERS: 0 });
  },
);

test('nor with those that were settled just before the node died', async () => {
  const size = 60;
  const rt = await pool(size, { limits: { sendersMax: 20, dedupRetentionMs: 7 * 86_400_000 } });
  for (const index of upTo(size)) {
    await rt.actor(`speaker/${index}`).send({ type: 'speak', to: ['listener/pool'], count: 1 });
    await rt.settle();
    await rt.crash();
  }
  await rt.advance('1m');
  expect(Object.keys(heard(rt))).toHaveLength(size);
});
