/** The engine's everyday: an order with a payment deadline, through crashes. */

import { expect, test } from 'vitest';
import { assign, sendTo, setup, waitFor } from 'xstate';
import { reply, spawnRoot, to } from '../../runtime/machine.ts';
import { testRuntime } from '../../simulator/testing.ts';

const orderMachine = setup({
  types: {
    context: {} as { total: number; paidAt: number | null },
    input: {} as { total: number },
    events: {} as { type: 'order.paid'; at?: number } | { type: 'order.quote' },
  },
  delays: { paymentLimit: 15 * 60_000 },
}).createMachine({
  id: 'order',
  context: ({ input }) => ({ total: input.total, paidAt: null }),
  initial: 'open',
  on: { 'order.quote': { actions: reply(({ context }) => context.total) } },
  states: {
    open: {
      on: {
        'order.paid': {
          target: 'paid',
          actions: assign({ paidAt: ({ event }) => event.at ?? -1 }),
        },
      },
      after: { paymentLimit: 'expired' },
    },
    paid: { type: 'final' },
    expired: {},
  },
});

test('an order that nobody pays expires at its own time, also after a crash', async () => {
  const rt = await testRuntime({ kinds: { order: orderMachine } });
  const order = await rt.spawn('order/42', { input: { total: 99 } });
  expect(order.getSnapshot().value).toBe('open');
  expect(await order.ask({ type: 'order.quote' })).toBe(99);
  await rt.advance('10m');
  await rt.crash();
  await rt.advance('4m');
  expect(order.getSnapshot().matches('open')).toBe(true);
  await rt.advance('1m');
  expect(order.getSnapshot().matches('expired')).toBe(true);
  expect(await rt.explain('order/42')).toContain('was due 00:15:00.000, 0 ms late');
});

test('a paid order ends, and waitFor sees it', async () => {
  const rt = await testRuntime({ kinds: { order: orderMachine } });
  const order = await rt.spawn('order/42', { input: { total: 99 } });
  const ended = waitFor(order, (snapshot) => snapshot.status === 'done');
  await order.send({ type: 'order.paid' });
  expect((await ended).context.paidAt).toBe(rt.now());
  await expect(order.send({ type: 'order.paid' })).rejects.toMatchObject({ code: 'ACTOR_ENDED' });
  await rt.stop();
});

test('actors talk to each other and give birth to others', async () => {
  const pong = setup({
    types: { events: {} as { type: 'ping'; back: string } },
  }).createMachine({
    on: { ping: { actions: sendTo(({ event }) => to(event.back), { type: 'pong' }) } },
  });
  const ping = setup({
    types: {
      context: {} as { got: number },
      events: {} as { type: 'go' } | { type: 'pong' },
    },
    actions: { count: assign({ got: ({ context }) => context.got + 1 }) },
  }).createMachine({
    context: { got: 0 },
    on: {
      go: {
        actions: [spawnRoot('pong/p1'), sendTo(to('pong/p1'), { type: 'ping', back: 'ping/a' })],
      },
      pong: { actions: 'count' },
    },
  });
  const rt = await testRuntime({ kinds: { ping, pong } });
  const a = await rt.spawn('ping/a');
  for (let i = 0; i < 10; i++) await a.send({ type: 'go' });
  await rt.settle();
  expect(a.getSnapshot().context.got).toBe(10);
  expect(rt.runtime.counts()).toMatchObject({ underWay: 0, ready: 0 });
  expect(rt.store.load('ping/a@test')).not.toContain('outbox');
});
