/** Door: a machine with a guard on its payload, one on its context, deadlines, and a promise. */

import { assign, fromPromise, setup } from 'xstate';

export type DoorEvent =
  | { type: 'push' }
  | { type: 'pay'; amount: number }
  | { type: 'lock' }
  | { type: 'unlock' };

export const doorMachine = setup({
  types: { context: {} as { opened: number }, events: {} as DoorEvent },
  actors: { ring: fromPromise<string>(() => Promise.resolve('rung')) },
  delays: { closing: 5_000, abandoned: 86_400_000 },
  guards: {
    isEnough: ({ event }) => event.type === 'pay' && event.amount > 100,
    hasOpenedRarely: ({ context }) => context.opened < 3,
  },
}).createMachine({
  id: 'door',
  context: { opened: 0 },
  initial: 'closed',
  states: {
    closed: {
      on: {
        push: {
          guard: 'hasOpenedRarely',
          target: 'open',
          actions: assign({ opened: ({ context }) => context.opened + 1 }),
        },
        lock: 'locked',
      },
    },
    open: {
      on: { push: { target: 'open', reenter: true }, pay: { guard: 'isEnough', target: 'paid' } },
      after: { closing: 'closed' },
    },
    paid: { invoke: { src: 'ring', onDone: 'closed', onError: 'locked' } },
    locked: { on: { unlock: 'closed' }, after: { abandoned: 'gone' } },
    gone: { type: 'final' },
  },
});
