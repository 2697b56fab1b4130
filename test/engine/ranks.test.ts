/** Actors that wait, found in the order of their ranks while they do. */

import { describe, expect, test } from 'vitest';
import { assign, setup } from 'xstate';
import type { Runtime } from '../../runtime/runtime.ts';
import { testRuntime } from '../../simulator/testing.ts';

interface Context {
  readonly queue: string;
  readonly order: string;
}

const orderMachine = setup({
  types: {
    context: {} as Context,
    events: {} as { type: 'leave' } | { type: 'move'; order: string } | { type: 'end' },
    input: {} as Context,
  },
}).createMachine({
  context: ({ input }) => input,
  initial: 'waiting',
  states: {
    waiting: {
      on: {
        leave: 'gone',
        end: 'over',
        move: { actions: assign({ order: ({ event }) => event.order }) },
      },
    },
    gone: {},
    over: { type: 'final' },
  },
});

const rank = (snapshot: { readonly value: unknown; readonly context: Context }) =>
  snapshot.value === 'gone' || snapshot.value === 'over'
    ? undefined
    : { queue: snapshot.context.queue, order: snapshot.context.order };

async function start(given: (snapshot: never) => unknown = rank as never) {
  const logged: string[] = [];
  const log = (_: object, message?: string) => void logged.push(String(message));
  const rt = await testRuntime({
    place: 'A',
    kinds: { order: orderMachine },
    options: { order: { rank: given as never } },
    logger: { debug: log, info: log, warn: log, error: log, trace: log, fatal: log } as never,
  });
  return { rt, logged };
}

const names = (rt: Pick<Runtime, 'query'>, queue: string): string[] =>
  rt.query({ queue }).actors.map(({ address }) => address.slice('order/'.length, -'@A'.length));

describe('a rank', () => {
  test('is kept of one that is done, where its kind gives it one', async () => {
    const { rt } = await start((({ context }: { context: Context }) => context) as never);
    await rt.spawn('order/a', { input: { queue: 'q', order: '1' } });
    await rt.actor('order/a').send({ type: 'end' });
    expect(names(rt.runtime, 'q')).toEqual(['a']);
  });

  test('is where a waiting actor stands: it moves with it, and is gone when it waits no more', async () => {
    const { rt } = await start();
    for (const [name, order] of [
      ['a', '3'],
      ['b', '1'],
      ['c', '2'],
      ['d', '2'],
    ] as const)
      await rt.spawn(`order/${name}`, { input: { queue: 'q', order } });
    expect(names(rt.runtime, 'q')).toEqual(['b', 'c', 'd', 'a']);
    await rt.actor('order/a').send({ type: 'move', order: '0' });
    await rt.actor('order/b').send({ type: 'leave' });
    await rt.actor('order/c').send({ type: 'end' });
    expect(names(rt.runtime, 'q')).toEqual(['a', 'd']);
    const first = rt.runtime.query({ queue: 'q', limit: 1 });
    expect(rt.runtime.query({ queue: 'q', cursor: first.cursor ?? '' }).actors).toMatchObject([
      { address: 'order/d@A', rank: { queue: 'q', order: '2' } },
    ]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no rank');
      },
    ],
    ['is not what a store can keep', () => ({ queue: 'ü', order: '1' })],
    ['is too long', () => ({ queue: 'q', order: 'x'.repeat(201) })],
  ])('that %s is none, which is told once, and keeps the actor from nothing', async (_, wrong) => {
    const { rt, logged } = await start(wrong as never);
    for (const name of ['a', 'b'])
      await rt.spawn(`order/${name}`, { input: { queue: 'q', order: '1' } });
    await rt.actor('order/a').send({ type: 'leave' });
    expect(names(rt.runtime, '')).toEqual([]);
    expect(logged.filter((line) => line.includes('no queue has it'))).toHaveLength(1);
  });
});
