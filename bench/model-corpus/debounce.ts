/** Debounce: only what nothing follows for a while counts. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { saved: number } },
  delays: { quiet: 300, patience: 2_000 },
  actions: { save: assign({ saved: ({ context }) => context.saved + 1 }) },
}).createMachine({
  id: 'debounce',
  context: { saved: 0 },
  initial: 'idle',
  states: {
    idle: { on: { type: 'typing' } },
    typing: {
      after: { patience: { target: 'idle', actions: 'save' } },
      initial: 'waiting',
      states: {
        waiting: {
          on: { type: { target: 'waiting', reenter: true } },
          after: { quiet: { target: '#debounce.idle', actions: 'save' } },
        },
      },
    },
  },
});

export const entry: CorpusEntry = { machine };
