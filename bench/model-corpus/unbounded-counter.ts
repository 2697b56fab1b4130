/** A counter without a bound, and a guard far away. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { count: number } },
  guards: { isFar: ({ context }) => context.count > 50 },
  actions: {
    up: assign({ count: ({ context }) => context.count + 1 }),
    down: assign({ count: ({ context }) => context.count - 1 }),
  },
}).createMachine({
  id: 'counter',
  context: { count: 0 },
  initial: 'counting',
  states: {
    counting: {
      on: {
        up: { actions: 'up' },
        down: { actions: 'down' },
        check: { guard: 'isFar', target: 'far' },
      },
    },
    far: { tags: 'far', on: { reset: { target: 'counting', actions: assign({ count: 0 }) } } },
  },
});

export const entry: CorpusEntry = { machine };
