/**
 * Turns that fail, in every way a machine can fail: the actor stays as it was, nobody else
 * notices, the event is kept, and its sender hears why.
 */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { assign, emit, enqueueActions, raise, sendTo, setup } from 'xstate';
import { reply, spawnRoot, to } from '../../runtime/machine.ts';
import { type TestRuntime, testRuntime } from '../../simulator/testing.ts';
import { codeOf, during, storedOf } from './outcomes.ts';

type FailingEvent = { type: 'fail'; how: string; value?: unknown } | { type: 'count' };

const failingMachine = setup({
  types: {
    context: {} as { count: number; load: unknown },
    events: {} as FailingEvent,
    emitted: {} as { type: 'failing' },
  },
  guards: {
    throws: () => {
      throw new Error('a guard threw');
    },
  },
  actions: { print: (_, _params: { text: string }) => {} },
  delays: {
    limit: 60_000,
    notANumber: () => Number.NaN,
    negative: () => -1,
    text: () => 'soon' as unknown as number,
  },
}).createMachine({
  context: { count: 0, load: null },
  initial: 'going',
  states: {
    going: {
      after: { limit: 'late' },
      on: {
        count: {
          actions: [
            assign({ count: ({ context }) => context.count + 1 }),
            reply(({ context }) => context.count),
          ],
        },
        fail: [
          { guard: ({ event }) => event.how === 'guard', target: 'byGuard' },
          { guard: ({ event }) => event.how === 'entry', target: 'byEntry' },
          { guard: ({ event }) => event.how === 'always', target: 'byAlways' },
          { guard: ({ event }) => event.how === 'raise', target: 'byRaise' },
          { guard: ({ event }) => event.how === 'NaN', target: 'byNaN' },
          { guard: ({ event }) => event.how === 'negative', target: 'byNegative' },
          { guard: ({ event }) => event.how === 'text', target: 'byText' },
          { guard: ({ event }) => event.how === 'misspelt', target: 'byMisspelt' },
          {
            // Much is asked for first, so that all of it must be taken back.
            actions: [
              assign({ count: 1_000 }),
              { type: 'print', params: { text: 'before' } },
              emit({ type: 'failing' }),
              spawnRoot('failing/born-by-failure'),
              sendTo(() => to('failing/other'), { type: 'count' }),
              raise({ type: 'count' }, { delay: 10, id: 'void' }),
              enqueueActions(({ event, enqueue }) => {
                const { how, value } = event as { how: string; value?: unknown };
                if (how === 'assign')
                  enqueue.assign(() => {
                    throw value;
                  });
                if (how === 'address') enqueue.sendTo(to(value as string), { type: 'count' });
                if (how === 'outbox')
                  for (let each = 0; each < 20; each += 1)
                    enqueue.sendTo(to(`failing/other`), { type: 'count' });
                if (how === 'large') enqueue.assign({ load: 'x'.repeat(3_000) });
                if (how === 'json') enqueue.assign({ load: value });
                if (how === 'params')
                  enqueue({
                    type: 'print',
                    params: () => {
                      throw new Error('params threw');
                    },
                  } as never);
              }),
            ],
          },
        ],
      },
    },
    byGuard: { always: { guard: 'throws', target: 'late' } },
    byEntry: {
      entry: assign({
        load: () => {
          throw new Error('an entry action threw');
        },
      }),
    },
    byAlways: { initial: 'a', states: { a: { always: 'b' }, b: { always: 'a' } } },
    byRaise: {
      entry: raise({ type: 'count' }),
      on: { count: { target: 'byRaise', reenter: true } },
    },
    byNaN: { after: { notANumber: 'late' } },
    byNegative: { after: { negative: 'late' } },
    byText: { after: { text: 'late' } },
    byMisspelt: { entry: raise({ type: 'count' }, { delay: 'limmit' as 'limit' }) },
    late: {},
  },
});

const circular: Record<string, unknown> = {};
circular.self = circular;

const ways: ReadonlyArray<readonly [what: string, how: string, value: unknown, code: string]> = [
  ['a guard that throws', 'guard', 0, 'TURN_FAILED'],
  ['an entry action that throws', 'entry', 0, 'TURN_FAILED'],
  ['an assign that throws an error', 'assign', new Error('no'), 'TURN_FAILED'],
  ['an assign that throws null', 'assign', null, 'TURN_FAILED'],
  ['an assign that throws undefined', 'assign', undefined, 'TURN_FAILED'],
  ['an assign that throws a text', 'assign', 'no', 'TURN_FAILED'],
  [
    'an assign that throws an object without a prototype',
    'assign',
    Object.create(null),
    'TURN_FAILED',
  ],
  ['an assign that throws a symbol', 'assign', Symbol('no'), 'TURN_FAILED'],
  ['params that throw', 'params', 0, 'TURN_FAILED'],
  ['states that follow each other for ever', 'always', 0, 'MICROSTEPS_EXCEEDED'],
  ['events raised for ever', 'raise', 0, 'MICROSTEPS_EXCEEDED'],
  ['a delay that is not a number', 'NaN', 0, 'DELAY_INVALID'],
  ['a negative delay', 'negative', 0, 'DELAY_INVALID'],
  ['a delay that is text', 'text', 0, 'DELAY_INVALID'],
  ['a delay with a misspelt name', 'misspelt', 0, 'DELAY_INVALID'],
  ['a malformed address', 'address', 'no address', 'ADDRESS_MALFORMED'],
  ['an address that is not text', 'address', 5, 'ADDRESS_MALFORMED'],
  ['more messages than the outbox holds', 'outbox', 0, 'OUTBOX_FULL'],
  ['a state that is too large', 'large', 0, 'ACTOR_TOO_LARGE'],
  ['a state with a circle in it', 'json', circular, 'TURN_FAILED'],
  ['a state with a bigint in it', 'json', 1n, 'TURN_FAILED'],
];

