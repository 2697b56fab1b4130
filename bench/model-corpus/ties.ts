/** Ties: two regions whose deadlines come at the same instant, and who was first. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { order: string[] } },
  delays: { same: 5_000 },
  actions: {
    left: assign({ order: ({ context }) => [...context.order, 'left'] }),
    right: assign({ order: ({ context }) => [...context.order, 'right'] }),
  },
}).createMachine({
  id: 'ties',
  context: { order: [] },
  type: 'parallel',
  states: {
    left: {
      initial: 'waiting',
      states: {
        waiting: { on: { poke: 'poked' }, after: { same: { target: 'fired', actions: 'left' } } },
        poked: { on: { poke: 'waiting' } },
        fired: { tags: 'left' },
      },
    },
    right: {
      initial: 'waiting',
      states: {
        waiting: { after: { same: { target: 'fired', actions: 'right' } } },
        fired: { tags: 'right' },
      },
    },
  },
});

export const entry: CorpusEntry = { machine };
