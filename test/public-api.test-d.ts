/**
 * Types of programs that use the public API, as the compiler sees them. Nothing here runs: `tsc` fails when
 * something that must compile does not, or when something that must not does.
 */

import { expectTypeOf } from 'vitest';
import { assign, emit, sendTo, setup, waitFor } from 'xstate';
import { type ActorHandle, createRuntime, type Runtime, type RuntimeError } from '../index.ts';
import {
  hint,
  type Question,
  reply,
  type Spawned,
  spawnRoot,
  type Timed,
  to,
} from '../runtime/machine.ts';
import { testRuntime } from '../simulator/testing.ts';

type OrderEvent =
  | Timed<{ type: 'order.paid'; by: string }>
  | Question<{ type: 'order.quote'; currency: string }, number>
  | { type: 'order.cancelled' };

type OrderEmitted = { type: 'order.noticed'; by: string } | { type: 'order.forgotten' };

const orderMachine = setup({
  types: {
    context: {} as { total: number; bornAt: number; paidAt: number | null },
    input: {} as Spawned<{ total: number }>,
    events: {} as OrderEvent,
    emitted: {} as OrderEmitted,
    tags: {} as 'waiting',
  },
  actions: {
    chargeCard: (_, _params: { amount: number }) => {},
    quote: reply(({ context }) => context.total),
  },
}).createMachine({
  id: 'order',
  context: ({ input }) => ({ total: input.total, bornAt: input.at, paidAt: null }),
  initial: 'open',
  states: {
    open: {
      tags: 'waiting',
      on: {
        'order.paid': {
          target: 'paid',
          actions: [
            assign({ paidAt: ({ event }) => event.at }),
            emit(({ event }) => ({ type: 'order.noticed', by: event.by })),
          ],
        },
        'order.quote': { actions: 'quote' },
      },
    },
    paid: {},
  },
});

const plainMachine = setup({}).createMachine({ initial: 'on', states: { on: {}, off: {} } });

/** Machines that talk to others are checked, and need no `any`. */
export function talkingMachine() {
  return setup({
    types: {
      context: {} as { total: number },
      events: {} as OrderEvent,
    },
  }).createMachine({
    context: { total: 1 },
    entry: spawnRoot('mail/1', ({ context }) => ({ total: context.total })),
    initial: 'right',
    states: {
      right: {
        on: {
          'order.quote': {
            actions: [
              reply(({ context }) => context.total),
              reply(({ event }) => event.currency.length),
              sendTo(to('mail/1'), { type: 'anything', goes: true }),
              sendTo(hint('mail/1'), { type: 'anything', goes: true }),
            ],
          },
          'order.paid': {
            actions: [
              // What is no question may be answered with anything.
              reply(({ event }) => event.by),
              spawnRoot(
                ({ event }) => `mail/${event.by}`,
                ({ event }) => event.at,
              ),
              // `at` and `replyTo` are the runtime's to add.
              sendTo(to<OrderEvent>('order/1'), { type: 'order.paid', by: 'me' }),
              sendTo(
                ({ context }) => to<OrderEvent>(`order/${context.total}`),
                ({ event }) => ({ type: 'order.paid', by: event.by }),
              ),
            ],
          },
        },
      },
      wrong: {
        on: {
          // @ts-expect-error: the question declares a number.
          'order.quote': { actions: reply(() => 'ninety-nine') },
          'order.paid': {
            // @ts-expect-error: `by` is a text.
            actions: sendTo(to<OrderEvent>('order/1'), { type: 'order.paid', by: 1 }),
          },
          'order.cancelled': {
            // @ts-expect-error: no such event.
            actions: sendTo(to<OrderEvent>('order/1'), { type: 'order.nothing' }),
          },
        },
      },
    },
  });
}

export async function kindsGivenAtOnce() {
  const runtime = await createRuntime({ kinds: { order: orderMachine, plain: plainMachine } });
  const order = await runtime.spawn('order/42', { input: { total: 99 } });
  expectTypeOf(order).toEqualTypeOf<ActorHandle<typeof orderMachine>>();
  await runtime.spawn('order/42@elsewhere', { input: { total: 99 }, ifAbsent: true });
  await runtime.spawn('plain/1');
  // @ts-expect-error: there is no such kind.
  await runtime.spawn('ordre/42', { input: { total: 99 } });
  // @ts-expect-error: there is no such kind.
  runtime.actor('ordre/42');
  // @ts-expect-error: the machine asks for input.
  await runtime.spawn('order/42');
  // @ts-expect-error: the machine asks for a number.
  await runtime.spawn('order/42', { input: { total: 'much' } });
  // @ts-expect-error: the moment of the spawn comes from the runtime.
  await runtime.spawn('order/42', { input: { total: 99, at: 0 } });
}

export async function kindsRegisteredOneByOne() {
  const runtime = (await createRuntime())
    .register('order', orderMachine, { version: 2 })
    .register('plain', plainMachine);
  expectTypeOf(runtime.actor('order/42')).toEqualTypeOf<ActorHandle<typeof orderMachine>>();
  expectTypeOf(runtime.actor('plain/1').getSnapshot().value).toEqualTypeOf<'on' | 'off'>();
  // @ts-expect-error: there is no such kind.
  runtime.actor('ordre/42');
}

