/**
 * Reminder: says something to somebody at a certain moment, however far away, and is done.
 *
 *   waiting ──when it is due──▶ said
 *    │   ▲ └─reminder.move─┐
 *    │   └─────────────────┘ until another moment
 *    └─reminder.cancel──▶ cancelled
 *
 * What it says is a message between actors: it arrives once, also when nobody is there at the
 * moment itself. A moment that has passed already is now.
 */

import { assign, sendTo, setup } from 'xstate';
import { type Spawned, type Timed, to } from '../runtime/machine.ts';

export type ReminderEvent =
  | Timed<{ type: 'reminder.move'; until: number }>
  | Timed<{ type: 'reminder.cancel' }>;

export interface ReminderInput {
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** The address of the actor that is reminded. */
  readonly to: string;
  /** Event that it is sent then. */
  readonly event: { readonly type: string; readonly [field: string]: unknown };
}

interface ReminderContext extends ReminderInput {
  /** Time at which it was decided to wait until `until`. */
  readonly setAt: number;
}

export const reminderMachine = setup({
  types: {
    context: {} as ReminderContext,
    events: {} as ReminderEvent,
    input: {} as Spawned<ReminderInput>,
  },
  actions: {
    move: assign((_, { until, at }: { until: number; at: number }) => ({ until, setAt: at })),
    remind: sendTo(
      ({ context }) => to(context.to),
      ({ context }) => context.event,
    ),
  },
  delays: {
    untilDue: ({ context }) => Math.max(0, context.until - context.setAt),
  },
}).createMachine({
  id: 'reminder',
  context: ({ input }) => ({ ...input, setAt: input.at }),
  initial: 'waiting',
  states: {
    waiting: {
      on: {
        'reminder.cancel': 'cancelled',
        'reminder.move': {
          target: 'waiting',
          reenter: true,
          actions: { type: 'move', params: ({ event }) => event },
        },
      },
      after: { untilDue: { target: 'said', actions: 'remind' } },
    },
    said: { type: 'final' },
    cancelled: { type: 'final' },
  },
});
