/** A machine that passes a message along a list of actors: what traces are made of. */

import { assign, sendTo, setup } from 'xstate';
import { to } from '../../runtime/machine.ts';

export const relay = setup({
  types: {
    context: {} as { heard: number },
    events: {} as { type: 'pass'; along: readonly string[]; secret?: string } | { type: 'fail' },
  },
}).createMachine({
  context: { heard: 0 },
  initial: 'open',
  states: {
    open: {
      on: {
        pass: [
          {
            guard: ({ event }) => event.along.length > 0,
            actions: [
              assign({ heard: ({ context }) => context.heard + 1 }),
              sendTo(
                ({ event }) => to(event.along[0] as string),
                ({ event }) => ({ type: 'pass', along: event.along.slice(1) }),
              ),
            ],
          },
          { actions: assign({ heard: ({ context }) => context.heard + 1 }) },
        ],
        fail: {
          actions: assign(() => {
            throw new Error('cannot take this');
          }),
        },
      },
    },
  },
});
