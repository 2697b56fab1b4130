/** ATM: card, PIN with three tries, withdrawal within the balance. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { tries: number; balance: number } },
  delays: { patience: 30_000 },
  guards: {
    isRight: ({ event }) => event.pin === '1234',
    hasTries: ({ context }) => context.tries < 2,
    isCovered: ({ context, event }) => event.amount > 0 && event.amount <= context.balance,
  },
  actions: {
    countTry: assign({ tries: ({ context }) => context.tries + 1 }),
    forgetTries: assign({ tries: 0 }),
    pay: assign({ balance: ({ context, event }) => context.balance - event.amount }),
  },
}).createMachine({
  id: 'atm',
  context: { tries: 0, balance: 200 },
  initial: 'idle',
  states: {
    idle: { on: { 'card.insert': 'asking' } },
    asking: {
      on: {
        'pin.enter': [
          { guard: 'isRight', target: 'serving', actions: 'forgetTries' },
          { guard: 'hasTries', actions: 'countTry' },
          { target: 'retained' },
        ],
        cancel: 'returning',
      },
      after: { patience: 'returning' },
    },
    serving: {
      tags: 'open',
      on: {
        withdraw: { guard: 'isCovered', target: 'returning', actions: 'pay' },
        cancel: 'returning',
      },
      after: { patience: 'returning' },
    },
    returning: { on: { 'card.take': 'idle' }, after: { patience: 'retained' } },
    retained: {
      tags: 'retained',
      on: { 'service.reset': { target: 'idle', actions: 'forgetTries' } },
    },
  },
});

export const entry: CorpusEntry = {
  machine,
  samples: {
    events: {
      'pin.enter': [{ pin: '1234' }, { pin: '0000' }],
      withdraw: [{ amount: 50 }, { amount: 201 }, { amount: 0 }],
    },
  },
};