describe('a turn that fails', () => {
  let rt: TestRuntime<{ failing: typeof failingMachine }>;
  let done: string[];
  const rejections: unknown[] = [];
  const rejected = (reason: unknown): void => {
    rejections.push(reason);
  };

  beforeEach(async () => {
    process.on('unhandledRejection', rejected);
    done = [];
    rt = await testRuntime({
      kinds: { failing: failingMachine },
      options: { failing: { perform: { print: ({ params }) => done.push(params.text) } } },
      limits: { outboxMax: 10, recordBytesMax: 2_000 },
    });
    await rt.spawn('failing/one');
    await rt.spawn('failing/other');
  });

  afterEach(async () => {
    await rt.stop();
    process.off('unhandledRejection', rejected);
    expect(rejections).toEqual([]);
  });

  describe.each(ways)('by %s', (_, how, value, code) => {
    test('leaves its actor as it was, keeps the event and tells its sender', async () => {
      const one = rt.actor('failing/one');
      await one.send({ type: 'count' });
      const before = storedOf(rt.store, one.address);
      const otherBefore = rt.store.load(rt.actor('failing/other').address);
      const shown: unknown[] = [];
      one.subscribe((snapshot) => shown.push(snapshot.context.count));
      one.on('failing', () => done.push('emitted'));

      expect(await during(rt, codeOf(one.send({ type: 'fail', how, value })))).toBe(code);

      const after = storedOf(rt.store, one.address);
      expect({ ...after, turns: 0 }).toEqual({ ...before, turns: 0 });
      expect(after.turns).toBe(before.turns + 1);
      expect(one.getSnapshot().context).toEqual({ count: 1, load: null });
      expect(rt.store.load(rt.actor('failing/other').address)).toBe(otherBefore);
      expect(rt.store.load('failing/born-by-failure@test')).toBeUndefined();
      expect(done).toEqual([]);
      expect(shown.every((count) => count === 1)).toBe(true);

      const [kept, ...more] = rt.runtime.undelivered();
      expect(more).toEqual([]);
      expect(kept).toMatchObject({ to: one.address, event: { type: 'fail' }, error: { code } });
      expect(rt.runtime.history('failing/one').at(-1)).toMatchObject({
        event: 'fail',
        error: { code },
      });

      // It goes on as if nothing had been: the next event, its deadline, a crash.
      await during(rt, one.send({ type: 'count' }));
      await rt.crash();
      expect(await during(rt, one.ask({ type: 'count' }))).toBe(3);
      await rt.advance('1m');
      expect(one.getSnapshot().value).toBe('late');
    });
  });

  test('in an ask rejects the question at once', async () => {
    const asked = codeOf(rt.actor('failing/one').ask({ type: 'fail', how: 'guard' }));
    await rt.settle();
    expect(await asked).toBe('TURN_FAILED');
    expect(rt.runtime.counts().asks).toBe(0);
  });

  test('can be tried again once the reason is gone, or dropped', async () => {
    const one = rt.actor('failing/one');
    await codeOf(one.send({ type: 'fail', how: 'guard' }));
    await codeOf(one.send({ type: 'fail', how: 'always' }));
    const [first, second] = rt.runtime.undelivered();
    expect(await during(rt, codeOf(rt.runtime.retryUndelivered(first?.id as string)))).toBe(
      'TURN_FAILED',
    );
    // It failed again: it is on the list once more, in place of the first.
    expect(
      rt.runtime.undelivered().map(({ event }) => (event as FailingEvent & { how: string }).how),
    ).toEqual(['always', 'guard']);
    for (const { id } of rt.runtime.undelivered())
      if (id !== second?.id) await during(rt, rt.runtime.dropUndelivered(id));
    await rt.advance('1m');
    expect(one.getSnapshot().value).toBe('late');
    // In its new state the machine ignores the event: so it can be taken.
    await during(rt, rt.runtime.retryUndelivered(second?.id as string));
    expect(rt.runtime.undelivered()).toEqual([]);
    expect(await codeOf(rt.runtime.retryUndelivered('nobody'))).toBe('ACTOR_UNKNOWN');
    expect(await during(rt, codeOf(rt.runtime.dropUndelivered('nobody')))).toBe('taken');
  });
});
