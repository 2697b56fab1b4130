/** Events that only ask: their performers answer without a turn, and everything else is as for any question. */

import { describe, expect, test } from 'vitest';
import { assign, setup } from 'xstate';
import type { ForeignMessage, KindOptions } from '../../runtime/actor/kind.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { Question } from '../../runtime/machine.ts';
import type { Lease } from '../../runtime/ports/lease.ts';
import { localLease } from '../../runtime/system/local-lease.ts';
import { type ActorHandle, SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';
import { watch } from './clerk.ts';
import { LossyNetwork } from './lossy-network.ts';

type How = 'now' | 'later' | 'throw' | 'nothing' | 'back' | 'stop';

const shelf = setup({
  types: {
    context: {} as { books: number },
    events: {} as
      | Question<{ type: 'count'; how?: How }, number>
      | { type: 'add' }
      | { type: 'count.again'; asker: string }
      | { type: 'close' },
  },
  actions: {
    tell: (_, _event: object) => {},
  },
}).createMachine({
  context: { books: 0 },
  initial: 'open',
  states: {
    open: {
      on: {
        add: { actions: assign({ books: ({ context }) => context.books + 1 }) },
        'count.again': { actions: { type: 'tell', params: ({ event }) => event } },
        count: {},
        close: 'closed',
      },
    },
    closed: { type: 'final' },
  },
});

interface Told {
  readonly how?: How;
  readonly asker?: string;
  readonly replyTo?: string;
}

async function open({ limits = {}, admit }: Pick<Scene, 'limits' | 'admit'> = {}) {
  const clock = new SimulatedClock();
  const network = new LossyNetwork(clock, 1);
  const store = memoryStore();
  const inner = localLease();
  const held = { isHeld: true };
  const lease: Lease = {
    hold: (place, listener) => {
      const claim = inner.hold(place, listener);
      return { ...claim, isHeld: () => held.isHeld && claim.isHeld() };
    },
  };
  const asked: object[] = [];
  const waiting: Array<() => void> = [];
  const start = async (node: string) => {
    const isHost = node === 'b';
    const rt = await testRuntime({
      kinds: { shelf },
      options: {
        shelf: {
          questions: { count: 'tell' },
          ...(admit !== undefined && isHost && { admit }),
          perform: {
            tell: async ({ params, reply, send, address }) => {
              const { how = 'now', asker, ...event } = params as Told;
              const { replyTo = asker } = event;
              asked.push(params);
              if (how === 'throw') throw new Error('no');
              if (how === 'nothing') return;
              if (how === 'back') {
                await send({ type: 'count.again', asker: replyTo as string });
                return;
              }
              if (how === 'later') await new Promise<void>((resolve) => waiting.push(resolve));
              reply(replyTo, rt.runtime.actor(address as 'shelf/1').getSnapshot().context.books);
            },
          },
        },
      },
      node,
      clock,
      limits: { retryMinMs: 10, retryMaxMs: 10, ...limits },
      ...(isHost && { lease, store }),
      transport: () => network.join(node),
    });
    return rt;
  };
  const [a, b] = [await start('a'), await start('b')];
  await b.spawn('shelf/1');
  const far = a.actor('shelf/1@b');
  const near = b.actor('shelf/1');
  return { a, b, near, far, network, clock, held, lease: inner, asked, waiting };
}

interface Scene {
  readonly limits?: Record<string, number>;
  readonly admit?: NonNullable<KindOptions['admit']>;
}

const FOREVER = { timeoutMs: 1e9 };

describe.each(['near', 'far'] as const)('a question from %s', (where) => {
  test('is answered without a turn, a commit or a history row', async () => {
    const { a, b, near, clock, [where]: asked } = await open();
    void near.send({ type: 'add' });
    await a.settle();
    const told: object[] = [];
    b.runtime.inspect((record) => told.push(record));
    const before = b.runtime.metrics();
    const rows = b.runtime.history('shelf/1');
    const seen = [1, 2, 3].map(() => watch(asked.ask({ type: 'count' })));
    await a.settle();
    expect(seen.map(({ outcome }) => outcome)).toEqual([1, 1, 1]);
    const { turns, commits, questionsAsked, questionsRefused } = b.runtime.metrics();
    expect({ turns, commits }).toEqual({ turns: before.turns, commits: before.commits });
    expect({ questionsAsked, questionsRefused }).toEqual({
      questionsAsked: 3,
      questionsRefused: 0,
    });
    expect(b.runtime.history('shelf/1')).toEqual(rows);
    const questions = told.filter((record) => 'counter' in record);
    expect(questions).toHaveLength(3);
    expect(questions[0]).toMatchObject({
      type: 'question',
      address: 'shelf/1@b',
      event: { type: 'count', at: clock.now() },
    });
    expect(b.runtime.counts().questions).toBe(0);
  });

  test('comes after what was said before it, once that is durable, and holds up nothing', async () => {
    const { a, b, [where]: asked } = await open();
    const before = b.runtime.metrics();
    const seen = [
      watch(asked.ask({ type: 'count' })),
      watch(asked.send({ type: 'add' })),
      watch(asked.send({ type: 'add' })),
      watch(asked.ask({ type: 'count' })),
      watch(asked.send({ type: 'add' })),
    ];
    await a.settle();
    expect(seen.map(({ outcome }) => outcome)).toEqual([0, undefined, undefined, 2, undefined]);
    const { turns, messagesResent, messagesRefused } = b.runtime.metrics();
    expect(turns - before.turns).toBe(3);
    expect([messagesResent, messagesRefused.MESSAGE_EARLY]).toEqual([0, 0]);
    expect(a.runtime.metrics().messagesResent).toBe(0);
  });

  test.each([
    ['throw', 'ASK_UNANSWERED'],
    ['nothing', 'ASK_UNANSWERED'],
    ['back', 0],
  ] as const)('is settled whatever its performer does: %s, %s', async (how, outcome) => {
    const { a, b, [where]: asked } = await open();
    const seen = watch(asked.ask({ type: 'count', how }, FOREVER));
    await a.settle();
    await a.settle();
    expect(seen.outcome).toBe(outcome);
    expect(b.runtime.counts().questions).toBe(0);
  });

  test('is refused when too many are open', async () => {
    const { a, b, [where]: asked } = await open({ limits: { questionsMax: 2 } });
    const seen = [1, 2, 3].map(() => watch(asked.ask({ type: 'count', how: 'later' }, FOREVER)));
    await a.settle();
    expect(seen.map(({ outcome }) => outcome)).toEqual(['pending', 'pending', 'ASK_LOST']);
    expect(b.runtime.counts().questions).toBe(2);
  });

  test('is refused when the place is hosted no longer, whether it is noticed before or by the answer', async () => {
    const { a, b, [where]: asked, held, lease, waiting } = await open();
    const seen = watch(asked.ask({ type: 'count', how: 'later' }, FOREVER));
    await a.settle();
    held.isHeld = false;
    waiting.shift()?.();
    await a.settle();
    expect(seen.outcome).toBe('ASK_LOST');
    expect(b.runtime.isHosting).toBe(false);
    const later = watch(asked.ask({ type: 'count' }, { timeoutMs: 1_000 }));
    lease.expire('b');
    await a.advance(2_000);
    expect(later.outcome).toBe(where === 'near' ? 'NOT_HOSTED' : 'ASK_TIMED_OUT');
  });

  test('is refused by an actor that is not there or has ended', async () => {
    const { a, b, near, [where]: asked } = await open();
    const [node] = where === 'near' ? [b] : [a];
    const absent = node.actor(where === 'near' ? 'shelf/2' : 'shelf/2@b') as ActorHandle<
      typeof shelf
    >;
    const unknown = watch(absent.ask({ type: 'count' }, FOREVER));
    await a.settle();
    void near.send({ type: 'close' });
    await a.settle();
    const ended = watch(asked.ask({ type: 'count' }, FOREVER));
    await a.settle();
    expect([unknown.outcome, ended.outcome]).toEqual(['ACTOR_UNKNOWN', 'ACTOR_ENDED']);
  });
});

test('who may ask is asked of every copy, and each copy that may is answered', async () => {
  const heard: string[] = [];
  const answers = { why: undefined as RuntimeError | undefined };
  const admit = ({ event }: ForeignMessage) => {
    heard.push(event.type);
    return answers.why;
  };
  const { a, b, far, network, asked } = await open({ admit });
  // What the host says is lost: nobody hears that the question was taken, or what the answer is.
  network.filter = (from) => from !== 'b';
  const seen = watch(far.ask({ type: 'count' }, FOREVER));
  await a.settle();
  network.filter = () => true;
  await a.advance(100);
  expect(seen.outcome).toBe(0);
  expect(asked.length).toBeGreaterThan(1);
  expect(heard).toHaveLength(asked.length);
  answers.why = new RuntimeError('NOT_ALLOWED', 'no');
  const count = asked.length;
  network.filter = (from) => from !== 'b';
  const refused = watch(far.ask({ type: 'count' }, FOREVER));
  await a.settle();
  network.filter = () => true;
  await a.advance(100);
  expect(refused.outcome).toBe('NOT_ALLOWED');
  expect(asked).toHaveLength(count);
  expect(b.runtime.metrics().turns).toBe(1);
});

test('a copy of a question that is being answered is not asked again', async () => {
  const { a, far, network, asked, waiting } = await open();
  network.filter = (from) => from !== 'b';
  const seen = watch(far.ask({ type: 'count', how: 'later' }, FOREVER));
  await a.advance(100);
  network.filter = () => true;
  await a.advance(100);
  expect([asked.length, waiting.length]).toEqual([1, 1]);
  waiting.shift()?.();
  await a.settle();
  expect(seen.outcome).toBe(0);
});

test('the mark of a question does not outlive its actor in memory, and what follows it is taken all the same', async () => {
  const { a, b, far } = await open({ limits: { liveActorsMax: 2 } });
  const seen = [watch(far.ask({ type: 'count' })), watch(far.send({ type: 'add' }))];
  await a.settle();
  for (let key = 2; key < 10; key += 1) await b.spawn(`shelf/${key}`);
  seen.push(watch(far.ask({ type: 'count' })), watch(far.send({ type: 'add' })));
  await a.settle();
  expect(seen.map(({ outcome }) => outcome)).toEqual([0, undefined, 1, undefined]);
});
