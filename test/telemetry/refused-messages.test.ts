/** Messages that no turn takes, counted by what their senders are told. */

import { expect, test } from 'vitest';
import { setup } from 'xstate';
import { testRuntime } from '../../simulator/testing.ts';

const orderMachine = setup({ types: { events: {} as { type: 'order.paid' } } }).createMachine({
  initial: 'open',
  states: { open: { on: { 'order.paid': 'paid' } }, paid: { type: 'final' } },
});

test('each is counted once, wherever it is refused', async () => {
  const broken = setup({}).createMachine({
    context: () => {
      throw new Error('no');
    },
  });
  const kinds = { order: orderMachine, broken };
  const rt = await testRuntime({ kinds, limits: { mailboxMax: 1 } });
  const order = await rt.spawn('order/1');
  const ended = await rt.spawn('order/2');
  await ended.send({ type: 'order.paid' });
  // One that waits for its end, and one that comes when that is long durable.
  await Promise.allSettled([
    rt.spawn('order/1'),
    rt.spawn('broken/1' as 'order/1'),
    ended.send({ type: 'order.paid' }),
    order.send({ type: 'order.lost' } as never),
    rt.runtime.actor('order/3').send({ type: 'order.paid' }),
    rt.runtime.actor('nothing/1' as 'order/1').send({ type: 'order.paid' }),
  ]);
  await Promise.allSettled([1, 2].map(() => order.send({ type: 'order.paid' })));
  const seen = Object.entries(rt.runtime.metrics().messagesRefused).filter(
    ([, count]) => count > 0,
  );
  expect(Object.fromEntries(seen)).toEqual({
    ACTOR_EXISTS: 1,
    BIRTH_FAILED: 1,
    ACTOR_ENDED: 1,
    EVENT_UNDECLARED: 1,
    ACTOR_UNKNOWN: 1,
    KIND_UNKNOWN: 1,
    MAILBOX_FULL: 1,
  });
  expect(rt.runtime.metrics().duplicatesRefused).toBe(0);
  await rt.stop();
});
