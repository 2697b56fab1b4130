/** Watchdog: beats move the deadline, three missed ones end it. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { missed: number } },
  delays: { beat: 1_000 },
  guards: { isThird: ({ context }) => context.missed >= 2 },
  actions: {
    miss: assign({ missed: ({ context }) => context.missed + 1 }),
    hear: assign({ missed: 0 }),
  },
}).createMachine({
  id: 'watchdog',
  context: { missed: 0 },
  initial: 'watching',
  states: {
    watching: {
      on: { beat: { target: 'watching', reenter: true, actions: 'hear' }, stop: 'off' },
      after: {
        beat: [
          { guard: 'isThird', target: 'dead', actions: 'miss' },
          { target: 'watching', reenter: true, actions: 'miss' },
        ],
      },
    },
    off: { on: { start: { target: 'watching', actions: 'hear' } } },
    dead: { type: 'final', tags: 'dead' },
  },
});

export const entry: CorpusEntry = { machine };