export async function kindsUnknownToTheCompiler(address: string) {
  const runtime = await createRuntime();
  const actor = await runtime.spawn(address, { input: { whatever: true } });
  await actor.send({ type: 'whatever', it: 'takes' });
}

export async function handles(order: ActorHandle<typeof orderMachine>) {
  await order.send({ type: 'order.paid', by: 'me' });
  await order.send({ type: 'order.paid', by: 'me' }, { id: 'request-1' });
  // @ts-expect-error: no such event.
  await order.send({ type: 'order.payed' });
  // @ts-expect-error: `by` is missing.
  await order.send({ type: 'order.paid' });
  // @ts-expect-error: `by` is a text.
  await order.send({ type: 'order.paid', by: 1 });
  // @ts-expect-error: the time comes from the runtime.
  await order.send({ type: 'order.paid', by: 'me', at: 0 });

  expectTypeOf(order.hint({ type: 'order.paid', by: 'me' })).toEqualTypeOf<void>();
  // @ts-expect-error: no such event.
  order.hint({ type: 'order.payed' });
  // @ts-expect-error: `by` is a text.
  order.hint({ type: 'order.paid', by: 1 });

  expectTypeOf(await order.ask({ type: 'order.quote', currency: 'EUR' })).toEqualTypeOf<number>();
  expectTypeOf(await order.ask({ type: 'order.cancelled' })).toEqualTypeOf<unknown>();
  // @ts-expect-error: the answer is a number.
  expectTypeOf(await order.ask({ type: 'order.quote', currency: 'EUR' })).toEqualTypeOf<string>();
  // @ts-expect-error: no such event.
  await order.ask({ type: 'order.price' });

  order.on('order.noticed', (emitted) => expectTypeOf(emitted.by).toEqualTypeOf<string>());
  order.on('*', (emitted) => expectTypeOf(emitted.type).toEqualTypeOf<OrderEmitted['type']>());
  // @ts-expect-error: the machine emits no such event.
  order.on('order.seen', () => {});
}

export async function snapshots(order: ActorHandle<typeof orderMachine>) {
  const snapshot = order.getSnapshot();
  expectTypeOf(snapshot.value).toEqualTypeOf<'open' | 'paid'>();
  expectTypeOf(snapshot.context.paidAt).toEqualTypeOf<number | null>();
  snapshot.matches('open');
  snapshot.hasTag('waiting');
  // @ts-expect-error: there is no such state.
  snapshot.matches('opened');
  // @ts-expect-error: there is no such tag.
  snapshot.hasTag('walking');

  const paid = await waitFor(order, ({ context }) => context.paidAt !== null);
  expectTypeOf(paid).toEqualTypeOf(snapshot);
  expectTypeOf(order.select(({ context }) => context.total).get()).toEqualTypeOf<number>();
  order.subscribe(({ value }) => expectTypeOf(value).toEqualTypeOf<'open' | 'paid'>());
}

export function performers(runtime: Runtime) {
  runtime.register('order', orderMachine, {
    perform: {
      chargeCard: async ({ params, effectId, send, reply }) => {
        expectTypeOf(params).toEqualTypeOf<{ amount: number }>();
        reply(undefined, params.amount);
        // @ts-expect-error: an answer goes to a text.
        reply(7, params.amount);
        await send({ type: 'order.paid', by: effectId });
      },
    },
    validate: { 'order.paid': { '~standard': { validate: () => ({}) } } },
    admit: ({ to, from, event }) =>
      from?.endsWith('@shop') ? undefined : `${event.type} for ${to} by ${event['by']}`,
  });
  expectTypeOf(runtime.fence).toEqualTypeOf<number>();
  // @ts-expect-error: what is asked is answered at once.
  runtime.register('order', orderMachine, { admit: async () => undefined });
  runtime.register('order', orderMachine, {
    // @ts-expect-error: the machine names no such action.
    perform: { chargeCart: () => {} },
  });
  runtime.register('order', orderMachine, {
    perform: {
      // @ts-expect-error: the action has no such parameter.
      chargeCard: { durable: true, run: ({ params }) => params.amuont },
    },
  });
  runtime.register('order', orderMachine, {
    // @ts-expect-error: the machine knows no such event.
    validate: { 'order.payed': { '~standard': { validate: () => ({}) } } },
  });
}

export async function tests() {
  const runtime = await testRuntime({
    kinds: { order: orderMachine },
    options: { order: { perform: { chargeCard: ({ params }) => params.amount } } },
  });
  const order = await runtime.spawn('order/42', { input: { total: 99 } });
  expectTypeOf(order).toEqualTypeOf<ActorHandle<typeof orderMachine>>();
  // @ts-expect-error: the machine asks for input.
  await runtime.spawn('order/42');
  // @ts-expect-error: there is no such kind.
  runtime.actor('ordre/42');
  // @ts-expect-error: there is no such kind.
  await testRuntime({ kinds: { order: orderMachine }, options: { ordre: {} } });
}

export function errors(error: RuntimeError) {
  if (error.code === 'MAILBOX_FULL') return error.retryable;
  // @ts-expect-error: there is no such code.
  return error.code === 'MAILBOX_EMPTY';
}
