/**
 * Stand-in for a datacenter's job: writes down what a gate says to it, and says what it is told to.
 */

import { enqueueActions, setup } from 'xstate';
import { hint, to } from '../../../runtime/machine.ts';

export interface Heard {
  /** Milliseconds since the job was submitted. */
  readonly at: number;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever field they are about.
  readonly [field: string]: any;
}

/** Writes down everything and says what it is told to. */
export const jobStandIn = setup({
  types: {
    context: {} as { heard: Heard[] },
    // biome-ignore lint/suspicious/noExplicitAny: every message of a gate.
    events: {} as any,
  },
  actions: {
    hear: enqueueActions(({ context, event, enqueue }) => {
      enqueue.assign({ heard: [...context.heard, event] });
    }),
    say: enqueueActions(({ event, enqueue }) => {
      enqueue.sendTo((event.isHint ? hint : to)(event.to), event.event);
    }),
  },
}).createMachine({
  id: 'jobStandIn',
  context: { heard: [] },
  initial: 'open',
  on: { say: { actions: 'say' } },
  states: {
    open: {
      on: {
        'ack.received': { actions: 'hear' },
        'timeout.declared': { actions: 'hear' },
        'cancel.requested': { actions: 'hear' },
        'status.requested': { actions: 'hear' },
        end: 'ended',
      },
    },
    ended: { type: 'final' },
  },
});
