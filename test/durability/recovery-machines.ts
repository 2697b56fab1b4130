/**
 * Machines whose deadlines, children and effects are under way when their node dies.
 *
 * Each writes down what happened to it, in its context or by an action called `note`, so that a
 * test can tell what happened twice, late or not at all.
 */

import { assign, enqueueActions, setup } from 'xstate';

interface Stamps {
  readonly at?: number;
  readonly dueAt?: number;
}

export interface Ring extends Required<Stamps> {
  readonly name: string;
}

export type AlarmEvent =
  | { type: 'alarm.arm'; name: string; delayMs: number }
  | { type: 'alarm.cancel'; name: string }
  | { type: 'alarm.rang'; name: string; at?: number; dueAt?: number }
  | { type: 'alarm.ask' };

/** As many deadlines as it is told to have; it tells every one that came. */
export const alarm = setup({
  types: { context: {} as { rings: readonly Ring[] }, events: {} as AlarmEvent },
  actions: { note: (_, _params: { text: string }) => {} },
}).createMachine({
  id: 'alarm',
  context: { rings: [] },
  on: {
    'alarm.arm': {
      actions: enqueueActions(({ event: { name, delayMs }, enqueue }) => {
        enqueue.raise({ type: 'alarm.rang', name }, { id: name, delay: delayMs });
      }),
    },
    'alarm.cancel': {
      actions: enqueueActions(({ event, enqueue }) => {
        enqueue.cancel(event.name);
      }),
    },
    'alarm.rang': {
      actions: [
        assign({
          rings: ({ context, event: { name, at = -1, dueAt = -1 } }) => [
            ...context.rings,
            { name, at, dueAt },
          ],
        }),
        { type: 'note', params: ({ event }) => ({ text: event.name }) },
      ],
    },
  },
});

export const ORDER_LIMIT_MS = 600_000;

export type OrderEvent = { type: 'order.extend' } | { type: 'order.pay' } | { type: 'order.fail' };

/** Waits to be paid, and expires; extending it begins its time again. */
export const order = setup({
  types: {
    context: {} as { total: number; expired: Stamps | null },
    input: {} as { total: number },
    events: {} as OrderEvent,
  },
  delays: { limit: ORDER_LIMIT_MS },
}).createMachine({
  id: 'order',
  context: ({ input }) => ({ total: input.total, expired: null }),
  initial: 'waiting',
  states: {
    waiting: {
      tags: ['open'],
      on: {
        'order.extend': { target: 'waiting', reenter: true },
        'order.pay': 'paid',
        'order.fail': {
          actions: assign(() => {
            throw new Error('not with this card');
          }),
        },
      },
      after: {
        limit: {
          target: 'expired',
          actions: assign({
            expired: ({ event }) => {
              const { at, dueAt } = event as Stamps;
              return { at: at ?? -1, dueAt: dueAt ?? -1 };
            },
          }),
        },
      },
    },
    expired: {},
    paid: { type: 'final' },
  },
});

/** Beats for as long as somebody hosts it; each beat is a turn, a commit and an action. */
export const pulse = setup({
  actions: { beat: () => {} },
  delays: { rest: 25 },
}).createMachine({
  id: 'pulse',
  initial: 'beating',
  states: { beating: { entry: 'beat', after: { rest: { target: 'beating', reenter: true } } } },
});
