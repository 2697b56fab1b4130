/** Lease: renewed at a third of its time, lost at its end. */

import { setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({ delays: { renewal: 3_333, lease: 10_000 } }).createMachine({
  id: 'renewal',
  initial: 'held',
  states: {
    held: {
      after: { lease: 'lost' },
      on: { granted: { target: 'held', reenter: true }, resign: 'lost' },
      initial: 'resting',
      states: {
        resting: { after: { renewal: 'asking' } },
        asking: { tags: 'asking', on: { refused: '#renewal.lost' } },
      },
    },
    lost: { tags: 'lost', on: { granted: 'held' } },
  },
});

export const entry: CorpusEntry = { machine };
