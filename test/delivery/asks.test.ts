/** Questions and answers: which belong together, and what ends the wait. */

import { afterEach, expect, test, vi } from 'vitest';
import { twoNodes, watch } from './clerk.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test.each(['near', 'far'] as const)('a question is answered (%s)', async (where) => {
  const { a, [where]: clerk } = await twoNodes();
  const answer = clerk.ask({ type: 'now' });
  await a.settle();
  expect(await answer).toBe('here you are');
  expect(a.runtime.counts()).toMatchObject({ asks: 0, underWay: 0 });
});

test.each(['near', 'far'] as const)('of two answers the first counts (%s)', async (where) => {
  const { a, [where]: clerk } = await twoNodes();
  const answer = clerk.ask({ type: 'twice' });
  await a.settle();
  expect(await answer).toBe(1);
});

test.each(['near', 'far'] as const)('a question nobody answers times out (%s)', async (where) => {
  const { a, [where]: clerk } = await twoNodes();
  const seen = watch(clerk.ask({ type: 'never' }, { timeoutMs: 2_000 }));
  await a.advance(1_999);
  expect(seen.outcome).toBe('pending');
  await a.advance(1);
  expect(seen.outcome).toBe('ASK_TIMED_OUT');
  expect(a.runtime.counts().asks).toBe(0);
});

test.each(['near', 'far'] as const)(
  'the time for an answer begins when the event is taken (%s)',
  async (where) => {
    const { a, network, [where]: clerk } = await twoNodes();
    network.filter = () => false;
    const seen = watch(clerk.ask({ type: 'never' }, { timeoutMs: 60_000, answerMs: 1_000 }));
    await a.advance(where === 'near' ? 999 : 20_000);
    expect(seen.outcome).toBe('pending');
    network.filter = () => true;
    await a.advance(where === 'near' ? 1 : 20_000);
    expect(seen.outcome).toBe('ASK_TIMED_OUT');
    await expect(clerk.ask({ type: 'now' }, { answerMs: 0 })).rejects.toThrow('"answerMs"');
  },
);

test.each(['near', 'far'] as const)(
  'a late answer is dropped, and never taken for that of a later question (%s)',
  async (where) => {
    const { a, [where]: clerk } = await twoNodes();
    const first = watch(clerk.ask({ type: 'later' }, { timeoutMs: 1_000 }));
    await a.advance(1_000);
    expect(first.outcome).toBe('ASK_TIMED_OUT');
    const second = watch(clerk.ask({ type: 'never' }, { timeoutMs: 60_000 }));
    void clerk.send({ type: 'release' });
    await a.advance(1_000);
    expect(second.outcome).toBe('pending');
    const third = clerk.ask({ type: 'now' });
    await a.settle();
    expect(await third).toBe('here you are');
  },
);

test.each(['near', 'far'] as const)('an answer may come turns later (%s)', async (where) => {
  const { a, [where]: clerk } = await twoNodes();
  const seen = watch(clerk.ask({ type: 'later' }));
  await a.settle();
  void clerk.send({ type: 'release' });
  await a.settle();
  expect(seen.outcome).toBe('at last');
});

test.each(['near', 'far'] as const)(
  'a signal ends the wait, before or after (%s)',
  async (where) => {
    const { a, b, [where]: clerk } = await twoNodes();
    const turns = () => (where === 'near' ? a : b).runtime.history('clerk/c').length;
    await a.settle();
    const before = turns();
    const aborted = watch(clerk.ask({ type: 'now' }, { signal: AbortSignal.abort('why') }));
    await a.settle();
    expect(aborted.outcome).toBe('ABORTED');
    expect(turns()).toBe(before);
    const controller = new AbortController();
    const seen = watch(clerk.ask({ type: 'never' }, { signal: controller.signal }));
    await a.settle();
    controller.abort();
    await a.settle();
    expect(seen.outcome).toBe('ABORTED');
    expect(a.runtime.counts().asks).toBe(0);
  },
);

