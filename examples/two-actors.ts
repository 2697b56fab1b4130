/**
 * Actors that talk: an order asks the stock for what it needs, the stock answers, and the
 * order has a parcel of its own sent on its way.
 *
 * Shows: `to` (delivered once, kept until it is), `spawnRoot` (an actor of its own, not a
 * child), `reply` (the answer to an `ask` from outside), and `self.id`, the address of the
 * actor that speaks.
 *
 *   npx tsx examples/two-actors.ts
 */

import { assign, sendTo, setup, waitFor } from 'xstate';
import { createRuntime } from '../index.ts';
import { type Question, reply, spawnRoot, to } from '../runtime/machine.ts';

type StockEvent =
  | { type: 'stock.reserve'; count: number; for: string }
  | Question<{ type: 'stock.count' }, number>;

type OrderEvent =
  | { type: 'stock.reserved' }
  | { type: 'stock.refused'; left: number }
  | { type: 'parcel.posted' };

export const stockMachine = setup({
  types: {
    context: {} as { count: number },
    input: {} as { count: number },
    events: {} as StockEvent,
  },
}).createMachine({
  id: 'stock',
  context: ({ input }) => input,
  on: {
    'stock.count': { actions: reply(({ context }) => context.count) },
    'stock.reserve': [
      {
        guard: ({ context, event }) => event.count <= context.count,
        actions: [
          assign({ count: ({ context, event }) => context.count - event.count }),
          sendTo(({ event }) => to<OrderEvent>(event.for), { type: 'stock.reserved' }),
        ],
      },
      {
        actions: sendTo(
          ({ event }) => to<OrderEvent>(event.for),
          ({ context }) => ({ type: 'stock.refused', left: context.count }),
        ),
      },
    ],
  },
});

export const orderMachine = setup({
  types: {
    context: {} as { id: string; count: number },
    input: {} as { id: string; count: number },
    events: {} as OrderEvent,
  },
}).createMachine({
  id: 'order',
  context: ({ input }) => input,
  initial: 'reserving',
  states: {
    reserving: {
      entry: sendTo(to<StockEvent>('stock/apples'), ({ context, self }) => ({
        type: 'stock.reserve',
        count: context.count,
        for: self.id,
      })),
      on: { 'stock.reserved': 'packing', 'stock.refused': 'refused' },
    },
    packing: {
      entry: spawnRoot(
        ({ context }) => `parcel/${context.id}`,
        ({ context, self }) => ({ apples: context.count, for: self.id }),
      ),
      on: { 'parcel.posted': 'sent' },
    },
    sent: { type: 'final' },
    refused: { type: 'final' },
  },
});

export const parcelMachine = setup({
  types: {
    context: {} as { apples: number; for: string },
    input: {} as { apples: number; for: string },
  },
}).createMachine({
  id: 'parcel',
  context: ({ input }) => input,
  initial: 'onItsWay',
  states: {
    onItsWay: {
      entry: sendTo(({ context }) => to<OrderEvent>(context.for), { type: 'parcel.posted' }),
    },
  },
});

export async function main(print: (line: string) => void = console.log): Promise<void> {
  const runtime = (await createRuntime())
    .register('stock', stockMachine)
    .register('order', orderMachine)
    .register('parcel', parcelMachine);

  const stock = await runtime.spawn('stock/apples', { input: { count: 10 } });
  for (const [id, count] of [
    ['1', 7],
    ['2', 5],
  ] as const) {
    const order = await runtime.spawn(`order/${id}`, { input: { id, count } });
    const { value } = await waitFor(order, (snapshot) => snapshot.status === 'done');
    print(`order ${id} wants ${count} apples and is ${value}`);
  }

  print(`the stock has ${await stock.ask({ type: 'stock.count' })} left`);
  for (const { address, state } of runtime.query({ kind: 'parcel' }).actors)
    print(`${address} is ${state}`);
  await runtime.stop();
}

if (process.argv[1] === import.meta.filename) await main();
