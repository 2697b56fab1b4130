/**
 * Machines that notice every loss and every repetition: a teller takes orders one by one,
 * passes each on to a branch, which acknowledges it, and keeps a clock of its own.
 *
 * Every order carries a token; whatever leaves the node because of it carries the token too.
 */

import { assign, emit, sendTo, setup } from 'xstate';
import { reply, spawnRoot, to } from '../../runtime/machine.ts';

export const TICK_MS = 2_500;

export interface Order {
  readonly type: 'order.placed';
  readonly token: string;
  readonly branch: string;
}

interface Timed {
  readonly at?: number;
  readonly dueAt?: number;
}

export interface TellerContext {
  readonly tokens: readonly string[];
  readonly acknowledged: readonly string[];
  /** Moments of each tick: when it was due, and when it was taken. */
  readonly ticks: ReadonlyArray<readonly [dueAt: number, at: number]>;
}

export const tellerMachine = setup({
  types: {
    context: {} as TellerContext,
    events: {} as
      | (Order & Timed)
      | ({ type: 'order.booked'; token: string } & Timed)
      | ({ type: 'count.asked'; replyTo?: string } & Timed),
    emitted: {} as { type: 'order.seen'; token: string },
  },
  actions: { print: (_, _params: { token: string }) => {} },
  delays: { tick: TICK_MS },
}).createMachine({
  id: 'teller',
  context: { tokens: [], acknowledged: [], ticks: [] },
  initial: 'serving',
  states: {
    serving: {
      after: {
        tick: {
          target: 'serving',
          reenter: true,
          actions: assign({
            ticks: ({ context, event }) => {
              const { dueAt = -1, at = -1 } = event as Timed;
              return [...context.ticks, [dueAt, at] as const];
            },
          }),
        },
      },
    },
  },
  on: {
    'order.placed': {
      actions: [
        assign({ tokens: ({ context, event }) => [...context.tokens, event.token] }),
        spawnRoot(({ event }) => `branch/${(event as Order).branch}`),
        sendTo(
          ({ event }) => to(`branch/${event.branch}`),
          ({ event, self }) => ({ type: 'order.passed', token: event.token, back: self.id }),
        ),
        emit(({ event }) => ({ type: 'order.seen', token: event.token })),
        { type: 'print', params: ({ event }) => ({ token: event.token }) },
      ],
    },
    'order.booked': {
      actions: assign({
        acknowledged: ({ context, event }) => [...context.acknowledged, event.token],
      }),
    },
    'count.asked': { actions: reply(({ context }) => context.tokens.length) },
  },
});

export const branchMachine = setup({
  types: {
    context: {} as { readonly booked: readonly string[] },
    events: {} as { type: 'order.passed'; token: string; back: string },
  },
}).createMachine({
  id: 'branch',
  context: { booked: [] },
  on: {
    'order.passed': {
      actions: [
        assign({ booked: ({ context, event }) => [...context.booked, event.token] }),
        sendTo(
          ({ event }) => to(event.back),
          ({ event }) => ({ type: 'order.booked', token: event.token }),
        ),
      ],
    },
  },
});
