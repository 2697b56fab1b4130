/**
 * A question that was taken is always settled: answered, or refused as soon as nothing is left that
 * could answer it. No time passes in these tests unless they say so.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { localLease } from '../../runtime/system/local-lease.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { watch } from './clerk.ts';
import { errand, OPTIONS, WAYS, type Way } from './errands.ts';
import { LossyNetwork } from './lossy-network.ts';

async function twoNodes(limits = {}) {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const lease = localLease();
  const open = async (node: string) => {
    const rt = await testRuntime({
      kinds: { errand },
      options: { errand: OPTIONS },
      node,
      clock,
      limits: { retryMinMs: 10, retryMaxMs: 10, ...limits },
      ...(node === 'b' && { lease }),
      transport: () => network.join(node),
    });
    await rt.spawn('errand/1');
    await rt.spawn('errand/next');
    return rt;
  };
  const [a, b] = [await open('a'), await open('b')];
  const actors = { near: b.actor('errand/1'), far: a.actor('errand/1@b') } as const;
  const openCount = () => b.runtime.counts().questions;
  return { a, b, ...actors, network, lease, openCount };
}

describe.each(['near', 'far'] as const)('a question from %s', (where) => {
  const SETTLED: ReadonlyArray<readonly [Way, Way | undefined, string]> = [
    ['answer', undefined, 'answered'],
    ['reply', undefined, 'answered'],
    ['forward', 'answer', 'answered'],
    ['forward', 'reply', 'answered'],
    ['hintOn', 'answer', 'answered'],
    ['inline', undefined, 'answered'],
    ['child', undefined, 'answered'],
    ['sendBack', 'answer', 'answered'],
    ['sendBack', 'sendBack', 'answered'],
    ['durable', undefined, 'answered'],
    ['ignore', undefined, 'ASK_UNANSWERED'],
    ['missing', undefined, 'ASK_UNANSWERED'],
    ['throw', undefined, 'ASK_UNANSWERED'],
    ['reject', undefined, 'ASK_UNANSWERED'],
    ['refuse', undefined, 'MAILBOX_FULL'],
    ['nothing', undefined, 'ASK_UNANSWERED'],
    ['replyLate', undefined, 'ASK_UNANSWERED'],
    ['inlineThrows', undefined, 'ASK_UNANSWERED'],
    ['childFails', undefined, 'ASK_UNANSWERED'],
    ['durableNothing', undefined, 'ASK_UNANSWERED'],
    ['forward', 'ignore', 'ASK_UNANSWERED'],
    ['forward', 'throw', 'ASK_UNANSWERED'],
    ['forwardNowhere', undefined, 'ACTOR_UNKNOWN'],
    ['hintOn', 'ignore', 'ASK_UNANSWERED'],
    ['hintOn', 'fail', 'TURN_FAILED'],
    ['hintNowhere', undefined, 'ACTOR_UNKNOWN'],
    ['forward', 'fail', 'TURN_FAILED'],
    ['sendBack', 'fail', 'TURN_FAILED'],
    ['sendBack', 'ignore', 'ASK_UNANSWERED'],
    ['sendBack', 'throw', 'ASK_UNANSWERED'],
    ['fail', undefined, 'TURN_FAILED'],
    ['end', undefined, 'ASK_UNANSWERED'],
  ];

  test.each(SETTLED)('is settled at once: %s, then %s: %s', async (way, then, outcome) => {
    const { a, b, [where]: asked, openCount } = await twoNodes();
    const seen = watch(asked.ask({ type: 'run', way, ...(then && { then }) }));
    await a.settle();
    // Who sends on says so once more to itself: a performer's own message has a turn of its own.
    if (way === 'sendBack' && then === 'sendBack') await a.settle();
    expect(seen.outcome).toBe(outcome);
    expect(openCount()).toBe(0);
    const isRefused = outcome !== 'answered' && way !== 'fail';
    expect(b.runtime.metrics().questionsRefused).toBe(isRefused ? 1 : 0);
  });

  test('is answered in time by anybody who keeps it, and refused when it is dropped', async () => {
    const { a, [where]: asked, openCount } = await twoNodes();
    const kept = watch(asked.ask({ type: 'run', way: 'keep' }, { timeoutMs: 1e9 }));
    await a.settle();
    expect([kept.outcome, openCount()]).toEqual(['pending', 1]);
    void asked.send({ type: 'answerKept' });
    await a.settle();
    expect([kept.outcome, openCount()]).toEqual(['at last', 0]);
    const dropped = watch(asked.ask({ type: 'run', way: 'keep' }, { timeoutMs: 1e9 }));
    await a.settle();
    void asked.send({ type: 'dropKept' });
    await a.settle();
    expect([dropped.outcome, openCount()]).toEqual(['ASK_UNANSWERED', 0]);
  });

  test('is refused when the actor that keeps it ends, or was born with it and forgets it', async () => {
    const { a, b, [where]: asked } = await twoNodes();
    const kept = watch(asked.ask({ type: 'run', way: 'keep' }, { timeoutMs: 1e9 }));
    const given = watch(
      b.actor('errand/next').ask({ type: 'run', way: 'bear' }, { timeoutMs: 1e9 }),
    );
    await a.settle();
    expect([kept.outcome, given.outcome]).toEqual(['pending', 'pending']);
    void asked.send({ type: 'stop' });
    void b.actor('errand/born').send({ type: 'dropKept' });
    await a.settle();
    expect([kept.outcome, given.outcome]).toEqual(['ASK_UNANSWERED', 'ASK_UNANSWERED']);
  });

  test('is answered by a deadline that has it', async () => {
    const { a, [where]: asked } = await twoNodes();
    const seen = watch(asked.ask({ type: 'run', way: 'answerLater' }));
    await a.settle();
    expect(seen.outcome).toBe('pending');
    await a.advance('1s');
    expect(seen.outcome).toBe('answered');
  });

  test('is refused when a durable effect is given up', async () => {
    const { a, [where]: asked } = await twoNodes();
    const seen = watch(asked.ask({ type: 'run', way: 'durableThrows' }));
    await a.settle();
    expect(seen.outcome).toBe('pending');
    await a.advance(10);
    expect(seen.outcome).toBe('ASK_UNANSWERED');
  });

  test('is refused when the place is not hosted any more, by whatever it is held', async () => {
    const { a, b, [where]: asked, lease, openCount } = await twoNodes();
    const seen = (['keep', 'wait', 'answerLater', 'forward'] as const).map((way) =>
      watch(asked.ask({ type: 'run', way, then: 'keep' }, { timeoutMs: 1e9 })),
    );
    await a.settle();
    lease.expire('b');
    await a.settle();
    expect(seen.map(({ outcome }) => outcome)).toEqual(Array(4).fill('ASK_LOST'));
    expect(openCount()).toBe(0);
    expect(b.runtime.metrics().leasesLost).toBe(1);
  });

  test('is refused when too many are open', async () => {
    const { a, [where]: asked, openCount } = await twoNodes({ questionsMax: 2 });
    const ask = () => watch(asked.ask({ type: 'run', way: 'wait' }, { timeoutMs: 1e9 }));
    const seen = [ask(), ask(), ask()];
    await a.settle();
    expect(seen.map(({ outcome }) => outcome)).toEqual(['pending', 'pending', 'ASK_LOST']);
    expect(openCount()).toBe(2);
  });
});

describe('a question to a node that goes', () => {
  test.each([
    ['stops', async ({ b }: Scene) => b.stop()],
    ['dies', async ({ b }: Scene) => b.runtime.crash()],
    ['is cut off', async ({ network }: Scene) => network.cut('a', 'b')],
  ])('is refused at once where it had been taken (%s)', async (_, goes) => {
    const scene = await twoNodes();
    const { a, far } = scene;
    const seen = (['keep', 'wait'] as const).map((way) =>
      watch(far.ask({ type: 'run', way }, { timeoutMs: 1e9 })),
    );
    await a.settle();
    await goes(scene);
    await a.settle();
    const untaken = watch(far.ask({ type: 'run', way: 'answer' }, { timeoutMs: 5_000 }));
    const read = watch(far.fetchSnapshot({ timeoutMs: 1e9 }));
    await a.settle();
    expect(seen.map(({ outcome }) => outcome)).toEqual(['ASK_LOST', 'ASK_LOST']);
    expect(read.outcome).toBe('ASK_LOST');
    // Nobody has taken it: it waits for somebody who does, for as long as its asker wants.
    expect(untaken.outcome).toBe('pending');
    await a.advance('5s');
    expect(untaken.outcome).toBe('ASK_TIMED_OUT');
  });
});

type Scene = Awaited<ReturnType<typeof twoNodes>>;

test('whatever becomes of questions, each is settled or held by something that may answer it', async () => {
  const step = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.tuple(
        fc.constant('ask'),
        fc.constantFrom(...WAYS),
        fc.constantFrom(...WAYS),
        fc.boolean(),
      ),
    },
    { weight: 2, arbitrary: fc.tuple(fc.constantFrom('dropKept', 'answerKept', 'advance')) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom('stop', 'expire', 'cut')) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const scene = await twoNodes();
      const { a, near, far, lease, network, b } = scene;
      const asked: Array<{ outcome: unknown; says: string }> = [];
      for (const [what, way, then, isFar] of steps) {
        if (what === 'ask') {
          const seen = watch(
            (isFar ? far : near).ask({ type: 'run', way, then } as never, { timeoutMs: 1e9 }),
          );
          asked.push(Object.assign(seen, { says: `${way} ${then}` }));
        } else if (what === 'expire') lease.expire('b');
        else if (what === 'cut') network.cut('a', 'b');
        else if (what === 'advance') await a.advance(1_000);
        else near.send({ type: what } as never).catch(() => {});
        if (steps.length % 2 === 0) await a.settle();
      }
      network.heal('a', 'b');
      await a.advance(10_000);
      if (!b.runtime.isHosting) await b.crash();
      await a.advance(10_000);
      const open = asked.filter(({ outcome }) => outcome === 'pending');
      expect(open.filter(({ says }) => !/keep|wait|bear/.test(says))).toEqual([]);
      expect(a.runtime.counts().asks + b.runtime.counts().asks).toBe(open.length);
    }),
    { numRuns: 150 },
  );
});
