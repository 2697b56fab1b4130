import { to } from 'escapement/machine';
import { assign, sendTo, setup } from 'xstate';

/** Lives in the shop. It has goods put aside in the warehouse, and waits for its money. */
const order = setup({ delays: { paymentLimit: 15 * 60_000 } }).createMachine({
  id: 'order',
  context: ({ input }) => ({ count: input.count }),
  initial: 'reserving',
  states: {
    reserving: {
      // Kept with the order until the warehouse has it, no matter who is down meanwhile.
      entry: sendTo(to('stock/apples@warehouse'), ({ context, self }) => ({
        type: 'stock.reserve',
        count: context.count,
        for: self.id,
      })),
      on: { 'stock.reserved': 'reserved', 'stock.short': 'refused' },
    },
    reserved: {
      on: { 'order.paid': 'paid' },
      after: { paymentLimit: 'expired' },
    },
    expired: {
      entry: sendTo(to('stock/apples@warehouse'), ({ context: { count } }) => ({
        type: 'stock.release',
        count,
      })),
    },
    refused: {},
    paid: {},
  },
});

/** Lives in the warehouse. */
const stock = setup({}).createMachine({
  id: 'stock',
  context: ({ input }) => ({ left: input.left }),
  on: {
    'stock.reserve': [
      {
        guard: ({ context, event }) => event.count <= context.left,
        actions: [
          assign({ left: ({ context, event }) => context.left - event.count }),
          sendTo(({ event }) => to(event.for), { type: 'stock.reserved' }),
        ],
      },
      { actions: sendTo(({ event }) => to(event.for), { type: 'stock.short' }) },
    ],
    'stock.release': {
      actions: assign({ left: ({ context, event }) => context.left + event.count }),
    },
  },
});

export const kinds = { order, stock };