test('a signal that outlives its questions keeps nothing of them', async () => {
  const { a, near } = await twoNodes();
  const { signal } = new AbortController();
  const added = vi.spyOn(signal, 'addEventListener');
  const removed = vi.spyOn(signal, 'removeEventListener');
  const asked = [
    watch(near.ask({ type: 'now' }, { signal })),
    watch(near.ask({ type: 'fail' }, { signal })),
    watch(near.ask({ type: 'never' }, { signal, timeoutMs: 100 })),
    watch(near.ask({ type: 'never' }, { signal })),
  ];
  await a.advance(200);
  await a.stop();
  expect(asked.map(({ outcome }) => outcome)).toEqual([
    'here you are',
    'TURN_FAILED',
    'ASK_TIMED_OUT',
    'RUNTIME_STOPPED',
  ]);
  expect(added).toHaveBeenCalled();
  expect(removed).toHaveBeenCalledTimes(added.mock.calls.length);
});

test('a question to nobody, or that nobody understands, is refused at once', async () => {
  const { a } = await twoNodes();
  for (const place of ['a', 'b']) {
    const nobody = watch(a.actor(`clerk/nobody@${place}`).ask({ type: 'now' }));
    const unknown = watch(a.actor(`clerk/c@${place}`).ask({ type: 'what' } as never));
    const unread = watch(a.actor(`clerk/nobody@${place}`).fetchSnapshot());
    await a.settle();
    expect([nobody.outcome, unknown.outcome, unread.outcome]).toEqual([
      'ACTOR_UNKNOWN',
      'EVENT_UNDECLARED',
      'ACTOR_UNKNOWN',
    ]);
  }
});

test('a question whose turn fails is refused, here and there', async () => {
  const { a, near, far } = await twoNodes();
  const seen = [watch(near.ask({ type: 'fail' })), watch(far.ask({ type: 'fail' }))];
  await a.settle();
  expect(seen.map(({ outcome }) => outcome)).toEqual(['TURN_FAILED', 'TURN_FAILED']);
});

test('an answer that cannot travel harms nobody else', async () => {
  const { a, far } = await twoNodes();
  const odd = watch(far.ask({ type: 'odd' }));
  const good = watch(far.ask({ type: 'now' }));
  await a.settle();
  expect([odd.outcome, good.outcome]).toEqual(['ASK_UNANSWERED', 'here you are']);
});

test('an answer to nobody goes nowhere', async () => {
  const { a, b, near, far, network } = await twoNodes();
  await near.send({ type: 'now' });
  void far.send({ type: 'now' });
  await a.settle();
  // The asker is gone before the answer comes.
  const seen = watch(far.ask({ type: 'later' }));
  await a.settle();
  network.cut('a', 'b');
  await b.actor('clerk/c').send({ type: 'release' });
  await b.advance('1m');
  expect(seen.outcome).toBe('ASK_LOST');
  expect(b.runtime.counts().underWay).toBe(0);
  expect(b.runtime.undelivered()).toEqual([]);
});

test('a question to a peer that is down waits, and is taken even when nobody waits any more', async () => {
  const { a, b, far, network } = await twoNodes();
  network.cut('a', 'b');
  const seen = watch(far.ask({ type: 'later' }, { timeoutMs: 3_000 }));
  await a.advance('10s');
  expect(seen.outcome).toBe('ASK_TIMED_OUT');
  network.heal('a', 'b');
  await a.settle();
  expect(b.actor('clerk/c').getSnapshot().context.asked).toMatch(/^ask\//);
});

test('stop() ends every wait with RUNTIME_STOPPED', async () => {
  const { a, near, far, network } = await twoNodes();
  network.cut('a', 'b');
  const seen = [
    watch(near.ask({ type: 'never' }, { timeoutMs: 1e9 })),
    watch(far.ask({ type: 'now' }, { timeoutMs: 1e9 })),
    watch(far.send({ type: 'take', number: 1 })),
  ];
  await a.stop();
  seen.push(
    watch(near.ask({ type: 'now' })),
    watch(near.fetchSnapshot()),
    watch(far.send({ type: 'now' })),
  );
  await a.settle();
  expect(seen.map(({ outcome }) => outcome)).toEqual(Array(6).fill('RUNTIME_STOPPED'));
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
  'a time limit of %s is refused',
  async (timeoutMs) => {
    const { near } = await twoNodes();
    await expect(near.ask({ type: 'now' }, { timeoutMs })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
    });
  },
);
