/** Water jugs: four litres from jugs of three and five. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { three: number; five: number } },
  guards: { isFour: ({ context }) => context.five === 4 },
  actions: {
    pourIn: assign(({ context: { three, five } }) => {
      const poured = Math.min(three, 5 - five);
      return { three: three - poured, five: five + poured };
    }),
    pourBack: assign(({ context: { three, five } }) => {
      const poured = Math.min(five, 3 - three);
      return { three: three + poured, five: five - poured };
    }),
  },
}).createMachine({
  id: 'jugs',
  context: { three: 0, five: 0 },
  initial: 'trying',
  states: {
    trying: {
      always: { guard: 'isFour', target: 'solved' },
      on: {
        fillThree: { actions: assign({ three: 3 }) },
        fillFive: { actions: assign({ five: 5 }) },
        emptyThree: { actions: assign({ three: 0 }) },
        emptyFive: { actions: assign({ five: 0 }) },
        threeToFive: { actions: 'pourIn' },
        fiveToThree: { actions: 'pourBack' },
      },
    },
    solved: { type: 'final', tags: 'solved' },
  },
});

export const entry: CorpusEntry = { machine };
