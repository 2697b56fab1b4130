/** Vending machine: coins, change, and a sold-out shelf. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { paid: number; stock: number } },
  delays: { refund: 60_000 },
  guards: {
    isEnough: ({ context }) => context.paid >= 150,
    isSoldOut: ({ context }) => context.stock === 0,
  },
  actions: {
    take: assign({ paid: ({ context, event }) => context.paid + event.value }),
    give: assign({
      stock: ({ context }) => context.stock - 1,
      paid: ({ context }) => context.paid - 150,
    }),
    refund: assign({ paid: 0 }),
  },
}).createMachine({
  id: 'vending',
  context: { paid: 0, stock: 2 },
  initial: 'ready',
  states: {
    ready: {
      always: { guard: 'isSoldOut', target: 'soldOut' },
      on: { coin: { actions: 'take', target: 'paying' } },
    },
    paying: {
      on: {
        coin: { actions: 'take', target: 'paying', reenter: true },
        choose: { guard: 'isEnough', actions: 'give', target: 'ready' },
        cancel: { actions: 'refund', target: 'ready' },
      },
      after: { refund: { actions: 'refund', target: 'ready' } },
    },
    soldOut: { tags: 'empty', on: { refill: { actions: assign({ stock: 2 }), target: 'ready' } } },
  },
});

export const entry: CorpusEntry = {
  machine,
  samples: { events: { coin: [{ value: 50 }, { value: 100 }] } },
};
