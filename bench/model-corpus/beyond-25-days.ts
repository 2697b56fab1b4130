/** Deadlines beyond what one timeout of Node can sleep. */

import { setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  delays: { reminder: 30 * 86_400_000, end: 365 * 86_400_000 },
}).createMachine({
  id: 'lease',
  initial: 'running',
  states: {
    running: {
      after: { end: 'ended' },
      on: { cancel: 'ended' },
      initial: 'quiet',
      states: {
        quiet: { after: { reminder: 'reminded' } },
        reminded: { tags: 'reminded', on: { confirm: 'quiet' } },
      },
    },
    ended: { type: 'final', tags: 'ended' },
  },
});

export const entry: CorpusEntry = { machine };
