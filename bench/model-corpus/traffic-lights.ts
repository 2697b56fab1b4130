/** Traffic lights: pedestrians, and a night mode. */

import { setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  delays: { green: 40_000, yellow: 4_000, red: 30_000, walk: 12_000, blink: 1_000 },
}).createMachine({
  id: 'lights',
  initial: 'day',
  states: {
    day: {
      initial: 'red',
      on: { night: 'night' },
      states: {
        green: { tags: 'go', on: { button: 'yellow' }, after: { green: 'yellow' } },
        yellow: { after: { yellow: 'red' } },
        red: {
          initial: 'walking',
          after: { red: 'green' },
          states: { walking: { tags: 'walk', after: { walk: 'waiting' } }, waiting: {} },
        },
      },
    },
    night: {
      initial: 'lit',
      on: { day: 'day' },
      states: {
        lit: { tags: 'blink', after: { blink: 'dark' } },
        dark: { after: { blink: 'lit' } },
      },
    },
  },
});

export const entry: CorpusEntry = { machine };
